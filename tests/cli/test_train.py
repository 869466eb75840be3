"""`urex train`: what it writes and tells, going on with a run, and being interrupted."""

import dataclasses
import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import PARITY
from tests.cli.told import Told, mistake, urex
from urex.cli.progress import Lines
from urex.cli.train import _method, _verdict
from urex.recipe import Recipe
from urex.runs.directory import read_trial

ECHO = "tests.runs.probe:echo"
"""Imported when it is trained: tests that are collected after these must not see its task among those there are."""
TINY = shlex.split("--instances 4 --samples 5 --hidden 8 --window 20 --learning-rate 0.1 --init-scale 1")
"""As `probe.SETTINGS`: one program is compiled for these tests and those of runs."""
SOLVED_BEFORE_ITS_END = [ECHO, *TINY, "--seed", 4, "--num-updates", 24]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Told]:
    """A run of 5 updates, and what was told of it."""
    path = tmp_path_factory.mktemp("train") / "a run"
    return path, urex("train", ECHO, *TINY, "--seed", 3, "--num-updates", 5, "--out", path, "--json")


@pytest.fixture
def run(trained: tuple[Path, Told]) -> Path:
    """Its directory."""
    return trained[0]


def read(path: Path) -> Any:
    """The JSON in a file."""
    return json.loads(path.read_text())


# ---- a new run


def test_it_leaves_a_run_and_tells_of_it(trained: tuple[Path, Told]) -> None:
    path, (code, _, err) = trained
    assert code == 0
    lines = err.splitlines()
    assert lines[0] == f"{ECHO} by UREX (tau 0.1), seed 3, in {path}"
    assert lines[1].startswith("update 1/5, reward ")
    assert lines[-3].startswith("update 5/5, reward ")
    result = read(path / "result.json")
    assert lines[-2].startswith(f"not solved in 5 updates; reward {result['final_reward']:.2f} at full difficulty; ")
    assert lines[-1] == f"look at it with: urex evaluate '{path}', or urex trace '{path}'"
    assert len((path / "metrics.jsonl").read_text().splitlines()) == 5


def test_json_is_the_result_in_one_document(trained: tuple[Path, Told]) -> None:
    path, told = trained
    assert told.document == {"run": str(path), "finished": True, **read(path / "result.json")}


def test_without_it_nothing_is_on_stdout_and_it_may_end_as_soon_as_it_is_solved(tmp_path: Path) -> None:
    told = urex("train", *SOLVED_BEFORE_ITS_END, "--until-solved", "--out", tmp_path / "run")
    assert (told.code, told.out) == (0, "")
    result = read(tmp_path / "run" / "result.json")
    assert 5 < result["updates"] == result["solved_at_update"] < 24
    assert told.err.splitlines()[-2].startswith(f"solved at update {result['updates']}; reward ")
    assert f", solved at update {result['updates']}\n" in told.err


def test_checkpoints_are_as_frequent_as_asked(run: Path, tmp_path: Path) -> None:
    urex("train", ECHO, *TINY, "--num-updates", 5, "--checkpoint-every", 0, "--out", tmp_path / "run")
    assert len(list((tmp_path / "run" / "checkpoint").glob("*.safetensors"))) > 1
    assert len(list((run / "checkpoint").glob("*.safetensors"))) == 1


def test_runs_are_numbered_where_no_place_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "echo-2").mkdir(parents=True)
    for name in ("echo-1", "echo-3"):
        told = urex("train", ECHO, *TINY, "--num-updates", 1)
        assert told.err.splitlines()[-1] == f"look at it with: urex evaluate runs/{name}, or urex trace runs/{name}"
        assert read(Path("runs") / name / "result.json")["updates"] == 1


class Enough(Exception):
    """The command has got as far as it is looked at."""


