"""A traced episode is the one that was played, step by step."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests import builtin
from tests.episode import Played
from tests.evaluation import reactive
from urex import tasks
from urex.evaluation import Trace, trace_episode
from urex.policies import categorical, greedy, init
from urex.rollout import draw_uniforms, sample
from urex.tasks import SizedTask, Task

NAMES = [*builtin.NAMES, "examples.parity:parity"]


def traced(task: Task, act: Any, seed: int) -> Trace:
    """An episode of a new policy."""
    key, instance_key = jax.random.split(jax.random.key(seed))
    policy = init(key, task, first_layer="embedding", scale=jnp.float32(1))
    instance = task.sample(instance_key, jnp.int32(task.levels.first))
    return trace_episode(policy, task, instance, key=key, act=act)


@pytest.mark.parametrize(("name", "act"), [*((name, categorical) for name in NAMES), ("copy", greedy)])
def test_playing_the_actions_gives_the_states_observations_and_rewards(name: str, act: Any) -> None:
    task = tasks.get(name)
    trace = traced(task, act, seed=1)
    episode = Played(task, jax.tree.map(jnp.asarray, trace.instance))
    for t, action in enumerate(trace.action.tolist()):
        assert trace.observation[t] == episode.observation
        jax.tree.map(np.testing.assert_array_equal, jax.tree.map(lambda x, t=t: x[t], trace.states), episode.state)
        assert not episode.done
        episode.step(*action)
        assert trace.reward[t] == pytest.approx(episode.reward, abs=1e-6)
    assert episode.done
    assert trace.observation[-1] == episode.observation
    jax.tree.map(np.testing.assert_array_equal, jax.tree.map(lambda x: x[-1], trace.states), episode.state)
    assert trace.total_reward == pytest.approx(episode.total_reward, abs=1e-5)
    steps = len(trace.reward)
    assert all(len(x) == steps + 1 for x in jax.tree.leaves((trace.states, trace.observation)))
    assert trace.probability.shape == trace.action.shape[:1] == (steps,)
    assert all(isinstance(x, np.ndarray) for x in jax.tree.leaves((trace.states, trace[2:])))


def test_it_is_the_episode_that_a_rollout_with_the_same_randomness_has() -> None:
    task = tasks.get("repeat-copy")
    key = jax.random.key(2)
    policy = init(key, task, first_layer="one-hot", scale=jnp.float32(3))
    one, lane = (lambda tree, axes=axes: jax.tree.map(lambda x: x[axes], tree) for axes in (None, (None, None)))
    rollout = jax.jit(
        lambda instance, key: sample(one(policy), task, lane(instance), draw_uniforms(key[None], 1), act=categorical)[0]
    )
    lengths = set()
    for seed in range(5):
        instance, key = task.sample(jax.random.key(seed), jnp.int32(3)), jax.random.key(seed)
        trace = trace_episode(policy, task, instance, key=key, act=categorical)
        episodes = rollout(instance, key)
        steps = int(episodes.outcome.length[0, 0])
        assert len(trace.reward) == steps
        joint = np.ravel_multi_index(trace.action.T, task.actions)
        np.testing.assert_array_equal(joint, episodes.steps.action[0, :steps, 0])
        assert np.log(trace.probability).sum() == pytest.approx(float(episodes.outcome.output[0, 0]), rel=1e-5)
        lengths.add(steps)
    assert len(lengths) > 1


def test_the_longest_episode_there_can_be_is_kept_whole() -> None:
    task = tasks.get("copy", max_length=10)
    assert isinstance(task, SizedTask)
    idle = reactive.reactive(task, lambda *_: (reactive.LEFT, 0, 0))
    trace = trace_episode(idle, task, task.sample_length(jax.random.key(0), jnp.int32(10)), key=jax.random.key(0))
    assert len(trace.reward) == task.max_steps == 25
    assert trace.reward.tolist() == [0.0] * 24 + [-1.0]
    assert trace.states.column.tolist() == [-t for t in range(26)]
    assert trace.states.over.tolist() == [False] * 25 + [True]


def test_a_sure_policy_takes_its_actions_with_probability_one() -> None:
    task = tasks.get("copy")
    instance = task.sample(jax.random.key(0), jnp.int32(4))
    trace = trace_episode(reactive.reactive(task, reactive.copy), task, instance, key=jax.random.key(0))
    np.testing.assert_allclose(trace.probability, 1.0, atol=1e-4)
    assert trace.action[:, 2].tolist() == instance.cells[: int(instance.length)].tolist()
    assert trace.total_reward == int(instance.length)
