"""Time limits as formulas."""

import pytest

from urex import UserError, tasks
from urex.tasks.time_limit import parse_time_limit


@pytest.mark.parametrize(
    ("formula", "cells", "steps"),
    [("2w+4", 5, 14), ("1.5w+4", 4, 10), ("1.5w+4", 5, 11), ("4w+4", 32, 132), ("3 w + 0", 7, 21)],
)
def test_a_formula_gives_the_steps(formula: str, cells: int, steps: int) -> None:
    assert parse_time_limit(formula, 32).steps(cells) == steps


@pytest.mark.parametrize("formula", ["", "20", "w+4", "-2w+4", "2w", "0w+4", "2w+-1", "2x+4"])
def test_anything_else_is_told_in_a_sentence(formula: str) -> None:
    with pytest.raises(UserError, match="it must be steps per cell plus spare steps; write it like '2w\\+4'"):
        parse_time_limit(formula, 32)


@pytest.mark.parametrize("formula", ["70000000w+4", "2.00000001w+4", "2w+2147483647"])
def test_a_limit_that_would_overflow_is_told(formula: str) -> None:
    """The limit of a traced length is computed in 32 bits."""
    with pytest.raises(UserError, match="for 32 cells it needs numbers of more than 31 bits"):
        parse_time_limit(formula, 32)


@pytest.mark.parametrize("given", [4, None, ["2w+4"]])
def test_what_is_no_text_is_told(given: object) -> None:
    with pytest.raises(UserError, match="it must be steps per cell plus spare steps"):
        parse_time_limit(given, 32)


def test_it_is_an_option_of_the_tasks() -> None:
    assert tasks.get("reversed-addition3").max_steps == 2 * 32 + 5
    assert tasks.get("reversed-addition3", time_limit="3w+4").max_steps == 3 * 32 + 5
    assert tasks.get("reversed-addition3-extended") == tasks.get("reversed-addition3", time_limit="3w+4")