def caught(monkeypatch: pytest.MonkeyPatch, *words: str) -> Recipe:
    """The settings that the words come to."""
    seen = []

    def begin(task: str | None, settings: Recipe, out: Path | None) -> None:
        del task, out  # unused: only the settings are looked at
        seen.append(settings)
        raise Enough

    monkeypatch.setattr("urex.cli.train._begin", begin)
    with pytest.raises(Enough):
        urex("train", "copy", *words)
    return seen[0]


VALUES: dict[Any, tuple[str, Any]] = {
    str | None: ("a-name", "a-name"),
    float | None: ("1e-7", 1e-7),
    int | None: ("-12", -12),
}


@pytest.mark.parametrize("field", dataclasses.fields(Recipe), ids=lambda field: field.name)
def test_every_setting_has_a_flag_that_sets_it_and_no_other(
    field: dataclasses.Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag = "--" + field.name.replace("_", "-")
    if field.type is bool:
        assert caught(monkeypatch, flag).given() == {field.name: True}
    else:
        word, value = VALUES[field.type]
        assert caught(monkeypatch, flag, word).given() == {field.name: value}
        assert caught(monkeypatch, f"{flag}={word}").given() == {field.name: value}


def test_what_is_not_given_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = caught(monkeypatch)
    assert settings.given() == {}
    assert isinstance(settings, Recipe)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "no task given: name one, as in `urex train copy`, or a run to go on with by --resume"),
        ("cpy", "unknown task 'cpy': did you mean 'copy'? known are "),
        ("copy --objective urx", "unknown objective 'urx': did you mean 'urex'? known are ment, raml, reinforce, "),
        ("copy --tau 0", "tau 0.0: objective 'urex' divides rewards by it, so it must be above 0; give 0.1, say"),
        ("copy --learning-rate -1", "learning_rate -1: it must be a finite number greater than 0"),
        ("copy --num-updates -5", "num_updates -5: it must be at least 1"),
        ("copy --seed -1", "seed -1: it must be 0 to 4294967295"),
        ("copy --max-length 2", "max_length 2: it must be at least 4, the longest tape of the first level"),
        ("copy --time-limit 3x", "time limit '3x': it must be steps per cell plus spare steps; write it like '2w+4'"),
        ("copy --checkpoint-every -1", "--checkpoint-every -1: it must be 0 or more seconds"),
        ("copy --checkpoint-every nan", "--checkpoint-every nan: it must be 0 or more seconds"),
        (f"{PARITY} --max-length 9", f"unknown option of {PARITY} 'max_length': known are none"),
    ],
)
def test_a_run_that_cannot_be_begun_is_refused_and_leaves_nothing(
    words: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mistake("train", *words.split()).startswith(sentence)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_there_is_left_alone(run: Path) -> None:
    before = (run / "config.json").read_bytes()
    assert mistake("train", "copy", "--out", run).startswith(f"run directory {run}: there is a run in it already; go ")
    assert (run / "config.json").read_bytes() == before


def test_a_reward_that_is_no_number_is_told_as_such() -> None:
    summary = {"updates": 3, "solved_at_update": None, "final_reward": None, "env_steps_per_s": None, "wall_s": 2.0}
    assert _verdict({**summary, "finite": True}).endswith("3 updates; reward not a number at full difficulty; 2 s")
    assert _verdict({**summary, "finite": False}).startswith("not solved in 3 updates; it diverged: parameters are no")


@pytest.mark.parametrize(
    ("settings", "method"),
    [
        ({"objective": "ment", "tau": 0.01}, "MENT (tau 0.01)"),
        ({"learner": "double-q", "objective": "urex", "tau": 0.1}, "double Q-learning"),
    ],
)
def test_the_method_is_named(settings: dict[str, Any], method: str) -> None:
    assert _method(Recipe(**settings)) == method


# ---- going on


def test_a_run_can_be_made_longer_and_that_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "run"
    urex("train", ECHO, *TINY, "--num-updates", 2, "--out", path)
    told = urex("train", "--resume", path, "--num-updates", 4, "--json")
    assert (told.code, told.document["updates"]) == (0, 4)
    assert read_trial(path)[1].num_updates == 4
    assert [json.loads(line)["update"] for line in (path / "metrics.jsonl").read_text().splitlines()] == [1, 2, 3, 4]
    assert "update 3/4" in told.err


def test_it_is_told_when_there_is_nothing_to_do(run: Path) -> None:
    for words in ([], ["--num-updates", 5], [ECHO]):
        told = urex("train", *words, "--resume", run, "--json")
        assert told.code == 0
        assert told.err.splitlines()[1] == "nothing to do: all 5 updates are made; ask for more by --num-updates"
        assert told.document == {"run": str(run), "finished": True, **read(run / "result.json")}


def test_a_run_that_was_to_go_on_until_solved_does_no_more_unless_asked(tmp_path: Path) -> None:
    assert "nothing to do" not in urex("train", *SOLVED_BEFORE_ITS_END, "--until-solved", "--out", tmp_path / "run").err
    told = urex("train", "--resume", tmp_path / "run")
    assert told.code == 0
    assert (
        told.err.splitlines()[1] == "nothing to do: it was to go on until solved, and is; ask for more by --num-updates"
    )
    assert urex("train", "--resume", tmp_path / "run", "--num-updates", 25, "--json").document["updates"] == 25


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("copy", "task 'copy': the run in RUN is one of 'tests.runs.probe:echo'; leave the task away with --resume"),
        ("--tau 0.2", "--tau: the run in RUN has its settings; with --resume give none but --num-updates"),
        ("--learning-rate 0.1", "--learning-rate: the run in RUN has its settings; with --resume give none but --num"),
        (
            "--until-solved",
            "--until-solved: the run in RUN has its settings; with --resume give none but --num-updates",
        ),
        ("--out elsewhere", "--out: the run in RUN has its settings; with --resume give none but --num-updates"),
        ("--num-updates 0", "num_updates 0: it must be at least 1"),
    ],
)
def test_what_a_run_has_cannot_be_changed(words: str, sentence: str, run: Path) -> None:
    before = (run / "config.json").read_bytes()
    assert mistake("train", "--resume", run, *words.split()).startswith(sentence.replace("RUN", str(run)))
    assert (run / "config.json").read_bytes() == before


