"""`urex trace`, of agents made by hand: which episode it is, as a drawing and as JSON."""

import re
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from tests.cli.conftest import write_run
from tests.cli.told import mistake, urex
from tests.episode import Played, on_tape
from tests.evaluation import reactive
from urex import tasks
from urex.tasks import TapeTask
from urex.tasks.binary_search import SearchInstance


def down_and_right(seen: int, previous: reactive.SubActions | None) -> reactive.SubActions:
    """Go down and right by turns, and write what is under the head before going right."""
    return (1, 1, min(seen, 2)) if previous is not None and previous[0] == 3 else (3, 0, 0)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on ReversedAddition."""
    return write_run(tmp_path_factory.mktemp("trace") / "grid", "reversed-addition", down_and_right)


# ---- the drawing


def test_the_drawing_of_a_given_tape(runs: Path) -> None:
    assert urex("trace", runs / "copy", "--tape", "CAEB") == (
        0,
        "step   sees                action           prob  reward  output\n"
        "               C A E B\n"
        "   1      C    ●           right, write C  1.000      +1  C\n"
        "   2      A      ●         right, write A  1.000      +1  CA\n"
        "   3      E        ●       right, write E  1.000      +1  CAE\n"
        "   4      B          ●     right, write B  1.000      +1  CAEB\n"
        "\n"
        "output   C A E B\n"
        "target   C A E B\n"
        "solved; 4 steps, total reward 4\n",
        "",
    )


def test_the_drawing_of_a_search(runs: Path) -> None:
    lines = urex("trace", runs / "binary-search", "--length", 5, "--position", 2).out.splitlines()
    assert lines[1] == "   1      5      0      0      --  CMP(1)  [0, 5)  1.000"
    assert lines[-1] == "found at position 2 of 5; 5 steps, total reward 5.455"


def test_the_drawing_of_a_task_without_a_view(runs: Path) -> None:
    lines = urex("trace", runs / "parity").out.splitlines()
    assert lines[0] == "step  sees  action   prob  reward"
    assert re.fullmatch("(not )?solved; 7 steps, total reward [01]", lines[-1])


@pytest.mark.parametrize("tape", ["caeb", "2041", "2,0,4,1", "C,A,E,B"])
def test_a_tape_is_written_in_letters_or_digits(tape: str, runs: Path) -> None:
    assert urex("trace", runs / "copy", "--tape", tape) == urex("trace", runs / "copy", "--tape", "CAEB")


def test_colours_are_for_terminals_that_want_them(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = urex("trace", runs / "copy", "--tape", "CAEB").out
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = urex("trace", runs / "copy", "--tape", "CAEB").out
    assert "\x1b[32mright, write C\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert urex("trace", runs / "copy", "--tape", "CAEB").out == plain


# ---- which instance


@pytest.mark.parametrize("length", [3, 32, 60])
def test_a_length_is_met_also_past_those_of_training(length: int, runs: Path) -> None:
    document = urex("trace", runs / "copy", "--length", length, "--json").document
    assert len(document["tape"]) == len(document["steps"]) == length
    assert document["solved"]


def test_a_longer_tape_than_those_of_training_can_be_given(runs: Path) -> None:
    document = urex("trace", runs / "copy", "--tape", "CAEB" * 10, "--json").document
    assert document["tape"] == document["target"] == [2, 0, 4, 1] * 10


def test_it_is_random_by_the_seed_and_of_modest_size_unless_asked(runs: Path) -> None:
    tapes = [urex("trace", runs / "copy", "--seed", seed, "--json").document["tape"] for seed in range(4)]
    assert urex("trace", runs / "copy", "--json").document["tape"] == tapes[0]
    assert len({str(tape) for tape in tapes}) == 4
    assert all(4 < len(tape) < 12 for tape in tapes)


def test_actions_are_sampled_if_asked(tmp_path: Path) -> None:
    """Of a policy of which all parameters are 0, so that it takes all actions as often."""
    path = write_run(tmp_path / "run", "copy", reactive.copy, scale=0.0)

    def actions(*words: object) -> str:
        steps = urex("trace", path, "--tape", "CAEB", "--json", *words).document["steps"]
        assert all(step["probability"] == pytest.approx(1 / 20) for step in steps)
        return str([step["action"] for step in steps])

    assert len({actions("--seed", seed) for seed in range(8)}) == 1
    assert len({actions("--sampled", "--seed", seed) for seed in range(8)}) > 4
    assert actions("--sampled", "--seed", 3) == actions("--sampled", "--seed", 3)


# ---- the document


def test_the_document_of_a_tape(runs: Path) -> None:
    document = urex("trace", runs / "copy", "--tape", "CA", "--json").document
    assert [step.pop("probability") for step in document["steps"]] == [pytest.approx(1, abs=1e-4)] * 2
    assert document == {
        "run": str(runs / "copy"),
        "task": "copy",
        "tape": [2, 0],
        "target": [2, 0],
        "time_limit": 8,
        "solved": True,
        "total_reward": 2.0,
        "steps": [
            {"read_head": 0, "write_head": 0, "observation": 2, "action": [1, 1, 2], "reward": 1.0},
            {"read_head": 1, "write_head": 1, "observation": 0, "action": [1, 1, 0], "reward": 1.0},
        ],
    }


def replayed(episode: Played, document: dict[str, Any]) -> None:
    """The document's steps are those of the episode that its actions make."""
    for step in document["steps"]:
        assert step["observation"] == episode.observation
        assert not episode.done
        episode.step(*step["action"])
        assert step["reward"] == pytest.approx(episode.reward)
    assert episode.done
    assert document["total_reward"] == pytest.approx(episode.total_reward)


