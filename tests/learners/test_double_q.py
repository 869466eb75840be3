"""Double Q-learning: its targets against a loop, its network's renewals, and its exploration."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from urex import learners, tasks
from urex.config import Config, Hypers, stack_hypers
from urex.learners.double_q import td_error
from urex.rollout import draw_uniforms, replay, sample, value
from urex.training.update import draw_instances

CONFIG = Config(tasks.get("copy"), learner="double-q", instances=3, samples=2, hidden=8)
HYPERS = stack_hypers([Hypers(exploration=0.5, exploration_decay=0.9, sync_every=3)] * 2)
KEYS = jax.random.split(jax.random.key(0), 2)
LEARNER = learners.make_learner(CONFIG)
INIT = jax.jit(LEARNER.init)


@jax.jit
def updated(state: Any, hypers: Hypers, update: Any) -> tuple[Any, learners.Experience]:
    """After one update."""
    return LEARNER.update(state, hypers, batch(update))


def batch(update: Any) -> learners.Batch:
    """Fresh instances of level 4."""
    instances = draw_instances(CONFIG, KEYS, jnp.full((2,), 4))
    return learners.Batch(instances, draw_uniforms(jax.random.split(jax.random.key(update), 2), 6), jnp.int32(update))


def test_errors_are_those_of_a_loop_over_steps() -> None:
    """y = r + Q'(s', argmax Q(s', .)), and r alone at the last step; 0 past it."""
    online, other = INIT(KEYS, HYPERS).policy, INIT(KEYS[::-1], HYPERS).policy
    episodes, _ = sample(online, CONFIG.task, batch(0).instances, batch(0).uniforms, output=value)
    target = replay(other, episodes)
    got = np.asarray(td_error(episodes, target))
    outputs, actions, rewards = (
        np.asarray(x) for x in (episodes.steps.outputs, episodes.steps.action, episodes.steps.reward)
    )
    length = np.asarray(episodes.outcome.length)
    assert length.max() > length.min() > 0
    for r, t, b in np.ndindex(got.shape):
        if t >= length[r, b]:
            assert got[r, t, b] == 0
            continue
        y = rewards[r, t, b]
        if t + 1 < length[r, b]:
            y += target[r, t + 1, b, outputs[r, t + 1, b].argmax()]
        np.testing.assert_allclose(got[r, t, b], y - outputs[r, t, b, actions[r, t, b]], rtol=1e-4, atol=1e-6)


def same(a: object, b: object) -> bool:
    """Whether two trees are equal to the bit."""
    return all(bool((x == y).all()) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def test_the_target_is_renewed_every_few_updates() -> None:
    state = INIT(KEYS, HYPERS)
    for update in range(5):
        before = state
        state, _ = updated(state, HYPERS, update)
        assert not same(state.policy, before.policy)
        assert same(state.target, before.policy if update % 3 == 0 else before.target)


def test_exploration_decays() -> None:
    state = INIT(KEYS, HYPERS)
    _, experience = updated(state, HYPERS, 4)
    np.testing.assert_allclose(experience.info["exploration"], 0.5 * 0.9**4, rtol=1e-5)


def test_an_update_lessens_the_error_on_its_own_episodes() -> None:
    """With a small step against the same target: the sign of the gradient is right."""
    hypers = HYPERS._replace(learning_rate=jnp.full((2,), 1e-3))
    state = INIT(KEYS, hypers)
    after, experience = updated(state, hypers, 0)
    episodes, _ = sample(state.policy, CONFIG.task, batch(0).instances, batch(0).uniforms, output=value)
    target = replay(state.target, episodes)
    moved = episodes._replace(steps=episodes.steps._replace(outputs=replay(after.policy, episodes)))
    chosen = td_error(episodes, target) + value(episodes.steps.outputs, episodes.steps.action)  # y, held fixed
    real = jnp.arange(chosen.shape[1])[None, :, None] < episodes.outcome.length[:, None, :]
    loss = [
        float(jnp.where(real, (chosen - value(each.steps.outputs, each.steps.action)) ** 2, 0.0).sum())
        for each in (episodes, moved)
    ]
    assert loss[1] < loss[0]
    assert experience.info["td_error"].shape == (2,)
