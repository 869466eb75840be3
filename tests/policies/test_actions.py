"""Joint actions, and the rules that choose one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from urex.policies import categorical, epsilon_greedy, greedy, joint_actions, split_action


def test_joint_actions_are_split_into_their_parts() -> None:
    sizes = (4, 2, 3)
    parts = joint_actions(sizes)
    assert [part.tolist()[:7] for part in parts] == [
        [0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 1, 1, 1, 0],
        [0, 1, 2, 0, 1, 2, 0],
    ]
    for part, again in zip(parts, split_action(jnp.arange(24), sizes), strict=True):
        np.testing.assert_array_equal(part, again)


def test_categorical_inverts_the_distribution_function() -> None:
    logits = jnp.log(jnp.array([[0.1, 0.2, 0.3, 0.4]])) + 7.0
    drawn = [
        int(categorical(logits, jnp.array([uniform]))[0]) for uniform in (0.0, 0.09, 0.11, 0.29, 0.31, 0.61, 0.999)
    ]
    assert drawn == [0, 0, 1, 1, 2, 3, 3]


def test_categorical_draws_as_often_as_the_softmax_says() -> None:
    logits = jax.random.normal(jax.random.key(0), (6,)) * 2
    count = 200_000
    uniform = jax.random.uniform(jax.random.key(1), (count,))
    drawn = categorical(jnp.broadcast_to(logits, (count, 6)), uniform)
    expected = np.asarray(jax.nn.softmax(logits), np.float64)
    assert stats.chisquare(np.bincount(drawn, minlength=6), expected / expected.sum() * count).pvalue > 1e-4


@pytest.mark.parametrize("uniform", [0.0, 0.5, float(np.nextafter(np.float32(1), np.float32(0)))])
def test_an_action_of_probability_0_is_never_drawn(uniform: float) -> None:
    logits = jnp.array([-1e4, 0.0, -1e4, 1.0, -1e4])
    assert int(categorical(logits[None], jnp.array([uniform]))[0]) in (1, 3)


def test_greedy_takes_the_largest() -> None:
    assert greedy(jnp.array([[0.0, 3.0, 1.0]]), jnp.array([0.9])).tolist() == [1]


def test_epsilon_greedy_explores_as_often_as_its_trial_says() -> None:
    values = jnp.broadcast_to(jnp.array([0.0, 1.0, 0.5, 0.2]), (3, 40_000, 4))
    uniform = jax.random.uniform(jax.random.key(0), values.shape[:2])
    drawn = np.asarray(epsilon_greedy(jnp.array([0.0, 0.4, 1.0]))(values, uniform))
    assert (drawn[0] == 1).all()
    np.testing.assert_allclose(np.bincount(drawn[1]) / 40_000, [0.1, 0.7, 0.1, 0.1], atol=0.01)
    np.testing.assert_allclose(np.bincount(drawn[2]) / 40_000, [0.25] * 4, atol=0.01)
