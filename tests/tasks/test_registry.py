"""Tasks by name."""

import subprocess
import sys
from pathlib import Path

import pytest

from urex import UserError, tasks
from urex.tasks import registry


@pytest.fixture(autouse=True)
def _registrations_are_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))


def test_the_names_that_scripts_rely_on() -> None:
    fixed = "copy duplicated-input repeat-copy reverse reversed-addition reversed-addition3 binary-search"
    assert set(fixed.split()) <= set(tasks.names())


@pytest.mark.parametrize(
    ("name", "observations", "actions", "threshold", "levels", "max_steps"),
    [
        ("copy", 6, (2, 2, 5), 25.0, (2, 30), 69),
        ("duplicated-input", 6, (2, 2, 5), 9.0, (2, 30), 53),
        ("repeat-copy", 6, (2, 2, 5), 75.0, (2, 30), 133),
        ("reverse", 3, (2, 2, 2), 25.0, (1, 30), 69),
        ("reversed-addition", 4, (4, 2, 3), 25.0, (2, 30), 69),
        ("reversed-addition3", 4, (4, 2, 3), 25.0, (2, 30), 69),
        ("reversed-addition3-extended", 4, (4, 2, 3), 25.0, (2, 30), 101),
        ("binary-search", 4, (4, 3), 9.0, (0, 4), 1025),
    ],
)
def test_the_published_constants(
    name: str, observations: int, actions: tuple, threshold: float, levels: tuple, max_steps: int
) -> None:
    task = tasks.get(name)
    assert (task.observations, task.actions, task.reward_threshold) == (observations, actions, threshold)
    assert ((task.levels.first, task.levels.top), task.max_steps) == (levels, max_steps)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown task 'reverse-addition': did you mean 'reversed-addition'\\?"):
        tasks.get("reverse-addition")


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown option of copy 'max_lenght': did you mean 'max_length'\\?"):
        tasks.get("copy", max_lenght=10)


def test_a_task_of_ones_own_is_registered_the_same_way() -> None:
    tasks.register("short-copy", lambda max_length=8: tasks.get("copy", max_length=max_length))
    assert tasks.get("short-copy").max_steps == 21
    assert tasks.get("short-copy", max_length=10).max_steps == 25
    assert tasks.names()[-1] == "short-copy"


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(UserError, match="task name 'copy': it is taken; choose another"):
        tasks.register("copy", lambda: tasks.get("reverse"))
    tasks.register("copy", tasks.copy)  # again the same is no mistake: a module may be imported twice


@pytest.mark.parametrize("name", ["", " copy", "a:b"])
def test_a_name_that_could_not_be_asked_for_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="choose another"):
        tasks.register(name, tasks.copy)


def test_a_name_may_say_which_module_registers_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "from urex import tasks\ntasks.register('mine', tasks.reverse)\n"
    (tmp_path / "registers_mine.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert tasks.get("registers_mine:mine") == tasks.get("reverse")
    del sys.modules["registers_mine"]


def test_a_module_that_is_not_there_is_told() -> None:
    with pytest.raises(UserError, match=r"task module 'no_such\.module': there is no module 'no_such'"):
        tasks.get("no_such.module:mine")


def test_a_module_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match="importing it failed with ZeroDivisionError: division by zero; mend it"):
        tasks.get("fails:mine")


def test_options_without_a_default_must_be_given() -> None:
    tasks.register("sized", lambda max_length: tasks.get("copy", max_length=max_length))
    with pytest.raises(UserError, match="task 'sized': its option 'max_length' has no default"):
        tasks.get("sized")
    assert tasks.get("sized", max_length=8).max_steps == 21


def test_options_may_be_passed_through() -> None:
    tasks.register("through", lambda **options: tasks.get("copy", **options))
    assert tasks.get("through", max_length=8).max_steps == 21


WRONG_TYPES = [
    ("tasks.register('mine', 3)", "task 'mine': 3 cannot be called; give a function that makes it"),
    (
        "tasks.register('mine', lambda: 3); tasks.get('mine')",
        "task 'mine': its factory made 3; it must make a urex.tasks.Task",
    ),
    ("tasks.get('copy', max_length=8.5)", "max_length 8.5: it must be a whole number"),
    ("tasks.get('binary-search', max_length='8')", "max_length '8': it must be a whole number"),
    ("tasks.get('reversed-addition', rows=2.0)", "rows 2.0: it must be a whole number"),
]


def test_what_is_of_a_wrong_type_is_told() -> None:
    """In a process where types are not checked, as they are in tests."""
    calls = "".join(f"try: {call}\nexcept UserError as error: print(error)\n" for call, _ in WRONG_TYPES)
    source = f"from urex import UserError, tasks\n{calls}"
    told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == [sentence for _, sentence in WRONG_TYPES]
