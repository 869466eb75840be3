"""Training as a whole: one program for many settings, the same results however it is cut, and that it learns."""

import dataclasses
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import tasks, training
from urex.config import Config, Hypers, stack_hypers
from urex.learners import LEARNERS
from urex.tasks.copying import COPY
from urex.training import chunk
from urex.training.state import TrainState
from urex.training.update import update

SMALL = Config(tasks.get("copy"), instances=5, samples=4, hidden=16)
HYPERS = stack_hypers([Hypers(), Hypers(learning_rate=0.003)])


def keys(*seeds: int) -> jax.Array:
    """A key for each trial."""
    return jnp.stack([jax.random.key(seed) for seed in seeds])


def trained(config: Config, hypers: Hypers, seeds: tuple[int, ...], *counts: int) -> tuple[TrainState, list[Any]]:
    """After so many updates in each call, with the metrics of every update."""
    state, rows = training.init(config, hypers, keys(*seeds)), []
    for count in counts:
        state, log = training.advance(config, hypers, state, training.Limits(count))
        rows += [jax.tree.map(lambda leaf, i=i: np.asarray(leaf[i]), log) for i in range(count)]
    return state, rows


def assert_same(a: Any, b: Any) -> None:
    """Equal to the bit; keys by their data, and what is not a number equals itself."""
    for (path, x), y in zip(jax.tree.leaves_with_path(a), jax.tree.leaves(b), strict=True):
        if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
            x, y = jax.random.key_data(x), jax.random.key_data(y)
        np.testing.assert_array_equal(x, y, err_msg=jax.tree_util.keystr(path))


def test_how_updates_are_cut_into_calls_changes_nothing() -> None:
    one, rows = trained(SMALL, HYPERS, (0, 1), 7)
    other, same_rows = trained(SMALL, HYPERS, (0, 1), 1, 4, 2)
    assert_same(one, other)
    assert_same(rows, same_rows)


def test_a_seed_repeats_and_another_differs() -> None:
    one, _ = trained(SMALL, HYPERS, (0, 1), 3)
    again, _ = trained(SMALL, HYPERS, (0, 1), 3)
    assert_same(one, again)
    other, _ = trained(SMALL, HYPERS, (0, 2), 3)
    assert not bool((other.learner.policy.recurrent[1] == one.learner.policy.recurrent[1]).any())


def test_a_trial_is_not_touched_by_its_neighbours() -> None:
    """In the same program: another neighbour, other hyper-parameters of it, the same trial to the bit."""
    one, _ = trained(SMALL, HYPERS, (0, 1), 5)
    other, _ = trained(SMALL, stack_hypers([Hypers(), Hypers(learning_rate=0.1, tau=0.5)]), (0, 9), 5)
    first = [jax.tree.map(lambda leaf: leaf[0], state.learner) for state in (one, other)]
    assert_same(*first)


