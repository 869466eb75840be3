"""A run goes on where it was left, to the bit, whatever ended it; and it leaves what it says."""

import json
import os
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from tests.runs import probe
from tests.runs.disk import Disk, Moment
from tests.runs.outcome import Outcome, newest, outcome
from urex import UserError, devices, training
from urex.runs import DamagedCheckpoint, Progress, Result, checkpoint, load_policy, run_in_memory, run_on_disk
from urex.runs.directory import Directory, create, locked, read_trial
from urex.runs.metrics_log import read
from urex.training import loop
from urex.trial import Trial


def new(path: Path, **settings: Any) -> tuple[Directory, Trial]:
    """A run that is not begun."""
    trial = probe.trial(**settings)
    return create(path, trial), trial


def go_on(path: Path, **options: Any) -> Result:
    """The run that is there, as the command line resumes it."""
    return run_on_disk(*read_trial(path), **options)


def after(updates: int) -> dict[str, Any]:
    """Options of a run that is interrupted after the chunk in which it makes this update."""
    seen = [0]
    return {"watch": lambda progress: seen.append(progress.updates), "stop": lambda: seen[-1] >= updates}


def interrupted(path: Path, updates: int, **settings: Any) -> int:
    """A run that was stopped then; the updates it has made."""
    result = run_on_disk(*new(path, **settings), **after(updates), checkpoint_every=0.0)
    assert not result.finished
    return result.summary["updates"]


