"""What the estimates are on average: all that could be sampled of three actions, each with its probability."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.objectives import exact
from urex import objectives
from urex.objectives import OBJECTIVES, Objective

FEATURES = jnp.asarray(np.array([[1.0, 0.5], [-0.3, 1.2], [0.4, -0.7]], np.float32))
"""Of each action; as many parameters as features, so that the gradients are not those of a table."""
THETA = np.array([0.3, -0.4])
REWARD = np.array([1.0, 0.2, -0.5])
TAU = 0.7
EXACT = {"reinforce": exact.reinforce, "ment": exact.ment, "urex": exact.urex, "raml": exact.raml, "rwr": exact.rwr}


def log_policy(theta: jax.Array) -> jax.Array:
    """The log-probability of every action."""
    return jax.nn.log_softmax(FEATURES @ theta)


def gradient(value: exact.Exact) -> np.ndarray:
    """Of the exact value."""
    return np.asarray(jax.grad(lambda theta: value(log_policy(theta), jnp.asarray(REWARD), TAU))(jnp.asarray(THETA)))


def expected_estimate(objective: Objective, k: int) -> np.ndarray:
    """The mean over all K samples that there are, which stand as so many instances.

    Each by autodiff of sum(coefficient * log_prob), so it is wrong too if coefficients are not constants.
    """
    actions = np.array(list(itertools.product(range(len(REWARD)), repeat=k)))
    probability = jnp.exp(log_policy(jnp.asarray(THETA)))[actions].prod(axis=-1)

    def surrogate(theta: jax.Array) -> jax.Array:
        log_prob = log_policy(theta)[actions]
        coefficient = len(actions) * objective(log_prob, jnp.asarray(REWARD)[actions], TAU)
        return (probability * (coefficient * log_prob).sum(axis=-1)).sum()

    return np.asarray(jax.grad(surrogate)(jnp.asarray(THETA)))


DOUBLING = (1, 2, 4, 8)
"""Numbers of samples."""


def assert_falls(missing: list[np.ndarray]) -> None:
    """Each time K doubles, the bias falls to about a half."""
    biases = np.linalg.norm(missing, axis=-1)
    assert (biases[1:] < 0.6 * biases[:-1]).all(), biases


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("name", ["reinforce", "ment"])
def test_with_a_baseline_of_all_samples_it_is_the_gradient_times_1_less_1_over_k(name: str, k: int) -> None:
    got = expected_estimate(OBJECTIVES[name], k)
    np.testing.assert_allclose(got, (1 - 1 / k) * gradient(EXACT[name]), rtol=1e-12)


@pytest.mark.parametrize("name", ["raml", "rwr"])
def test_the_bias_of_self_normalised_weights_falls_like_1_over_k(name: str) -> None:
    """One sample has all the weight whatever it is, so there the estimate is 0 on average, and all of it is missing."""
    assert_falls([expected_estimate(OBJECTIVES[name], k) - gradient(EXACT[name]) for k in DOUBLING])
    np.testing.assert_allclose(expected_estimate(OBJECTIVES[name], 1), 0, atol=1e-15)


def test_urex_is_biased_as_reinforce_and_raml_are() -> None:
    """E[estimate] = (1 - 1/K) grad E[r] + E[RAML's estimate], so it too goes to the gradient as K grows."""
    missing = []
    for k in DOUBLING:
        got = expected_estimate(objectives.urex, k)
        parts = (1 - 1 / k) * gradient(exact.reinforce) + expected_estimate(objectives.raml, k)
        np.testing.assert_allclose(got, parts, rtol=1e-12, atol=1e-15)
        missing.append(got - gradient(exact.urex))
    assert_falls(missing)


@pytest.mark.parametrize("name", EXACT)
def test_centring_does_not_change_the_expected_estimate(name: str) -> None:
    got = expected_estimate(objectives.get(name, centred=True), 4)
    np.testing.assert_allclose(got, expected_estimate(objectives.get(name), 4), rtol=1e-12)
