"""The sentence for a name that is not known."""

import numpy as np
import pytest

from urex.errors import UserError, shortened, unknown, whole_number


def test_the_nearest_name_comes_first_then_all() -> None:
    assert str(unknown("flag", "--jsn", ["--json", "--help"])) == (
        "unknown flag '--jsn': did you mean '--json'? known are --help, --json"
    )


def test_a_name_like_no_other_gets_no_hint() -> None:
    assert str(unknown("task", "chess", ["copy"])) == "unknown task 'chess': known are copy"


def test_case_does_not_hide_a_name() -> None:
    assert "did you mean 'NEXT_STEP'?" in str(unknown("mode", "next", ["NEXT_STEP", "DISABLED"]))


def test_it_is_a_value_error_to_python() -> None:
    assert issubclass(UserError, ValueError)
    assert str(unknown("thing", 3, [])) == "unknown thing 3: known are none"


def test_a_whole_number_is_any_kind_of_integer_and_nothing_else() -> None:
    assert (whole_number("n", 3), whole_number("n", np.int64(3))) == (3, 3)
    for wrong in (2.0, "2", None, [2]):
        with pytest.raises(UserError, match="it must be a whole number"):
            whole_number("n", wrong)


def test_long_values_are_shortened_to_one_line() -> None:
    assert shortened("a\n  b") == "a b"
    assert shortened("x" * 100) == "x" * 57 + "..."
