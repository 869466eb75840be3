"""Time limits as the literature writes them: a formula in the number of cells w."""

import dataclasses
import re
from fractions import Fraction
from typing import TypeVar

from jaxtyping import Array

from urex.errors import UserError, shortened

_FORMULA = re.compile(r"(\d+(?:\.\d+)?)w\+(\d+)")
Cells = TypeVar("Cells", int, Array)


@dataclasses.dataclass(frozen=True)
class TimeLimit:
    """`per_cell * w`, rounded down, plus `spare` steps; the step after the last one ends the episode."""

    per_cell: Fraction
    spare: int

    def steps(self, cells: Cells) -> Cells:
        """The limit for a number of cells, a Python integer or a traced one."""
        return cells * self.per_cell.numerator // self.per_cell.denominator + self.spare


def parse_time_limit(text: object, max_cells: int) -> TimeLimit:
    """Read a limit such as `2w+4` or `1.5w+4`, for tapes of at most so many cells."""
    match = _FORMULA.fullmatch(text.replace(" ", "")) if isinstance(text, str) else None
    if match is None or not Fraction(match[1]):
        raise UserError(
            f"time limit {shortened(repr(text))}: it must be steps per cell plus spare steps;"
            " write it like '2w+4' or '1.5w+4'"
        )
    limit = TimeLimit(Fraction(match[1]), int(match[2]))
    if limit.per_cell.numerator * max_cells + limit.spare >= 2**31:  # it is computed in 32 bits
        raise UserError(
            f"time limit {shortened(repr(text))}: for {max_cells} cells it needs numbers of more than 31 bits;"
            " give fewer steps or fewer decimals"
        )
    return limit
