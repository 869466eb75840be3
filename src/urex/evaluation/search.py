"""What an agent's steps in BinarySearch are held against: a linear search and the optimal one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from urex.errors import UserError, whole_number


class SearchLines(NamedTuple):
    """Mean numbers of steps over all positions, for arrays of n numbers."""

    n: Int[np.ndarray, " sizes"]
    linear: Float[np.ndarray, " sizes"]
    """CMP and INC by turns, from the first cell: position p is found at step 2p + 1, which has the mean n."""
    optimal: Float[np.ndarray, " sizes"]
    """AVG and CMP by turns, the range halved by every CMP: the least, at two steps a probe."""


def search_lines(sizes: Sequence[int]) -> SearchLines:
    """The lines of both searches at these array sizes.

    The optimal search probes the middle of what is left, so its decision tree is balanced: of the n positions
    one is found by the first probe, two by the second, four by the third. In order of depth, position i is found by
    probe floor(log2 i) + 1, at two steps a probe.
    """
    for size in sizes:
        if whole_number("n", size) < 1:
            raise UserError(f"n {size}: an array to search must have at least 1 number")
    n = np.array(sizes, np.int64)
    order = np.arange(1, n.max(initial=0) + 1)
    probes = np.frexp(order)[1]  # the exponent of i in [2^(e-1), 2^e) is e, which is floor(log2 i) + 1
    return SearchLines(n, linear=n.astype(np.float64), optimal=2 * np.cumsum(probes)[n - 1] / n)
