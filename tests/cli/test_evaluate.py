"""`urex evaluate`, of agents made by hand of which it is known what they do."""

from pathlib import Path
from typing import Any

import jax
import pytest

from tests.cli.conftest import PARITY, write_run
from tests.cli.told import mistake, urex
from tests.evaluation import reactive
from urex import tasks
from urex.cli.evaluate import _cell
from urex.evaluation import evaluate_lengths, search_lines
from urex.streams import Stream, key_of


def rows(text: str) -> list[list[str]]:
    """A table's cells; no title and no cell has two spaces in it."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


# ---- at lengths


def test_the_table_has_a_row_for_each_length_as_asked_also_past_those_of_training(runs: Path) -> None:
    told = urex("evaluate", runs / "copy", "--lengths", 60, 3, "--instances", 7)
    assert (told.code, told.err) == (0, "")
    assert rows(told.out) == [
        ["length", "instances", "accuracy", "reward", "steps"],
        ["60", "7", "100%", "60.0", "60.0"],
        ["3", "7", "100%", "3.0", "3.0"],
    ]


def test_json_is_one_document_with_the_same_rows(runs: Path) -> None:
    told = urex("evaluate", runs / "duplicated-input", "--lengths", 2, 6, "--instances", 7, "--json")
    assert told.document == {
        "run": str(runs / "duplicated-input"),
        "task": "duplicated-input",
        "lengths": [
            {"length": 2, "instances": 7, "accuracy": 1.0, "reward": 1.0, "steps": 1.0},
            {"length": 6, "instances": 7, "accuracy": 1.0, "reward": 3.0, "steps": 5.0},
        ],
    }


def test_it_is_the_evaluation_with_the_seeds_own_stream(tmp_path: Path) -> None:
    """Of an agent that errs where there is an E, so that it matters which instances are drawn."""
    path = write_run(tmp_path / "run", "copy", reactive.copy_without_e)
    policy = reactive.reactive(tasks.get("copy"), reactive.copy_without_e)
    copying, accuracies = lambda max_length: tasks.get("copy", max_length=max_length), set()
    for seed in (0, 5):
        key = key_of(seed, Stream.EVALUATION)
        expected = evaluate_lengths(policy, copying, [4, 2], instances=20, key=key)
        words = ["--lengths", 4, 2, "--instances", 20, "--json", *([] if seed == 0 else ["--seed", seed])]
        document = urex("evaluate", path, *words).document
        assert document["lengths"] == [result._asdict() for result in expected]
        accuracies.add(expected[0].accuracy)
    assert len(accuracies) == 2
    assert 0 < min(accuracies) < max(accuracies) < 1


def test_the_options_of_the_runs_task_hold(tmp_path: Path) -> None:
    """Within 1.5w steps, rounded down, nothing of two cells or more can be reversed: that takes 2w + 1."""
    path = write_run(tmp_path / "run", "reverse", reactive.reverse, time_limit="1.5w+1")
    (row,) = urex("evaluate", path, "--lengths", 40, "--instances", 3, "--json").document["lengths"]
    assert (row["accuracy"], row["steps"]) == (0.0, 62.0)


def test_searches_stand_beside_a_linear_and_the_optimal_one(runs: Path) -> None:
    told = urex("evaluate", runs / "binary-search", "--lengths", 20, 60, "--instances", 50, "--json")
    found = told.document["lengths"]
    lines = search_lines([20, 60])
    assert [row["linear_steps"] for row in found] == lines.linear.tolist() == [20, 60]
    assert [row["optimal_steps"] for row in found] == lines.optimal.tolist()
    for row in found:
        assert row["accuracy"] == 1.0
        assert row["steps"] == pytest.approx(row["linear_steps"], rel=0.25)  # it is a linear search
    table = urex("evaluate", runs / "binary-search", "--lengths", 20, 60, "--instances", 50).out
    assert rows(table)[0] == ["length", "instances", "accuracy", "reward", "steps", "linear steps", "optimal steps"]
    assert rows(table)[1][-2:] == ["20.0", f"{lines.optimal[0]:.1f}"]


@pytest.mark.parametrize(("accuracy", "shown"), [(0.0, "0%"), (1.0, "100%"), (0.9999, "100.0%"), (0.43, "43.0%")])
def test_all_and_nothing_are_told_apart_from_nearly(accuracy: float, shown: str) -> None:
    assert _cell("accuracy", accuracy) == shown
    assert _cell("reward", 1234.56) == "1,234.6"
    assert _cell("length", 2000) == "2000"


def test_without_lengths_they_are_the_papers(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def play(policy: Any, make_task: Any, lengths: Any, *, instances: int, key: jax.Array) -> list[Any]:
        del policy, make_task, key  # unused: nothing is played
        seen.append((lengths, instances))
        return []

    monkeypatch.setattr("urex.evaluation.evaluate_lengths", play)
    monkeypatch.setattr("urex.cli.evaluate._table", lambda rows: "")
    urex("evaluate", runs / "copy")
    assert seen == [((30, 100, 500, 1000, 2000), 100)]


# ---- until failure


def test_until_failure_goes_up_to_the_longest_and_shows_that_it_is_alive(runs: Path) -> None:
    told = urex("evaluate", runs / "copy", "--until-failure", "--longest", 40, "--instances", 3)
    assert told == (0, "no mistake up to length 40\n", "no mistake up to length 32, going on to 40\n")


def test_until_failure_tells_where_it_fails(tmp_path: Path) -> None:
    """Within w/2 + 4 steps, rounded down, no more than 8 cells can be copied."""
    path = write_run(tmp_path / "run", "copy", reactive.copy, time_limit="0.5w+4")
    words = ["evaluate", path, "--until-failure", "--instances", 3]
    assert urex(*words) == (0, "no mistake up to length 8; the first is at length 9\n", "")
    assert urex(*words, "--json").document == {"run": str(path), "task": "copy", "longest": 8, "failed_at": 9}


def test_until_failure_of_one_that_fails_at_once(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", "copy", lambda *_: (reactive.LEFT, 0, 0))
    told = urex("evaluate", path, "--until-failure", "--instances", 3)
    assert told.out == "a mistake at length 1, the shortest there is\n"


# ---- tasks whose instances have no length


def test_a_task_without_lengths_is_evaluated_at_its_top_level(runs: Path) -> None:
    document = urex("evaluate", runs / "parity", "--json").document
    (row,) = document["levels"]
    assert document == {"run": str(runs / "parity"), "task": PARITY, "levels": [row]}
    assert (row["level"], row["instances"], row["steps"]) == (30, 100, 31.0)
    assert row["reward"] == pytest.approx(row["accuracy"])
    assert 0.2 < row["accuracy"] < 0.8, "it says even of all, which is right by chance"
    again = urex("evaluate", runs / "parity", "--seed", 1, "--json").document
    assert again["levels"][0]["accuracy"] != row["accuracy"]
    told = urex("evaluate", runs / "parity")
    assert rows(told.out) == [
        ["level", "instances", "accuracy", "reward", "steps"],
        ["30", "100", f"{row['accuracy']:.1%}", f"{row['reward']:.1f}", "31.0"],
    ]


# ---- what cannot be evaluated


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("copy --lengths 0", "--lengths 0: it must be 1 to 1000000"),
        ("copy --lengths 30 -5", "--lengths -5: it must be 1 to 1000000"),
        ("copy --lengths 99999999999", "--lengths 99999999999: it must be 1 to 1000000"),
        (
            "copy --lengths",
            "--lengths needs a value: give the lengths with spaces between them, as in --lengths 30 100",
        ),
        ("copy --lengths 3 --instances 0", "instances 0: it must be at least 1; the paper has 100 of each length"),
        ("copy --seed -1", "--seed -1: it must be 0 to 4294967295"),
        ("copy --seed 4294967296", "--seed 4294967296: it must be 0 to 4294967295"),
        ("duplicated-input --lengths 4 3", "length 3: each symbol stands 2 times in a row; give a multiple of 2"),
        ("copy --lengths 3 --until-failure", "--lengths: --until-failure plays every length; give --longest to say up"),
        ("copy --longest 30", "--longest 30: it is where --until-failure ends; give that too"),
        ("copy --until-failure --longest 0", "--longest 0: it must be 1 to 1000000"),
        ("duplicated-input --until-failure --longest 1", "longest 1: the task has no instances as short as that; give"),
        ("parity --lengths 30", f"--lengths: instances of {PARITY} have no length; without it they are of the top"),
        ("parity --until-failure", f"--until-failure: instances of {PARITY} have no length; without it they are of"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(words: str, sentence: str, runs: Path) -> None:
    name, *flags = words.split()
    assert mistake("evaluate", runs / name, *flags).startswith(sentence)


def test_a_run_may_also_stand_after_the_lengths(runs: Path) -> None:
    assert urex("evaluate", "--instances", 7, "--lengths", 3, runs / "copy").code == 0


@pytest.mark.parametrize("command", ["evaluate", "trace"])
def test_what_is_no_run_is_refused(command: str, runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "config.json").write_bytes((runs / "copy" / "config.json").read_bytes())
    for name, sentence in (
        ("nowhere", "it has no config.json; give the directory of a run"),
        ("file", "it is a file; give the directory of a run"),
        ("new", f"it has no checkpoint yet; train it by `urex train --resume {tmp_path / 'new'}`"),
    ):
        assert mistake(command, tmp_path / name) == f"run directory {tmp_path / name}: {sentence}"
