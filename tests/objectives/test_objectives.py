"""The objectives' coefficients: by hand, by the laws they obey, and at the extremes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from urex import objectives
from urex.objectives import OBJECTIVES, centred

INSTANCES, K = 2, 5
log_probs = arrays(np.float64, (INSTANCES, K), elements=st.floats(-50, 0))
eighths = arrays(np.float64, (INSTANCES, K), elements=st.integers(-160, 160).map(lambda i: i / 8))
rewards = arrays(np.float64, (INSTANCES, K), elements=st.floats(-20, 20))
taus = st.floats(0.05, 10)
each = pytest.mark.parametrize("name", ["reinforce", "ment", "urex", "raml", "rwr"])


compiled = {name: jax.jit(objective) for name, objective in OBJECTIVES.items()}


def coefficients(name: str, log_prob: np.ndarray, reward: np.ndarray, tau: float) -> np.ndarray:
    """What the objective of this name gives."""
    return np.asarray(compiled[name](log_prob, reward, tau))


LOG2, LOG3, LOG10 = np.log([2.0, 3.0, 10.0])
BY_HAND = {
    "reinforce": [[2 * LOG3 / 9, -LOG3 / 9, -LOG3 / 9], [-LOG2 / 9, 2 * LOG2 / 9, -LOG2 / 9]],
    "ment": [
        [2 * (LOG3 - LOG2) / 9, -(LOG3 - LOG2) / 9, -(LOG3 - LOG2) / 9],
        [2 * LOG2 / 9, -4 * LOG2 / 9, 2 * LOG2 / 9],
    ],
    "raml": [[3 / 7, 2 / 7, 2 / 7], [4 / 9, 1 / 9, 4 / 9]],
    "urex": [
        [2 * LOG3 / 9 + 3 / 7, -LOG3 / 9 + 2 / 7, -LOG3 / 9 + 2 / 7],
        [-LOG2 / 9 + 4 / 9, 2 * LOG2 / 9 + 1 / 9, -LOG2 / 9 + 4 / 9],
    ],
    "rwr": [[3 / 10, 1 / 10, 1 / 10], [1 / 8, 2 / 8, 1 / 8]],
}
"""At tau = 2, N = 2, K = 3, where r = 2 log(3, 1, 1) and 2 log(1, 2, 1), and pi = (2, 1, 1)/4 and (1, 8, 1)/10.