def test_a_run_cannot_be_made_shorter(run: Path) -> None:
    code, _, err = urex("train", "--resume", run, "--num-updates", 3)
    assert code == 2
    assert err.splitlines()[-1].startswith(f"urex: num_updates 3: the run in {run} has made 5 already")
    assert read(run / "config.json")["num_updates"] == 5


def test_what_is_no_run_cannot_be_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, sentence in (
        ("nowhere", "it has no config.json; give the directory of a run"),
        ("file", "it is a file; give the directory of a run"),
    ):
        assert mistake("train", "--resume", tmp_path / name) == f"run directory {tmp_path / name}: {sentence}"


# ---- interrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_after_the_updates_under_way(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, show, sent = tmp_path / "a run", Lines.show, []

    def signalled(lines: Lines, progress: Any) -> None:
        show(lines, progress)
        if not sent:
            sent.append(number)
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    if before == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
    with monkeypatch.context() as patch:
        patch.setattr(Lines, "show", signalled)
        told = urex("train", ECHO, *TINY, "--num-updates", 5, "--out", path, "--json")
    signal.signal(number, before)
    assert told.code == 128 + number
    assert told.document["finished"] is False
    assert told.document["updates"] == 1
    lines = told.err.splitlines()
    assert lines[2] == "stopping after the updates under way; once more, and it ends at once"
    assert lines[3:] == [f"stopped after update 1; go on with: urex train --resume '{path}'"]
    assert not (path / "result.json").exists()

    assert urex(*shlex.split(lines[3].rpartition(": urex ")[2])).code == 0
    assert read(path / "result.json")["updates"] == 5
