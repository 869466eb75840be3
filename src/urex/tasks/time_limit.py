"""Time limits as the literature writes them: a formula in the number of cells w."""

import dataclasses
import re
from fractions import Fraction
from typing import TypeVar

from jaxtyping import Array

from urex.errors import UserError

_FORMULA = re.compile(r"(\d+(?:\.\d+)?)w\+(\d+)")
Cells = TypeVar("Cells", int, Array)


@dataclasses.dataclass(frozen=True)
class TimeLimit:
    """`per_cell * w`, rounded down, plus `spare` steps; the step after the last one ends the episode."""

    per_cell: Fraction
    spare: int

    def __str__(self) -> str:
        return f"{float(self.per_cell):g}w+{self.spare}"

    def steps(self, cells: Cells) -> Cells:
        """The limit for a number of cells, a Python integer or a traced one."""
        return cells * self.per_cell.numerator // self.per_cell.denominator + self.spare


def parse_time_limit(text: str) -> TimeLimit:
    """Read a limit such as `2w+4` or `1.5w+4`."""
    match = _FORMULA.fullmatch(text.replace(" ", ""))
    if match is None or not Fraction(match[1]):
        raise UserError(
            f"time limit {text!r}: it must be steps per cell plus spare steps; write it like '2w+4' or '1.5w+4'"
        )
    return TimeLimit(Fraction(match[1]), int(match[2]))
