"""Runs of agents made by hand, which no test must wait to be trained."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import pytest

from tests.evaluation import reactive
from urex.runs.directory import create
from urex.runs.metrics_log import MetricsLog
from urex.runs.recorder import OnDisk, Totals
from urex.runs.run import new_state
from urex.trial import prepare

PARITY = "examples.parity:parity"


def write_run(path: Path, task: str, rule: reactive.Rule, *, scale: float = 1.0, **settings: Any) -> Path:
    """A run whose checkpoint holds the policy that follows the rule, with its parameters scaled."""
    policy = reactive.reactive(prepare(task, settings).config.task, rule)
    policy = jax.tree.map(lambda leaf: scale * leaf, policy)
    trial = prepare(task, {"first_layer": "one-hot", "hidden": policy.recurrent.shape[0], **settings})
    state = eqx.tree_at(
        lambda state: state.learner.policy, new_state(trial), jax.tree.map(lambda leaf: leaf[None], policy)
    )
    directory = create(path, trial)
    with MetricsLog(directory.metrics, 0) as metrics:
        OnDisk(directory, metrics, trial).save(state, Totals())
    return path


def say_even_at_the_end(seen: int, previous: reactive.SubActions | None) -> reactive.SubActions:
    """Of bits, that their ones are even in number: right by chance."""
    del previous  # unused: all bits are passed by
    return (1,) if seen == 2 else (0,)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of runs: `copy`, `duplicated-input`, `binary-search` and `parity`."""
    parent = tmp_path_factory.mktemp("runs")
    write_run(parent / "copy", "copy", reactive.copy)
    write_run(parent / "duplicated-input", "duplicated-input", reactive.duplicated_input)
    write_run(parent / "binary-search", "binary-search", reactive.linear_search)
    write_run(parent / "parity", PARITY, say_even_at_the_end)
    return parent
