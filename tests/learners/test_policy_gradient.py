"""The policy gradient learner: which numbers go into the gradient, and what it measures."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import learners, objectives, tasks
from urex.config import Config, Hypers, stack_hypers
from urex.learners import policy_gradient
from urex.learners.policy_gradient import Scored, by_instance, entropy, importance
from urex.rollout import Outcome, draw_uniforms, pull_back, sample
from urex.training.update import draw_instances

CONFIG = Config(tasks.get("copy"), instances=3, samples=4, hidden=8)
KEYS = jax.random.split(jax.random.key(0), 2)


def batch(config: Config) -> learners.Batch:
    """Fresh instances of level 4."""
    instances = draw_instances(config, KEYS, jnp.full((2,), 4))
    return learners.Batch(instances, draw_uniforms(KEYS, config.lanes), jnp.int32(0))


@pytest.mark.parametrize("objective", objectives.OBJECTIVES)
def test_an_update_climbs_the_objectives_gradient(objective: str) -> None:
    """Seen in Adam's first moment: minus a tenth of it. Lanes are instance-major, and each trial has its tau."""
    config = Config(tasks.get("copy"), objective=objective, instances=3, samples=4, hidden=8)
    hypers = stack_hypers([Hypers(tau=0.1, clip_norm=1e9), Hypers(tau=0.5, clip_norm=1e9)])
    learner = learners.make_learner(config)
    state = jax.jit(learner.init)(KEYS, hypers)
    episodes, residuals = sample(state.policy, config.task, batch(config).instances, batch(config).uniforms)
    log_prob, reward = (x.reshape(2, 3, 4) for x in (episodes.outcome.output, episodes.outcome.total_reward))
    weigh = objectives.get(objective)
    coefficient = jnp.stack([weigh(log_prob[r], reward[r], jnp.float32([0.1, 0.5][r])).ravel() for r in range(2)])
    want = jax.jit(pull_back)(state.policy, episodes, residuals, coefficient)
    after, _ = jax.jit(lambda state: learner.update(state, hypers, batch(config)))(state)
    for got, gradient in zip(jax.tree.leaves(after.optimizer[1].mean), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(got, -0.1 * gradient, rtol=1e-3, atol=1e-6)


def test_samples_of_an_instance_share_it_and_stand_side_by_side() -> None:
    cells = np.asarray(batch(CONFIG).instances.cells).reshape(2, 3, 4, -1)
    assert (cells == cells[:, :, :1]).all()
    assert (cells[:, 0] != cells[:, 1]).any()
    assert (cells[0] != cells[1]).any()


def outcome(output: list[float], reward: list[float], length: list[int]) -> Outcome:
    """Of one trial."""
    return Outcome(jnp.array([reward]), jnp.array([output]), jnp.array([length], jnp.int32))


def test_outcomes_are_read_instance_by_instance() -> None:
    lanes = [float(i) for i in range(12)]
    scored = by_instance(CONFIG, outcome(lanes, [-x for x in lanes], [1] * 12))
    assert scored.log_prob[0].tolist() == [lanes[:4], lanes[4:8], lanes[8:]]
    assert scored.reward[0, 2].tolist() == [-8, -9, -10, -11]


def test_entropy_is_per_step_of_each_episode() -> None:
    """Not over all steps together, nor over padding: -(-2/1 - 6/3) / 2."""
    np.testing.assert_allclose(entropy(outcome([-2.0, -6.0], [0.0, 0.0], [1, 3])), [2.0])


def test_the_importance_weights_are_measured() -> None:
    """Two instances of two samples: weights (1/2, 1/2) and (1, 0), so K w is (1, 1) and (2, 0)."""
    scored = Scored(jnp.array([[[-1.0, -1.0], [0.0, 900.0]]]), jnp.array([[[1.0, 1.0], [0.0, 0.0]]]))
    measured = importance(scored, jnp.array([0.1]))
    np.testing.assert_allclose(measured["importance_weight_variance"], [0.5], atol=1e-6)
    np.testing.assert_allclose(measured["ess"], [1.5], atol=1e-6)
    nothing = importance(scored, jnp.array([0.0]))
    assert all(np.isnan(value).all() for value in nothing.values())


def test_the_learner_has_no_other_state_than_policy_and_optimizer() -> None:
    learner = policy_gradient(CONFIG)
    state = jax.eval_shape(learner.init, KEYS, stack_hypers([Hypers()] * 2))
    assert set(state._fields) == {"policy", "optimizer"}