def test_the_document_of_a_grid_has_its_columns_as_they_were_given(grid: Path) -> None:
    document = urex("trace", grid, "--tape", "00,01,12", "--json").document
    assert (document["tape"], document["target"]) == ([[0, 0], [0, 1], [1, 2]], [0, 1, 0, 1])
    assert [step["read_head"] for step in document["steps"]] == [[0, 0], [0, 1], [1, 1], [1, 2]]
    task = tasks.get("reversed-addition")
    assert isinstance(task, TapeTask)
    replayed(on_tape(task, document["tape"]), document)
    assert not document["solved"]


def test_the_document_of_a_search(runs: Path) -> None:
    document = urex("trace", runs / "binary-search", "--length", 600, "--position", 2, "--json").document
    assert (document["n"], document["target"], document["time_limit"]) == (600, 2, 1201)
    assert [step["registers"] for step in document["steps"]] == [[600, i, 0] for i in (0, 0, 1, 1, 2)]
    assert document["solved"]
    instance = SearchInstance(n=jnp.int32(600), position=jnp.int32(2))
    replayed(Played(tasks.get("binary-search", max_length=600), instance), document)


def test_the_document_of_a_task_without_a_view(runs: Path) -> None:
    document = urex("trace", runs / "parity", "--json").document
    assert set(document) == {"run", "task", "solved", "total_reward", "steps"}
    assert set(document["steps"][0]) == {"observation", "action", "probability", "reward"}
    assert [step["action"] for step in document["steps"]] == [[0]] * 6 + [[1]]
    assert document["solved"] == (sum(step["observation"] == 1 for step in document["steps"]) % 2 == 0)


# ---- what cannot be shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("copy --length 0", "--length 0: it must be 1 to 1000000"),
        ("copy --length -2", "--length -2: it must be 1 to 1000000"),
        ("binary-search --length 2147483648", "--length 2147483648: it must be 1 to 1000000"),
        ("copy --seed -1", "--seed -1: it must be 0 to 4294967295"),
        ("duplicated-input --length 3", "length 3: each symbol stands 2 times in a row; give a multiple of 2"),
        ("duplicated-input --tape 2041", "tape [2, 0, 4, 1]: each symbol must stand 2 times in a row, but cells 0 to"),
        ("copy --tape 27", "tape symbol 7: symbols are 0 to 4; change it to one of these"),
        ("copy --tape C!", "--tape 'C!': its symbols are not to be made out; write it like CAEB or 2041"),
        ("copy --tape 1,,2", "--tape '1,,2': its symbols are not to be made out; write it like CAEB or 2041"),
        ("copy --tape ²", "--tape '²': its symbols are not to be made out; write it like CAEB or 2041"),
        ("copy --tape=", "--tape '': its symbols are not to be made out; write it like CAEB or 2041"),
        ("copy --tape 22 --length 2", "--tape 22: it says all of the instance; leave --length and --position away"),
        ("copy --tape 22 --position 0", "--tape 22: it says all of the instance; leave --length and --position away"),
        ("copy --position 1", "--position 1: the run's task looks for no number; leave it away"),
        ("binary-search --tape 22", "--tape 22: the run's task has no tape; leave it away"),
        ("binary-search --position 1", "--position 1: give the size of the array too, by --length"),
        ("binary-search --length 9 --position 9", "position 9: it must be 0 to 8, inside the array"),
        ("binary-search --length 9 --position -1", "position -1: it must be 0 to 8, inside the array"),
        ("parity --length 3", "--length 3: instances of the run's task have no length; leave it away"),
        ("parity --tape 01", "--tape 01: the run's task has no tape; leave it away"),
    ],
)
def test_what_cannot_be_shown_is_refused(words: str, sentence: str, runs: Path) -> None:
    name, *flags = words.split()
    assert mistake("trace", runs / name, *flags).startswith(sentence)


@pytest.mark.parametrize("tape", ["2041", "12,2", "12,021", "AB", "12,"])
def test_a_grid_is_given_by_its_columns(tape: str, grid: Path) -> None:
    assert mistake("trace", grid, "--tape", tape) == (
        f"--tape {tape!r}: its symbols are not to be made out; write it like 12,02"
    )
    assert urex("trace", grid, "--tape", "12").code == 0
