"""The ragged loops against the reference, on the same random numbers; and what must change nothing."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.kernels.episodes import HIDDEN, Batch, Wait, assert_agree, assert_near, assert_same, batch, fresh, updated
from tests.runs.probe import Echo
from urex import tasks, training
from urex.config import Config, Hypers, stack_hypers
from urex.kernels import XLA, Sizes
from urex.kernels.ragged import RAGGED
from urex.kernels.ragged.stages import NARROWEST, widths
from urex.training import chunk
from urex.training.update import update


@pytest.mark.parametrize(
    ("task", "trials", "lanes", "first_layer"),
    [
        (tasks.get("copy", max_length=10), 3, 101, "embedding"),
        pytest.param(tasks.get("reversed-addition3", max_length=10), 1, 24, "one-hot", marks=pytest.mark.slow),
        pytest.param(tasks.get("binary-search"), 2, 50, "embedding", marks=pytest.mark.slow),
        pytest.param(Echo(), 5, 30, "embedding", marks=pytest.mark.slow),
        (Wait(), 2, 1, "embedding"),
        (Wait(), 1, NARROWEST - 1, "one-hot"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, tasks.Task) else str(value),
)
def test_it_is_the_reference_to_rounding(task: tasks.Task, trials: int, lanes: int, first_layer: str) -> None:
    given = batch(task, trials, lanes, first_layer=first_layer, level=min(8, task.levels.top))
    got, want = fresh(RAGGED, task, given), fresh(XLA, task, given)
    assert_agree(got, want)
    assert got.rounds == want.rounds == want.outcome.length.max()
    assert want.outcome.length.sum() <= got.lane_steps <= want.lane_steps


def test_those_episodes_end_soon_and_late_and_at_the_limit() -> None:
    """Or agreeing on them would prove little: every stage is run, by some trial that has wide and narrow ones."""
    task = tasks.get("copy", max_length=10)
    given = batch(task, 3, 101)
    length = np.asarray(fresh(XLA, task, given).outcome.length)
    assert length.min() == 1
    assert (length == np.asarray(given.instances.time_limit) + 1).any()
    assert len(widths(101)) == 4
    live = [(length > t).sum(axis=1) for t in range(task.max_steps)]
    assert any(0 < count <= widths(101)[-1] for row in live for count in row)


def waiting(*lengths: list[int]) -> Batch:
    """Trials with episodes of these lengths."""
    return batch(Wait(), len(lengths), len(lengths[0]))._replace(instances=jnp.array(lengths, jnp.int32))


def test_the_steps_are_counted() -> None:
    """Of 48, 24 and 12 lanes: 2 steps until 24 are left, 1 more until 12 are, then 4; and 5 until none is."""
    found = fresh(RAGGED, Wait(), waiting([7] * 12 + [2] * 24 + [3] * 12, [5] * 48))
    assert widths(48) == (48, 24, 12)
    assert found.rounds == 7
    assert found.lane_steps == (2 * 48 + 1 * 24 + 4 * 12) + 5 * 48
    np.testing.assert_array_equal(found.outcome.length[0], [7] * 12 + [2] * 24 + [3] * 12)


@pytest.mark.parametrize("steps", [1, 9], ids=["at once", "at the limit"])
def test_all_may_end_together(steps: int) -> None:
    given = waiting([steps] * 60, [steps] * 60)
    found = fresh(RAGGED, Wait(), given)
    assert_agree(found, fresh(XLA, Wait(), given))
    assert (found.rounds, found.lane_steps) == (steps, 2 * 60 * steps)


def test_an_episode_that_no_step_ends_is_cut_off() -> None:
    given = waiting([100] * 30)
    found = fresh(RAGGED, Wait(), given)
    assert_agree(found, fresh(XLA, Wait(), given))
    assert (found.outcome.length == 9).all()


def test_what_is_on_the_tape_changes_nothing() -> None:
    """What earlier updates left there, and even what is not a number: short episodes come after long ones."""
    task, given = Wait(), waiting([3] * 20 + [1] * 20, [2] * 40)
    clean = RAGGED.space(task, Sizes(2, 40, HIDDEN))
    first = updated(RAGGED, task, given, clean)
    dirty = jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.nan if leaf.dtype == jnp.float32 else -1), clean)
    used = updated(RAGGED, task, waiting([9] * 40, [7] * 20 + [8] * 20), clean).space
    for space in (dirty, used):
        assert_same(updated(RAGGED, task, given, space)._replace(space=None), first._replace(space=None))


def test_the_order_of_lanes_changes_nothing() -> None:
    task = Echo()
    given, order = batch(task, 2, 50, level=3), np.random.default_rng(0).permutation(50)
    moved = given._replace(
        instances=jax.tree.map(lambda leaf: leaf[:, order], given.instances),
        uniforms=jax.tree_util.Partial(lambda uniforms, t: uniforms(t)[:, order], given.uniforms),
        cotangent=given.cotangent[:, order],
    )
    one, other = fresh(RAGGED, task, given), fresh(RAGGED, task, moved)
    np.testing.assert_array_equal(other.outcome.length, one.outcome.length[:, order])
    np.testing.assert_allclose(other.outcome.output, one.outcome.output[:, order], rtol=1e-5, atol=1e-5)
    assert_near(other.gradient, one.gradient)


@pytest.mark.slow
def test_a_trial_is_the_same_among_others() -> None:
    """Its steps too: it does not wait for theirs."""
    task = Echo()
    given = batch(task, 3, 30, level=3)
    together = fresh(RAGGED, task, given)
    alone = [fresh(RAGGED, task, jax.tree.map(lambda leaf, r=r: leaf[r : r + 1], given)) for r in range(3)]
    for r, one in enumerate(alone):
        assert_near(jax.tree.map(lambda leaf, r=r: leaf[r : r + 1], together.gradient), one.gradient)
    assert together.lane_steps == sum(one.lane_steps for one in alone)
    assert together.rounds == max(one.rounds for one in alone)
    assert len({float(one.rounds) for one in alone}) > 1


def test_a_trial_that_diverged_harms_no_other() -> None:
    """They write to the same memory one after another."""
    task, given = Wait(), waiting([9] * 30, [2] * 30)
    spoilt = eqx.tree_at(lambda given: given.policy.recurrent, given, given.policy.recurrent.at[0].set(jnp.nan))
    second = [jax.tree.map(lambda leaf: leaf[1], fresh(RAGGED, task, each).gradient) for each in (given, spoilt)]
    assert_same(second[1], second[0])


# ---- in training

SMALL = Config(Echo(), instances=5, samples=6, hidden=16)
HYPERS = stack_hypers([Hypers(), Hypers(learning_rate=0.003)])


def trained(config: Config, updates: int) -> tuple[Any, Any]:
    """Two trials after so many updates, and the metrics of these."""
    state = training.init(config, HYPERS, jax.random.split(jax.random.key(0), 2))
    state = eqx.tree_at(lambda s: s.curriculum.level, state, jnp.full((2,), 3, jnp.int32))
    state, log = training.advance(config, HYPERS, state, training.Limits(updates))
    return state.learner.policy, jax.tree.map(lambda rows: np.asarray(rows)[:updates], log)


@pytest.mark.slow
def test_training_begins_as_under_the_reference() -> None:
    (policy, log), (same_policy, same_log) = (
        trained(dataclasses.replace(SMALL, kernel=kernel), 6) for kernel in (RAGGED, XLA)
    )
    np.testing.assert_array_equal(log.env_steps, same_log.env_steps)
    np.testing.assert_array_equal(log.reward_mean, same_log.reward_mean)
    np.testing.assert_allclose(log.info["gradient_norm"], same_log.info["gradient_norm"], rtol=1e-4)
    assert_near(policy, same_policy, 1e-3)
    assert (log.lane_utilisation > same_log.lane_utilisation).all()


def test_one_program_serves_episodes_of_all_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = []

    def counted(*arguments: Any) -> Any:
        traces.append(1)
        return update(*arguments)

    monkeypatch.setattr(chunk, "update", counted)
    config = dataclasses.replace(SMALL, instances=6, kernel=RAGGED)
    state = training.init(config, HYPERS, jax.random.split(jax.random.key(0), 2))
    for level in (0, 3):
        state = eqx.tree_at(lambda s: s.curriculum.level, state, jnp.full((2,), level, jnp.int32))
        state, _ = training.advance(config, HYPERS, state, training.Limits(3))
    assert len(traces) == 2, "the shapes of the metrics, and the program"