def cut(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let all calls but the first make so many updates."""
    monkeypatch.setattr(loop, "_next_count", lambda made, seconds: count)


# ---- interrupted and gone on with


def test_the_trial_is_one_that_would_show_what_is_lost(unbroken: Outcome) -> None:
    levels = [line["level"] for line in unbroken.metrics]
    first = [levels.index(level) for level in range(4)]
    assert (np.diff(first) > 1).all()
    assert first[2] >= 7  # tests interrupt it after 7 updates
    assert first[3] < unbroken.result["solved_at_update"] < 22


def test_stopping_after_every_update_changes_nothing(tmp_path: Path, unbroken: Outcome) -> None:
    directory, _ = new(tmp_path / "run")
    for update in range(1, 24):
        result = go_on(directory.path, stop=lambda: True)
        assert not result.finished
        assert not directory.result.exists()
        assert newest(directory.path).update == update == len(result.log)
    assert go_on(directory.path, stop=lambda: True).finished
    assert outcome(directory.path) == unbroken


def test_a_learner_with_more_to_remember_goes_on_too(tmp_path: Path) -> None:
    """Double Q-learning has a target network, renewed now and then, and explores less with every update."""
    settings: dict[str, Any] = {"learner": "double-q", "sync_every": 5}
    interrupted(tmp_path / "run", 7, **settings)
    go_on(tmp_path / "run")
    run_on_disk(*new(tmp_path / "unbroken", **settings))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "unbroken")
    explored = [line["exploration"] for line in read(tmp_path / "run" / "metrics.jsonl")]
    assert sorted(set(explored), reverse=True) == explored


# ---- on several cores


def test_a_run_goes_on_on_the_cores_it_was_begun_on(tmp_path: Path) -> None:
    """To the bit, like every other; another number of them would round otherwise."""
    interrupted(tmp_path / "run", 7, cores=2)
    go_on(tmp_path / "run")
    run_on_disk(*new(tmp_path / "unbroken", cores=2))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "unbroken")
    assert outcome(tmp_path / "run").result["cores"] == 2


def test_it_says_so_when_there_are_fewer_and_keeps_the_number_for_when_there_are_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(tmp_path / "run", 7, cores=2)
    with monkeypatch.context() as patch:
        patch.setattr(devices, "cores", lambda: 1)
        assert load_policy(tmp_path / "run")[0].config.cores == 1
        with pytest.warns(UserWarning, match="it was begun on 2 cores and goes on with 1, as many as JAX has here;"):
            go_on(tmp_path / "run", stop=lambda: True)
    assert go_on(tmp_path / "run").summary["cores"] == 2


def test_a_run_of_a_kernel_that_is_not_here_can_be_looked_at_and_gone_on_with(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", 7)
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"kernel": "fused"}))
    assert load_policy(tmp_path / "run")[0].config.kernel.name == "xla"
    with pytest.warns(UserWarning, match="kernel 'fused': the run was begun on a GPU, and there is none here"):
        result = go_on(tmp_path / "run")
    assert result.summary["kernel"] == "ragged"


@pytest.mark.parametrize("count", [1, 5, 256])
def test_how_updates_are_cut_into_calls_changes_nothing(
    tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    cut(monkeypatch, count)
    run_on_disk(*new(tmp_path / "run"))
    assert outcome(tmp_path / "run") == unbroken


def test_the_length_of_calls_follows_their_time_and_changes_nothing(
    tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SECONDS", 0.0)
    told: list[Progress] = []
    run_on_disk(*new(tmp_path / "run"), watch=told.append)
    assert [progress.updates for progress in told] == list(range(1, 25))
    assert outcome(tmp_path / "run") == unbroken


@pytest.mark.filterwarnings("ignore::urex.runs.DamagedCheckpoint")  # that a save was cut short is told
def test_no_kill_and_no_power_cut_changes_anything(
    tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(monkeypatch, 3)
    (tmp_path / "disk").mkdir()
    disk = Disk(tmp_path / "disk")
    with disk.watched(monkeypatch):
        run_on_disk(*new(tmp_path / "disk" / "run"), checkpoint_every=0.0)
    different = {json.dumps(sorted((n, d.hex()) for n, d in m.files.items())): m for m in disk.moments}
    assert len(different) > 60
    for i, moment in enumerate(different.values()):
        assert end_of(moment, tmp_path / str(i)) == unbroken, (i, moment.cause, sorted(moment.files))


def end_of(moment: Moment, root: Path) -> Outcome:
    """What becomes of what was found then."""
    moment.restore(root)
    if not (root / "run" / "config.json").exists():
        new(root / "run")
    assert go_on(root / "run").finished
    assert {path.name for path in (root / "run").iterdir()} == {
        ".lock", "config.json", "metrics.jsonl", "checkpoint", "result.json",
    }  # fmt: skip
    return outcome(root / "run")


def test_times_and_steps_go_on_from_what_was_spent(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", 7)
    before = read(tmp_path / "run" / "metrics.jsonl")
    result = go_on(tmp_path / "run")
    assert result.log[:7] == before
    for name in ("wall_s", "env_steps"):
        spent = [line[name] for line in result.log]
        assert (np.diff(spent) >= 0).all(), "times are told to a tenth of a millisecond"
        assert spent[6] < spent[-1]
        assert result.summary[name] == pytest.approx(result.log[-1][name], abs=1e-4)


def test_lines_past_the_checkpoint_are_cut_off(tmp_path: Path, unbroken: Outcome) -> None:
    interrupted(tmp_path / "run", 7)
    with open(tmp_path / "run" / "metrics.jsonl", "a") as file:
        file.write(json.dumps(unbroken.metrics[7]) + '\n{"update": 9, "env')
    go_on(tmp_path / "run")
    assert outcome(tmp_path / "run") == unbroken


def test_what_a_kill_left_of_a_file_is_removed(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", 3)
    (tmp_path / "run" / ".result.json.1.partial").write_text("{")
    go_on(tmp_path / "run", stop=lambda: True)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {".lock", "config.json", "metrics.jsonl", "checkpoint"}


@pytest.mark.parametrize("damage", ["truncated", "flipped bit", "missing"])
def test_a_damaged_checkpoint_costs_the_updates_since_the_one_before(
    tmp_path: Path, unbroken: Outcome, damage: str
) -> None:
    made = interrupted(tmp_path / "run", 7)
    arrays = tmp_path / "run" / "checkpoint" / newest(tmp_path / "run").arrays
    data = bytearray(arrays.read_bytes())
    data[len(data) // 2] ^= 1
    arrays.unlink() if damage == "missing" else arrays.write_bytes(data[: 3000 if damage == "truncated" else None])
    told: list[Progress] = []
    with pytest.warns(DamagedCheckpoint, match=rf"{made:010d}.* going on from update 3"):
        go_on(tmp_path / "run", watch=told.append)
    assert told[0].updates == 4
    assert outcome(tmp_path / "run") == unbroken


def test_when_all_checkpoints_are_damaged_nothing_is_touched(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", 7)
    for arrays in (tmp_path / "run" / "checkpoint").glob("*.safetensors"):
        arrays.write_bytes(arrays.read_bytes()[:-1])
    before = contents(tmp_path / "run")
    with pytest.raises(UserError, match=r"checkpoints .*: none of the 3 is whole \(.*\); put a copy of one there"):
        go_on(tmp_path / "run")
    assert contents(tmp_path / "run") == before


def test_metrics_that_were_lost_are_told_of(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", 7)
    metrics = tmp_path / "run" / "metrics.jsonl"
    size = metrics.stat().st_size
    metrics.write_bytes(metrics.read_bytes()[:-1])
    with pytest.raises(UserError, match=rf"{size - 1} bytes and the checkpoint was written after {size}; put"):
        go_on(tmp_path / "run")
    assert metrics.stat().st_size == size - 1


def contents(root: Path) -> dict[str, bytes]:
    """Every file, but for the lock."""
    files = (path for path in root.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


# ---- to its end, and past it


def test_more_updates_give_what_an_unbroken_run_of_so_many_gives(tmp_path: Path, unbroken: Outcome) -> None:
    directory, short = new(tmp_path / "run", num_updates=10)
    assert run_on_disk(directory, short).finished
    assert outcome(directory.path).metrics == unbroken.metrics[:10]
    assert not run_on_disk(directory, probe.trial(), **after(12)).finished
    assert not directory.result.exists()
    assert read_trial(directory.path)[1] == probe.trial()
    assert go_on(directory.path).finished
    assert outcome(directory.path) == unbroken


def test_fewer_updates_than_were_made_are_refused(tmp_path: Path) -> None:
    directory, _ = new(tmp_path / "run", num_updates=10)
    go_on(directory.path)
    before = contents(directory.path)
    with pytest.raises(UserError, match=r"num_updates 9: the run in .* has made 10 already; give at least so many"):
        run_on_disk(directory, probe.trial(num_updates=9))
    assert contents(directory.path) == before


def test_a_run_that_is_done_is_told_of_again_and_not_touched(
    tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, trial = new(tmp_path / "run")
    first, before = run_on_disk(directory, trial), contents(directory.path)
    monkeypatch.setattr(training, "compiled", None)
    told: list[Progress] = []
    again = run_on_disk(directory, trial, watch=told.append)
    assert (again.finished, again.summary, again.log, told) == (True, first.summary, first.log, [])
    jax.tree.map(np.testing.assert_array_equal, again.policy, first.policy)
    assert contents(directory.path) == before
    assert outcome(directory.path) == unbroken


def test_a_kill_before_the_result_costs_no_update(
    tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, trial = new(tmp_path / "run")
    run_on_disk(directory, trial)
    directory.result.unlink()
    monkeypatch.setattr(training, "compiled", None)
    assert run_on_disk(directory, trial).finished
    assert outcome(directory.path) == unbroken


@pytest.mark.parametrize("count", [1, 4, 256])
def test_it_stops_at_the_very_update_that_solves_the_task(
    tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    cut(monkeypatch, count)
    directory, trial = new(tmp_path / "run", until_solved=True)
    run_on_disk(directory, trial)
    ended = outcome(directory.path)
    solved_at = unbroken.result["solved_at_update"]
    assert ended.metrics == unbroken.metrics[:solved_at]
    assert (ended.result["updates"], ended.result["solved_at_update"]) == (solved_at, solved_at)
    assert newest(directory.path).update == solved_at


def test_stopping_when_solved_survives_an_interruption(tmp_path: Path, unbroken: Outcome) -> None:
    assert interrupted(tmp_path / "run", 7, until_solved=True) == 7
    result = go_on(tmp_path / "run")
    solved_at = unbroken.result["solved_at_update"]
    assert (result.finished, result.summary["updates"]) == (True, solved_at)
    assert outcome(tmp_path / "run").metrics == unbroken.metrics[:solved_at]


def test_checkpoints_are_as_far_apart_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []
    save, now = checkpoint.save, [0.0]

    def noted(directory: Path, update: int, *rest: Any) -> Path:
        saved.append(update)
        return save(directory, update, *rest)

    def tick(progress: Progress) -> None:
        now[0] += 10.0

    monkeypatch.setattr(checkpoint, "save", noted)
    monkeypatch.setattr("urex.runs.run.time.monotonic", lambda: now[0])
    cut(monkeypatch, 1)
    run_on_disk(*new(tmp_path / "run"), watch=tick, checkpoint_every=70.0)
    assert saved == [7, 14, 21, 24]


# ---- whose it is


def test_a_second_process_is_told_and_changes_nothing(tmp_path: Path) -> None:
    directory, _ = new(tmp_path / "run", num_updates=10)
    with locked(directory):
        before = contents(directory.path)
        with pytest.raises(UserError, match=r"run directory .*: another process is training in it; wait for its end"):
            run_on_disk(directory, probe.trial())
        assert contents(directory.path) == before
    assert go_on(directory.path).finished


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"learning_rate": 0.2}, "learning_rate 0.1 and not 0.2"),
        ({"objective": "ment"}, "objective 'urex' and not 'ment'"),
        ({"seed": 2}, "seed 4 and not 2"),
        ({"task": "tests.runs.probe:again"}, "task 'tests.runs.probe:echo' and not 'tests.runs.probe:again'"),
    ],
)
def test_a_config_that_is_not_the_runs_own_is_refused(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    interrupted(tmp_path / "run", 3)
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | changed))
    before = contents(tmp_path / "run")
    for use in (go_on, load_policy):
        with pytest.raises(UserError, match=f"it is of a run with {told}; put the run's own config.json back"):
            use(tmp_path / "run")
    assert contents(tmp_path / "run") == before


def test_a_checkpoint_of_other_shapes_is_refused(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", 3)
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"hidden": 16}))
    before = contents(tmp_path / "run")
    with pytest.raises(UserError, match="belongs to another task or configuration; go on with the configuration it"):
        go_on(tmp_path / "run")
    assert contents(tmp_path / "run") == before


# ---- what it is worth


def test_the_policy_of_a_run_is_that_of_its_last_update(tmp_path: Path) -> None:
    made = interrupted(tmp_path / "run", 9)
    trial, policy = load_policy(tmp_path / "run")
    asked = probe.trial()
    assert (trial.config.task, trial.hypers, trial.seed) == (asked.config.task, asked.hypers, asked.seed)
    expected = run_in_memory(probe.trial(num_updates=made)).policy
    jax.tree.map(np.testing.assert_array_equal, policy, expected)


def test_a_run_that_has_saved_nothing_has_no_policy(tmp_path: Path) -> None:
    new(tmp_path / "run")
    with pytest.raises(UserError, match="it has no checkpoint yet; train it by `urex train --resume "):
        load_policy(tmp_path / "run")


def test_what_is_told_while_it_runs(tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, 8)
    told: list[Progress] = []
    run_on_disk(*new(tmp_path / "run"), watch=told.append)
    solved_at = unbroken.result["solved_at_update"]
    assert [progress.updates for progress in told] == [1, 9, 17, 24]
    for progress in told:
        line = unbroken.metrics[progress.updates - 1]
        assert (progress.num_updates, progress.top_level) == (24, 3)
        assert (progress.level, np.float32(progress.reward)) == (line["level"], np.float32(line["reward_mean"]))
        assert progress.solved_at_update == (solved_at if progress.updates >= solved_at else None)
        assert progress.env_steps_per_s > progress.updates_per_s > 0


@pytest.mark.parametrize("name", ["fsync", "replace", "mkdir"])
def test_a_disk_that_fails_loses_nothing(
    tmp_path: Path, unbroken: Outcome, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    directory, trial = new(tmp_path / "run")

    def fail(*arguments: Any, **options: Any) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as full:
        full.setattr(os, name, fail)
        with pytest.raises(UserError, match=r"No space left on device\).* go on with `urex train --resume .*run`"):
            run_on_disk(directory, trial, checkpoint_every=0.0)
    assert go_on(directory.path).finished
    assert outcome(directory.path) == unbroken