The mean of r is 2/3 log 3 and 2/3 log 2. The weights are (6, 4, 4)/14 and (10, 5/2, 10)/(45/2). r - tau log pi is
2 log(6, 4, 4) and 2 log(10, 5/2, 10), where 6 = 3/2 of 4 and 10 = 4 times 5/2.
"""


@each
def test_a_case_by_hand(name: str) -> None:
    log_prob = np.log([[2 / 4, 1 / 4, 1 / 4], [1 / 10, 8 / 10, 1 / 10]])
    reward = 2 * np.log([[3.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    np.testing.assert_allclose(coefficients(name, log_prob, reward, 2.0), BY_HAND[name], rtol=1e-13)


@each
@given(log_prob=log_probs, reward=rewards, tau=taus, order=st.permutations(range(K)))
def test_permuting_the_samples_permutes_the_coefficients(
    name: str, log_prob: np.ndarray, reward: np.ndarray, tau: float, order: list[int]
) -> None:
    got = coefficients(name, log_prob[:, order], reward[:, order], tau)
    np.testing.assert_allclose(got, coefficients(name, log_prob, reward, tau)[:, order], rtol=1e-9, atol=1e-12)


@each
@given(log_prob=log_probs, reward=eighths, tau=taus, constant=st.integers(-1000, 1000))
def test_adding_a_constant_to_the_rewards_of_an_instance_changes_nothing(
    name: str, log_prob: np.ndarray, reward: np.ndarray, tau: float, constant: int
) -> None:
    """To the bit: the rewards are such that the sum with the constant is not rounded."""
    shifted = reward + np.array([[constant], [0]])
    got = coefficients(name, log_prob, shifted, tau)
    np.testing.assert_array_equal(got, coefficients(name, log_prob, reward, tau))


@each
@given(log_prob=log_probs, reward=rewards, tau=taus)
def test_instances_only_share_the_factor_1_over_n(
    name: str, log_prob: np.ndarray, reward: np.ndarray, tau: float
) -> None:
    both = coefficients(name, log_prob, reward, tau)
    alone = [coefficients(name, log_prob[n : n + 1], reward[n : n + 1], tau) for n in range(INSTANCES)]
    np.testing.assert_allclose(both, np.concatenate(alone) / INSTANCES, rtol=1e-12)


@each
@given(log_prob=log_probs, reward=rewards, tau=taus)
def test_the_sum_of_an_instances_coefficients(name: str, log_prob: np.ndarray, reward: np.ndarray, tau: float) -> None:
    total = {"reinforce": 0, "ment": 0, "urex": tau, "raml": tau, "rwr": 1}[name] / INSTANCES
    got = coefficients(name, log_prob, reward, tau)
    np.testing.assert_allclose(got.sum(axis=-1), total, rtol=1e-12, atol=1e-12)
    centred_sum = centred(objectives.get(name))(jnp.asarray(log_prob), jnp.asarray(reward), tau).sum(axis=-1)
    np.testing.assert_allclose(centred_sum, 0, atol=1e-12)


@given(log_prob=log_probs, reward=rewards)
def test_ment_at_temperature_0_is_reinforce(log_prob: np.ndarray, reward: np.ndarray) -> None:
    got = coefficients("ment", log_prob, reward, 0.0)
    np.testing.assert_array_equal(got, coefficients("reinforce", log_prob, reward, 0.0))


@given(reward=rewards, tau=taus, constant=st.floats(-50, 0))
def test_urex_is_reinforce_and_a_constant_where_the_policy_is_calibrated(
    reward: np.ndarray, tau: float, constant: float
) -> None:
    got = coefficients("urex", reward / tau + constant, reward, tau)
    expected = coefficients("reinforce", reward, reward, tau) + tau / (K * INSTANCES)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@given(log_prob=log_probs, reward=rewards, tau=taus)
def test_centred_urex_is_the_form_of_the_authors_program(log_prob: np.ndarray, reward: np.ndarray, tau: float) -> None:
    likely = np.exp(reward / tau - log_prob - (reward / tau - log_prob).max(axis=-1, keepdims=True))
    weights = likely / likely.sum(axis=-1, keepdims=True)
    released = (reward - reward.mean(axis=-1, keepdims=True)) + tau * (K * weights - 1)
    got = centred(objectives.urex)(jnp.asarray(log_prob), jnp.asarray(reward), tau)
    np.testing.assert_allclose(got, released / (INSTANCES * K), rtol=1e-9, atol=1e-11)


@each
def test_equal_samples_are_worth_exactly_the_same(name: str) -> None:
    """In single precision, where the mean of ten times 0.1 is not 0.1."""
    log_prob, reward = jnp.full((3, 10), -7.3, jnp.float32), jnp.full((3, 10), 0.1, jnp.float32)
    got = objectives.get(name)(log_prob, reward, 0.1)
    np.testing.assert_array_equal(got, got[0, 0])
    np.testing.assert_array_equal(centred(objectives.get(name))(log_prob, reward, 0.1), 0)
    if name in ("reinforce", "ment"):
        np.testing.assert_array_equal(got, 0)


@each
def test_no_gradient_flows_through_coefficients(name: str) -> None:
    log_prob, reward = jnp.log(jnp.asarray([[0.5, 0.3, 0.2]])), jnp.asarray([[1.0, -1.0, 0.5]])
    for objective in (objectives.get(name), objectives.get(name, centred=True)):
        _, pull_back = jax.vjp(objective, log_prob, reward, 0.7)
        # a cotangent that is not constant: coefficients whose sum is fixed would hide their gradient
        for gradient in pull_back(jnp.asarray([[1.0, 2.0, -4.0]])):
            np.testing.assert_array_equal(gradient, 0)


@each
@pytest.mark.parametrize("k", [2, 1000])
@pytest.mark.parametrize("tau", [1e-3, 10.0])
@pytest.mark.parametrize("spread", [0.0, 1e3])
def test_extremes_are_finite_in_single_precision_and_keep_their_sum(
    name: str, k: int, tau: float, spread: float
) -> None:
    draw = np.random.default_rng(1).random((2, 4, k), np.float32)
    log_prob, reward = -1e4 * draw[0], spread * (2 * draw[1] - 1)
    got = coefficients(name, log_prob, reward, tau)
    assert got.dtype == np.float32
    assert np.isfinite(got).all()
    total = {"reinforce": 0, "ment": 0, "urex": tau, "raml": tau, "rwr": 1}[name] / 4
    np.testing.assert_allclose(got.sum(axis=-1), total, rtol=1e-5, atol=1e-5 * np.abs(got).sum(axis=-1).max())


@pytest.mark.parametrize("name", ["urex", "raml"])
def test_a_sample_of_probability_0_takes_all_the_weight(name: str) -> None:
    got = coefficients(name, np.array([[-1.0, -np.inf, -2.0]]), np.zeros((1, 3)), 0.1)
    np.testing.assert_array_equal(got, [[0, 0.1, 0]])


def test_many_trials_at_once_each_at_its_temperature() -> None:
    log_prob = -jax.random.exponential(jax.random.key(2), (3, 4, 6))
    reward, tau = jax.random.normal(jax.random.key(3), (3, 4, 6)), jnp.asarray([0.1, 1.0, 5.0])
    for objective in OBJECTIVES.values():
        together = jax.jit(jax.vmap(objective))(log_prob, reward, tau)
        for trial in range(3):
            alone = objective(log_prob[trial], reward[trial], tau[trial])
            np.testing.assert_allclose(together[trial], alone, rtol=1e-12, atol=1e-15)
