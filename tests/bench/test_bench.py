"""What is measured is what it says, whatever the machine; how fast is not a test's business."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import policies, tasks
from urex.bench import Throughput, measure
from urex.bench.episodes import lasting, most_lasting_action
from urex.bench.limit import flop_per_step, matrix_rate
from urex.config import Config
from urex.errors import UserError
from urex.policies import categorical
from urex.rollout import draw_uniforms, play
from urex.training.update import draw_instances
from urex.trial import Trial, prepare


def small(task: str = "copy", **more: object) -> Trial:
    return prepare(task, {"instances": 3, "samples": 2, "hidden": 8, "kernel": "xla", **more})


def row(episodes: str, trials: int = 2) -> Throughput:
    return measure(small(max_length=6), trials=trials, level=3, episodes=episodes, seconds=0.05)


def test_operations_of_a_step() -> None:
    """By hand: 3 (2 128 512 + 2 128 20) = 408,576, which the documents round to 0.41 MFLOP."""
    assert flop_per_step(Config(tasks.get("copy")), actions=20) == 408_576


def test_the_matrix_rate_is_a_rate() -> None:
    assert 1e8 < matrix_rate("xla") < 1e16


@pytest.mark.parametrize(("name", "writes"), [("copy", False), ("reversed-addition", False)])
def test_on_a_tape_episodes_last_when_nothing_is_written(name: str, writes: bool) -> None:
    task = tasks.get(name, max_length=5)
    write = policies.joint_actions(task.actions)[1][most_lasting_action(task, instances=2)]
    assert bool(write) is writes


def test_a_search_lasts_when_it_compares_with_nothing() -> None:
    task = tasks.get("binary-search", max_length=32)
    operation = policies.joint_actions(task.actions)[0][most_lasting_action(task, instances=2)]
    assert operation != 3, "CMP"


def test_lasting_policies_go_on_to_the_time_limit() -> None:
    task = tasks.get("copy", max_length=5)
    keys = jax.random.split(jax.random.key(0), 2)
    new = jax.vmap(lambda key: policies.init(key, task, hidden=8, first_layer="embedding", scale=jnp.float32(0.3)))
    instances = draw_instances(Config(task, instances=4, samples=2), keys, jnp.array([2, 3]))
    outcome = play(lasting(new(keys), task), task, instances, draw_uniforms(keys, 8), act=categorical)
    assert np.array_equal(outcome.length, instances.time_limit + 1)


def test_a_row_is_consistent() -> None:
    full, early = row("full"), row("early")
    assert (full.task, full.level, full.trials, full.kernel) == ("copy", 3, 2, "xla")
    for each in (full, early):
        assert each.executed_steps_per_s == pytest.approx(each.useful_env_steps_per_s / each.lane_utilisation)
        steps_an_update = each.episode_length * 2 * 6
        assert each.updates_per_s * steps_an_update == pytest.approx(each.useful_env_steps_per_s, rel=0.5)
        flop = each.useful_env_steps_per_s * 3 * (2 * 8 * 32 + 2 * 8 * 20)
        assert each.fraction_of_limit == pytest.approx(flop / each.matrix_flop_per_s)
        assert 0 < each.lane_utilisation <= 1
        assert each.compile_s >= 0
        assert each.peak_memory_bytes > 1e7
    assert 2 * 3 + 5 <= full.episode_length <= 2 * 5 + 5, "2w+4 steps and the one past them, w = 3 to 5"
    assert early.episode_length < full.episode_length


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"trials": 0}, "trials 0: it must be at least 1"),
        ({"trials": 10**7}, "trials 10000000: of copy about [0-9]+ find room"),
        ({"level": 31}, "level 31: this task's levels are 2 to 30"),
        ({"episodes": "ful"}, "unknown episodes 'ful': did you mean 'full'"),
        ({"seconds": 0.0}, "seconds 0: it must be more than 0"),
    ],
)
def test_what_cannot_be_measured(settings: dict[str, object], sentence: str) -> None:
    given = {"trials": 1, "level": 3, "episodes": "full", "seconds": 1.0} | settings
    with pytest.raises(UserError, match=sentence):
        measure(small(), **given)  # pyright: ignore[reportArgumentType]
