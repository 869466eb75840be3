"""`urex.train`: in memory or on disk, of any task and objective, with one sentence for every mistake."""

import math
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import urex
from tests.runs import probe
from tests.runs.outcome import TIMES, Outcome, outcome
from tests.runs.probe import SETTINGS, Echo
from urex import UserError, objectives
from urex.runs import Progress, Result, load_policy, resume
from urex.runs.directory import read_trial


def timeless(result: Result) -> list[dict[str, Any]]:
    """The lines, but for the times."""
    return [{name: value for name, value in line.items() if name not in TIMES} for line in result.log]


def test_in_memory_it_is_the_run_that_would_be_on_disk(unbroken: Outcome) -> None:
    told: list[Progress] = []
    result = urex.train(probe.NAME, watch=told.append, **SETTINGS)
    assert timeless(result) == unbroken.metrics
    assert {name: value for name, value in result.summary.items() if name not in TIMES} == unbroken.result
    assert (result.solved, result.finished, told[-1].updates) == (True, True, 24)


def test_on_disk_it_is_that_run(tmp_path: Path, unbroken: Outcome) -> None:
    for out in (tmp_path / "a", str(tmp_path / "b")):
        result = urex.train(probe.NAME, out=out, **SETTINGS)
        assert outcome(Path(out)) == unbroken
        assert read_trial(Path(out))[1] == probe.trial()
        jax.tree.map(np.testing.assert_array_equal, load_policy(Path(out))[1], result.policy)


def test_a_run_on_disk_can_be_gone_on_with(tmp_path: Path, unbroken: Outcome) -> None:
    short = {**SETTINGS, "num_updates": 9, "until_solved": True}
    urex.train(probe.NAME, out=tmp_path / "run", **short)
    assert resume(tmp_path / "run").log == resume(str(tmp_path / "run")).log
    told: list[Progress] = []
    assert timeless(resume(tmp_path / "run", num_updates=24, watch=told.append)) == unbroken.metrics
    assert (told[0].updates, told[-1].updates) == (10, 24)
    assert outcome(tmp_path / "run") == unbroken
    with pytest.raises(UserError, match=r"num_updates 23: the run in .* has made 24 already"):
        resume(tmp_path / "run", num_updates=23)


def test_the_seed_decides_everything(unbroken: Outcome) -> None:
    again, other = (urex.train(probe.NAME, **{**SETTINGS, "seed": seed}) for seed in (4, 5))
    assert timeless(again) == unbroken.metrics
    assert timeless(other) != unbroken.metrics
    assert other.log[0]["gradient_norm"] != again.log[0]["gradient_norm"]


def test_a_task_may_be_an_object(unbroken: Outcome) -> None:
    result = urex.train(Echo(), **SETTINGS)
    assert timeless(result) == unbroken.metrics
    assert result.summary["task"] == "Echo"


def test_an_objective_may_be_a_function(unbroken: Outcome) -> None:
    taus: list[Any] = []

    def mine(log_prob: jax.Array, reward: jax.Array, tau: jax.Array) -> jax.Array:
        taus.append(tau)
        return objectives.urex(log_prob, reward, tau)

    assert timeless(urex.train(probe.NAME, objective=mine, **SETTINGS)) == unbroken.metrics
    assert taus


def test_a_run_on_disk_names_its_task(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"task Echo\(.*: a run on disk names its task; register it with `urex.tasks.r"):
        urex.train(Echo(), out=tmp_path / "run", **SETTINGS)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"learning_rates": 0.1}, "unknown setting 'learning_rates': did you mean 'learning_rate'? known are "),
        ({"updates": 10}, "unknown setting 'updates': did you mean 'num_updates'? known are "),
        ({"objective": "rienforce"}, "unknown objective 'rienforce': did you mean 'reinforce'? known are "),
        ({"objective": 3}, "objective 3: it must be a name"),
        ({"learner": "double_q"}, "unknown learner 'double_q': did you mean 'double-q'? known are "),
        ({"first_layer": "onehot"}, "unknown first layer 'onehot': did you mean 'one-hot'? known are "),
        ({"tau": 0.0}, "tau 0.0: objective 'urex' divides rewards by it, so it must be above 0; give 0.1, say"),
        ({"tau": -0.1}, "tau -0.1: it must be a finite number 0 or greater"),
        ({"tau": math.nan}, "tau nan: it must be a finite number 0 or greater"),
        ({"tau": "0.1"}, "tau '0.1': it must be a number"),
        ({"learning_rate": -0.01}, "learning_rate -0.01: it must be a finite number greater than 0"),
        ({"learning_rate": 0}, "learning_rate 0: it must be a finite number greater than 0"),
        ({"learning_rate": math.inf}, "learning_rate inf: it must be a finite number greater than 0"),
        ({"learning_rate": [0.1, 0.01]}, "learning_rate [0.1, 0.01]: it must be a number"),
        ({"clip_norm": 0.0}, "clip_norm 0: it must be a finite number greater than 0"),
        ({"init_scale": math.nan}, "init_scale nan: it must be a finite number greater than 0"),
        ({"adam_epsilon": -1e-8}, "adam_epsilon -1e-08: it must be a finite number greater than 0"),
        ({"learner": "double-q", "exploration": 1.5}, "exploration 1.5: it must be between 0 and 1"),
        ({"learner": "double-q", "sync_every": 0}, "sync_every 0: it must be 1 to "),
        ({"num_updates": 0}, "num_updates 0: it must be at least 1"),
        ({"num_updates": 10.0}, "num_updates 10.0: it must be a whole number"),
        ({"seed": -1}, "seed -1: it must be 0 to 4294967295"),
        ({"seed": 2**32}, "seed 4294967296: it must be 0 to 4294967295"),
        ({"seed": "1"}, "seed '1': it must be a whole number"),
        ({"instances": 0}, "instances 0: it must be at least 1"),
        ({"samples": 1}, "samples 1: objectives compare samples of one instance; draw at least 2"),
        ({"hidden": 0}, "hidden 0: it must be at least 1"),
        ({"window": 0}, "curriculum window 0: it must be at least 1 episode"),
        ({"max_length": 3}, "max_length 3: it must be at least 4, the longest tape of the first level"),
        ({"time_limit": "2w"}, "time limit '2w': it must be steps per cell plus spare steps; write it like "),
        ({"until_solved": 1}, "until_solved 1: it must be True or False"),
        ({"centred": None}, "centred None: it must be True or False"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_sentence(settings: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        urex.train("copy", out=tmp_path / "run", **settings)
    assert str(raised.value).startswith(told)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_an_unknown_task_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown task 'revers': did you mean 'reverse'"):
        urex.train("revers")


@pytest.mark.parametrize("option", [{"max_length": 8}, {"time_limit": "3w+4"}])
def test_options_of_a_task_come_too_late_for_an_object(option: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"{next(iter(option))} .*: the task is made already; make it with that, or g"):
        urex.train(Echo(), **option)


@pytest.mark.slow
def test_the_example_learns_to_copy() -> None:
    result = urex.train("copy", num_updates=200, seed=0)
    assert result.solved
    assert result.summary["solved_at_update"] < 100
