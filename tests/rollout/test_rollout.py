"""Rollouts against one written plainly: outputs, sums, gradients; and what must change nothing."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.rollout import plain
from urex import policies, tasks
from urex.policies import greedy
from urex.rollout import Episodes, Residuals, draw_uniforms, play, pull_back, replay, sample, value
from urex.rollout.sample import BLOCK

TRIALS, LANES, HIDDEN = 2, 5, 8


def new_policies(task: tasks.Task, first_layer: str = "embedding", trials: int = TRIALS) -> policies.Policy:
    """A small policy a trial, with outputs far from uniform."""

    def one(key: jax.Array) -> policies.Policy:
        policy = policies.init(key, task, hidden=HIDDEN, first_layer=first_layer, scale=jnp.float32(1.0))
        return jax.tree.map(lambda leaf: 2.0 * leaf, policy)

    return jax.vmap(one)(jax.random.split(jax.random.key(7), trials))


def new_instances(task: tasks.Task, level: int, trials: int = TRIALS, lanes: int = LANES) -> Any:
    """Random instances of a level."""
    draw = jax.vmap(jax.vmap(lambda key: task.sample(key, jnp.int32(level))))
    return draw(jax.random.split(jax.random.key(1), (trials, lanes)))


def wander(outputs: jax.Array, uniform: jax.Array) -> jax.Array:
    """Write seldom, so that episodes last."""
    return jnp.where(uniform < 0.9, jnp.int32(10 * uniform) % 2 * 10, policies.categorical(outputs, uniform))


@cache
def rolled(name: str, first_layer: str = "embedding") -> tuple[tasks.Task, policies.Policy, Episodes, Residuals]:
    """Episodes of several lengths."""
    task = tasks.get(name)
    policy, instances = new_policies(task, first_layer), new_instances(task, 8)
    uniforms = draw_uniforms(jax.random.split(jax.random.key(3), TRIALS), LANES)
    episodes, residuals = jax.jit(lambda: sample(policy, task, instances, uniforms, act=wander))()
    return task, policy, episodes, residuals


def trial(tree: Any, r: int) -> Any:
    """One trial's part."""
    return jax.tree.map(lambda leaf: leaf[r], tree)