@pytest.mark.parametrize("learner", LEARNERS)
def test_nothing_but_shapes_is_compiled_in(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One trace serves every learning rate, clip, temperature (0 too), seed, level and number of updates."""
    traces, made = [], 0

    def counted(*arguments: Any) -> Any:
        traces.append(1)
        return update(*arguments)

    monkeypatch.setattr(chunk, "update", counted)
    config = Config(SMALL.task, learner=learner, objective="ment", instances=3, samples=2, hidden=4)
    for i, hypers in enumerate(
        [
            Hypers(),
            Hypers(learning_rate=0.5),
            Hypers(clip_norm=1.0),
            Hypers(tau=0.0),
            Hypers(adam_epsilon=2e-4, init_scale=1.0),
            Hypers(exploration=0.0, exploration_decay=0.5, sync_every=1),
        ]
    ):
        stacked = stack_hypers([hypers])
        state = training.init(config, stacked, keys(i))
        level = jnp.array([2 + i])
        state = eqx.tree_at(lambda s: s.curriculum.level, state, level)
        training.advance(config, stacked, state, training.Limits(i, 1000 + i, bool(i % 2)))
        made = len(traces)
        assert made <= 2, "the shapes of the metrics, and the program"
    assert made == 2


@cache
def learning(config: Config, updates: int) -> tuple[TrainState, list[Any]]:
    """Three seeds trained on a short task."""
    tau = 0.1 if config.objective == "urex" else 0.01
    return trained(config, stack_hypers([Hypers(tau=tau)] * 3), (0, 1, 2), updates)


SHORT = Config(tasks.get("copy", max_length=6), instances=10, samples=10, hidden=32, window=50)


@pytest.mark.parametrize("objective", ["urex", "ment", "reinforce"])
def test_it_learns_to_copy_short_tapes(objective: str) -> None:
    """A task with a known best: every symbol right, at the top level, in as many steps as there are cells."""
    config = dataclasses.replace(SHORT, objective=objective)
    state, rows = learning(config, 200)
    assert state.curriculum.level.tolist() == [4, 4, 4]
    assert np.median([row.reward_mean for row in rows[-20:]]) > 4.0
    assert rows[0].reward_mean.max() < 1.0


def test_double_q_learning_learns_to_copy_short_tapes() -> None:
    config = dataclasses.replace(SHORT, learner="double-q")
    state, _ = trained(config, stack_hypers([Hypers()] * 2), (0, 1), 250, 150)
    assert state.curriculum.level.tolist() == [4, 4]


def test_a_gradient_of_the_wrong_sign_does_not_learn() -> None:
    """Or the test above would prove little."""

    def worst(log_prob: jax.Array, reward: jax.Array, tau: jax.Array) -> jax.Array:
        return -(reward - reward.mean(axis=1, keepdims=True)) / reward.size + 0 * tau * log_prob

    state, _ = trained(dataclasses.replace(SHORT, objective=worst), stack_hypers([Hypers()]), (0,), 120)
    assert state.curriculum.level.tolist() == [2]


def test_it_stops_when_all_trials_are_solved_and_not_before() -> None:
    easy = tasks.TapeTask(COPY._replace(reward_threshold=3.0), max_length=6, time_limit="2w+4")
    config = dataclasses.replace(SHORT, task=easy)
    hypers = stack_hypers([Hypers()] * 2)
    state, _ = training.advance(
        config, hypers, training.init(config, hypers, keys(0, 1)), training.Limits(200, solved=True)
    )
    solved = state.success.solved_at_update
    assert int(state.updates) == int(solved.max()) < 200
    assert (solved > 0).all()


def test_a_call_ends_with_the_update_that_passes_its_steps() -> None:
    _, rows = trained(SMALL, HYPERS, (0, 1), 4)
    executed = [int(row.executed) for row in rows]
    state = training.init(SMALL, HYPERS, keys(0, 1))
    state, _ = training.advance(SMALL, HYPERS, state, training.Limits(4, executed[0] + 1))
    assert int(state.updates) == 2


def test_metrics_are_means_over_the_updates_own_episodes() -> None:
    _, rows = trained(SMALL, HYPERS, (0, 1), 2)
    for row in rows:
        assert row.env_steps.tolist() == [round(float(x) * SMALL.lanes) for x in row.episode_length]
        assert 0 < row.lane_utilisation <= 1
        assert set(row.info) == {"gradient_norm", "entropy", "importance_weight_variance", "ess"}
    np.testing.assert_allclose(rows[0].info["entropy"], np.log(20), rtol=0.2)  # 20 joint actions, about alike at first


def test_promotions_follow_the_curriculum() -> None:
    """The level of an update is fixed; what it earned holds from the next one on."""
    state, rows = learning(SHORT, 200)
    levels = np.array([row.level for row in rows])
    assert (np.diff(levels, axis=0) >= 0).all()
    assert levels[0].tolist() == [2, 2, 2]
    assert levels[-1].tolist() == state.curriculum.level.tolist()
