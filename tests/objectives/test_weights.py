"""The importance weights and the figures that tell how unequal they are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from urex.objectives import effective_sample_size, importance_weight_variance, importance_weights

INSTANCES, K = 3, 5
log_probs = arrays(np.float64, (INSTANCES, K), elements=st.floats(-1e4, 0))
rewards = arrays(np.float64, (INSTANCES, K), elements=st.floats(-1e3, 1e3))
taus = st.floats(1e-3, 10)


def test_a_case_by_hand() -> None:
    """exp(r/tau) is 3, 1, 1 and 1, 2, 1; divided by the probabilities, 6, 4, 4 and 10, 5/2, 10."""
    log_prob = jnp.log(jnp.asarray([[1 / 2, 1 / 4, 1 / 4], [1 / 10, 8 / 10, 1 / 10]]))
    reward = 2 * jnp.log(jnp.asarray([[3.0, 1.0, 1.0], [1.0, 2.0, 1.0]]))
    expected = [[3 / 7, 2 / 7, 2 / 7], [4 / 9, 1 / 9, 4 / 9]]
    np.testing.assert_allclose(importance_weights(log_prob, reward, 2.0), expected, rtol=1e-14)


@given(log_probs, rewards, taus)
def test_they_sum_to_1_for_each_instance(log_prob: np.ndarray, reward: np.ndarray, tau: float) -> None:
    weights = importance_weights(jnp.asarray(log_prob), jnp.asarray(reward), tau)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)
    assert (weights >= 0).all()


@given(rewards, taus, st.floats(-1e3, 1e3))
def test_they_are_equal_where_the_policy_is_optimal(reward: np.ndarray, tau: float, constant: float) -> None:
    weights = importance_weights(jnp.asarray(reward) / tau + constant, jnp.asarray(reward), tau)
    np.testing.assert_allclose(weights, 1 / K, rtol=1e-8)


@pytest.mark.parametrize("k", [2, 10, 1000])
@pytest.mark.parametrize("tau", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("spread", [0.0, 1e3])
def test_extremes_are_safe_in_single_precision(k: int, tau: float, spread: float) -> None:
    log_key, reward_key = jax.random.split(jax.random.key(0))
    log_prob = -1e4 * jax.random.uniform(log_key, (4, k), jnp.float32)
    reward = spread * jax.random.uniform(reward_key, (4, k), jnp.float32, -1, 1)
    weights = importance_weights(log_prob, reward, jnp.float32(tau))
    assert weights.dtype == jnp.float32
    exponent = np.asarray(reward, np.float64) / np.float32(tau) - np.asarray(log_prob, np.float64)
    share = np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    rounding = float(jnp.finfo(jnp.float32).eps) * np.abs(exponent).max()
    np.testing.assert_allclose(weights, share / share.sum(axis=-1, keepdims=True), atol=rounding)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)


def test_samples_of_probability_0_share_all_the_weight() -> None:
    log_prob = jnp.asarray([[-jnp.inf, -1.0, -jnp.inf, -2.0], [-1.0, -1.0, -jnp.inf, -1e4]])
    weights = importance_weights(log_prob, jnp.asarray([[0.0, 5.0, 1.0, 2.0], [9.0, 0.0, 0.0, 0.0]]), 0.1)
    np.testing.assert_array_equal(weights, [[0.5, 0, 0.5, 0], [0, 0, 1, 0]])


def test_the_variance_and_the_effective_sample_size_by_hand() -> None:
    """K w is 2, 1, 1, 0, of variance 1/2, and the sum of the squares of w is 6/16; the others are the extremes."""
    weights = jnp.asarray([[1 / 2, 1 / 4, 1 / 4, 0], [1 / 4, 1 / 4, 1 / 4, 1 / 4], [0, 0, 1, 0]])
    for row, variance, size in zip(weights, [1 / 2, 0, 3], [8 / 3, 4, 1], strict=True):
        np.testing.assert_allclose(importance_weight_variance(row[None]), variance, rtol=1e-14)
        np.testing.assert_allclose(effective_sample_size(row[None]), size, rtol=1e-14)
    np.testing.assert_allclose(importance_weight_variance(weights), 3.5 / 3, rtol=1e-14)
    np.testing.assert_allclose(effective_sample_size(weights), (8 / 3 + 5) / 3, rtol=1e-14)


@given(log_probs, rewards, taus)
def test_both_stay_between_equal_weights_and_one_weight(log_prob: np.ndarray, reward: np.ndarray, tau: float) -> None:
    weights = importance_weights(jnp.asarray(log_prob), jnp.asarray(reward), tau)
    assert -1e-12 <= importance_weight_variance(weights) <= K - 1 + 1e-12
    assert 1 - 1e-12 <= effective_sample_size(weights) <= K + 1e-12
