"""The sentence for a name that is not known."""

from urex.errors import UserError, unknown


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
