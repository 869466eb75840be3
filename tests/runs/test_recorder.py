"""What a run leaves behind for going on: what it has spent, and whose it is."""

from pathlib import Path

import numpy as np
import pytest

from tests.runs import probe
from urex import UserError
from urex.runs import checkpoint, recorder
from urex.runs.directory import Directory
from urex.runs.metrics_log import MetricsLog
from urex.runs.recorder import InMemory, OnDisk, Totals
from urex.runs.run import new_state
from urex.training import Chunk


def test_what_is_spent_adds_up(chunks: list[Chunk]) -> None:
    steps = [int(chunk.metrics.env_steps.sum()) for chunk in chunks]
    totals = Totals(2**40, 10.0)
    for chunk in chunks:
        totals = totals.after(chunk)
    assert totals == Totals(2**40 + sum(steps), 16.0)


def test_steps_past_31_bits_are_counted(chunks: list[Chunk]) -> None:
    many = np.full_like(chunks[2].metrics.env_steps, 2**31 - 1)
    totals = Totals().after(chunks[2]._replace(metrics=chunks[2].metrics._replace(env_steps=many)))
    assert totals.env_steps == 4 * (2**31 - 1)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    directory, trial = Directory(tmp_path), probe.trial()
    with MetricsLog(directory.metrics) as metrics:
        record = OnDisk(directory, metrics, trial)
        record.append(iter([{"update": 1}]))
        record.save(new_state(trial), Totals(5, 0.25))
        record.append(iter([{"update": 2}]))
        assert record.lines() == [{"update": 1}, {"update": 2}]
    found = recorder.load(directory.checkpoints, trial, new_state(trial))
    assert found is not None
    assert found[1:] == (Totals(5, 0.25), len(b'{"update": 1}\n'))


def test_where_nothing_was_saved_there_is_nothing(tmp_path: Path) -> None:
    assert recorder.load(tmp_path, probe.trial(), new_state(probe.trial())) is None


def test_how_far_a_run_goes_may_change_and_nothing_else() -> None:
    own = recorder.settings(probe.trial())
    assert recorder.settings(probe.trial(num_updates=99, until_solved=True)) == own
    changes = {"seed": 5, "tau": 0.2, "window": 7, "samples": 6, "centred": True, "adam_epsilon": 1e-3, "hidden": 4}
    for name, value in changes.items():
        assert recorder.settings(probe.trial(**{name: value})) == own | {name: value}


def test_a_setting_that_was_not_there_then_is_no_difference(tmp_path: Path) -> None:
    trial = probe.trial()
    then = {name: value for name, value in recorder.settings(trial).items() if name != "centred"}
    facts = {"env_steps": 0, "wall_s": 0.0, "metrics_bytes": 0}
    checkpoint.save(tmp_path, 0, new_state(trial), facts | {"settings": then})
    assert recorder.load(tmp_path, trial, new_state(trial)) is not None
    with pytest.raises(UserError, match=r"it is of a run with tau 0\.1 and not 0\.3; put the run's own config"):
        recorder.load(tmp_path, probe.trial(tau=0.3), new_state(trial))


def test_in_memory_only_the_lines_are_kept() -> None:
    record = InMemory()
    record.append(iter([{"update": 1}]))
    record.save(new_state(probe.trial()), Totals())
    record.append(iter([{"update": 2}]))
    assert record.lines() == [{"update": 1}, {"update": 2}]