def lane(episodes: Episodes, r: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """What was seen and done in one lane until its episode was over."""
    length = int(episodes.outcome.length[r, b])
    return np.asarray(episodes.steps.observation)[r, :length, b], np.asarray(episodes.steps.action)[r, :length, b]


def test_the_lanes_of_the_test_differ() -> None:
    """Or what follows would prove little: lengths within a block and across blocks."""
    length = np.asarray(rolled("copy")[2].outcome.length)
    assert len(np.unique(length)) > 4
    assert length.min() < BLOCK < length.max()
    assert length.max() % BLOCK


@pytest.mark.parametrize("name", ["copy", "reversed-addition"])
@pytest.mark.parametrize("first_layer", policies.FIRST_LAYERS)
def test_outputs_and_their_sums_are_those_of_the_plain_rollout(name: str, first_layer: str) -> None:
    _, policy, episodes, _ = rolled(name, first_layer)
    for r in range(TRIALS):
        for b in range(LANES):
            steps, length = trial(episodes.steps, r), int(episodes.outcome.length[r, b])
            want = jax.jit(plain.outputs_along)(trial(policy, r), steps.observation[:, b], steps.action[:, b])
            np.testing.assert_allclose(steps.outputs[:length, b], want[:length], rtol=2e-4, atol=2e-5)
            logits, done = np.asarray(want, np.float64), np.asarray(steps.action)
            log_prob = sum(logits[t, done[t, b]] - np.log(np.exp(logits[t]).sum()) for t in range(length))
            np.testing.assert_allclose(episodes.outcome.output[r, b], log_prob, rtol=1e-4)


def test_rewards_and_lengths_are_those_of_the_task() -> None:
    task, _, episodes, _ = rolled("copy")
    instances = new_instances(task, 8)
    step = jax.jit(task.step)
    for r in range(TRIALS):
        for b in range(LANES):
            instance = jax.tree.map(lambda leaf, r=r, b=b: leaf[r, b], instances)
            state, total, over, t = task.start(instance), 0.0, False, 0
            while not over:
                joint = int(episodes.steps.action[r, t, b])
                action = tuple(jnp.int32(part[joint]) for part in policies.joint_actions(task.actions))
                assert int(episodes.steps.observation[r, t, b]) == int(task.observe(instance, state))
                state, reward, over = step(instance, state, action)
                total, t = total + float(reward), t + 1
            assert (total, t) == (float(episodes.outcome.total_reward[r, b]), int(episodes.outcome.length[r, b]))


def plain_gradient(policy: policies.Policy, episodes: Episodes, weight: Any, r: int, *, logs: bool = True) -> Any:
    """The gradient of one trial, by JAX."""
    steps, length = trial(episodes.steps, r), episodes.outcome.length[r]
    return jax.grad(plain.weighted)(trial(policy, r), steps.observation, steps.action, length, weight, logs=logs)


def assert_gradients_agree(got: policies.Policy, want: policies.Policy) -> None:
    for (path, a), b in zip(jax.tree.leaves_with_path(got), jax.tree.leaves(want), strict=True):
        scale = max(float(abs(b).max()), 1e-3)
        np.testing.assert_allclose(a, b, atol=2e-4 * scale, rtol=2e-3, err_msg=jax.tree_util.keystr(path))


@pytest.mark.parametrize("name", ["copy", "reversed-addition"])
@pytest.mark.parametrize("first_layer", policies.FIRST_LAYERS)
def test_the_gradient_is_that_of_the_plain_rollout(name: str, first_layer: str) -> None:
    """One weight an episode; weights of both signs, so that a lost sign or mask shows."""
    _, policy, episodes, residuals = rolled(name, first_layer)
    weight = jax.random.normal(jax.random.key(5), (TRIALS, LANES))
    got = jax.jit(pull_back)(policy, episodes, residuals, weight)
    for r in range(TRIALS):
        assert_gradients_agree(trial(got, r), plain_gradient(policy, episodes, weight[r][None], r))


def test_the_gradient_with_a_weight_a_step_is_that_of_the_plain_rollout() -> None:
    _, policy, episodes, residuals = rolled("copy")
    weight = jax.random.normal(jax.random.key(6), episodes.steps.action.shape)
    got = jax.jit(pull_back)(policy, episodes, residuals, weight)
    assert_gradients_agree(trial(got, 1), plain_gradient(policy, episodes, weight[1], 1))


def test_the_gradient_of_a_chosen_output_is_that_of_the_plain_rollout() -> None:
    """As double Q-learning asks for it."""
    _, policy, episodes, residuals = rolled("copy")
    weight = jax.random.normal(jax.random.key(8), episodes.steps.action.shape)
    got = pull_back(policy, episodes, residuals, weight, output=value)
    assert_gradients_agree(trial(got, 0), plain_gradient(policy, episodes, weight[0], 0, logs=False))


def test_the_gradient_equals_finite_differences() -> None:
    """In 64 bits, along random directions, with the actions held fixed."""
    _, policy, episodes, residuals = rolled("copy")
    weight = jax.random.normal(jax.random.key(5), (TRIALS, LANES))
    got = trial(pull_back(policy, episodes, residuals, weight), 0)
    steps, length = trial(episodes.steps, 0), episodes.outcome.length[0]
    with jax.enable_x64(True):
        start = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), trial(policy, 0))
        given = steps.observation, steps.action, length, jnp.asarray(weight[0], jnp.float64)[None]
        for seed in range(3):
            generator = np.random.default_rng(seed)
            direction = jax.tree.map(lambda leaf, draw=generator.normal: draw(size=leaf.shape), start)
            ahead, behind = (
                float(plain.weighted(jax.tree.map(lambda p, d, by=by: p + by * d, start, direction), *given))
                for by in (1e-5, -1e-5)
            )
            slope = sum(float((a * b).sum()) for a, b in zip(*map(jax.tree.leaves, (got, direction)), strict=True))
            assert (ahead - behind) / 2e-5 == pytest.approx(slope, rel=1e-3)


def test_what_lies_past_an_episode_changes_nothing() -> None:
    """Neither in the buffers nor in the weights: padding is never read."""
    _, policy, episodes, residuals = rolled("copy")
    weight = jax.random.normal(jax.random.key(6), episodes.steps.action.shape)
    past = jnp.arange(weight.shape[1])[None, :, None] >= episodes.outcome.length[:, None, :]
    dirty = episodes.steps._replace(
        outputs=jnp.where(past[..., None], 123.0, episodes.steps.outputs),
        action=jnp.where(past, 3, episodes.steps.action),
        observation=jnp.where(past, 1, episodes.steps.observation),
        reward=jnp.where(past, 99.0, episodes.steps.reward),
    )
    clean = pull_back(policy, episodes, residuals, weight)
    got = pull_back(policy, episodes._replace(steps=dirty), residuals, jnp.where(past, 1e6, weight))
    assert_gradients_agree(got, clean)


def test_the_order_of_the_lanes_changes_nothing() -> None:
    _, policy, episodes, residuals = rolled("copy")
    weight = jax.random.normal(jax.random.key(5), (TRIALS, LANES))
    order = jnp.array([3, 0, 4, 1, 2])
    outcome = jax.tree.map(lambda leaf: leaf[:, order], episodes.outcome)
    steps = jax.tree.map(lambda leaf: leaf[:, :, order], episodes.steps)
    shuffled = Episodes(outcome, steps, episodes.executed), jax.tree.map(lambda leaf: leaf[:, :, order], residuals)
    assert_gradients_agree(
        pull_back(policy, *shuffled, weight[:, order]), pull_back(policy, episodes, residuals, weight)
    )


def test_the_loop_stops_with_the_longest_episode() -> None:
    task, _, episodes, _ = rolled("copy")
    assert int(episodes.executed) == int(episodes.outcome.length.max()) < task.max_steps


def test_a_trial_alone_takes_the_same_actions() -> None:
    """Its random numbers are its own, and its steps are computed alike."""
    task, policy, episodes, _ = rolled("copy")
    keys = jax.random.split(jax.random.key(3), TRIALS)
    own_policy, instances = jax.tree.map(lambda leaf: leaf[1:], (policy, new_instances(task, 8)))
    got, _ = sample(own_policy, task, instances, draw_uniforms(keys[1:], LANES), act=wander)
    np.testing.assert_array_equal(got.outcome.length[0], episodes.outcome.length[1])
    for b in range(LANES):
        np.testing.assert_array_equal(lane(got, 0, b)[1], lane(episodes, 1, b)[1])


def test_random_numbers_depend_on_trial_step_and_lane_alone() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    many, few = draw_uniforms(keys, 400), draw_uniforms(keys[1:2], 7)
    np.testing.assert_array_equal(many(jnp.int32(5))[1, :7], few(jnp.int32(5))[0])
    assert not bool((many(jnp.int32(5)) == many(jnp.int32(6))).any())


def test_replaying_under_the_same_policy_gives_the_same_outputs() -> None:
    _, policy, episodes, _ = rolled("copy")
    real = jnp.arange(episodes.steps.action.shape[1])[None, :, None] < episodes.outcome.length[:, None, :]
    again = jnp.where(real[..., None], replay(policy, episodes), 0.0)
    np.testing.assert_allclose(again, jnp.where(real[..., None], episodes.steps.outputs, 0.0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("act", [policies.categorical, greedy])
def test_playing_comes_to_what_sampling_comes_to(act: policies.ActionRule) -> None:
    task = tasks.get("reverse")
    policy, instances = new_policies(task), new_instances(task, 5)
    uniforms = draw_uniforms(jax.random.split(jax.random.key(4), TRIALS), LANES)
    episodes, _ = sample(policy, task, instances, uniforms, act=act)
    outcome = play(policy, task, instances, uniforms, act=act)
    np.testing.assert_array_equal(outcome.length, episodes.outcome.length)
    np.testing.assert_array_equal(outcome.total_reward, episodes.outcome.total_reward)
    np.testing.assert_allclose(outcome.output, episodes.outcome.output, rtol=1e-5)
