"""The optimal policies: by hand, by the conditions of an optimum, and as what gradient ascent arrives at."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.objectives import exact
from urex import objectives

Optimum = Callable[[jax.Array, float], jax.Array]
optimal_policy, urex_optimal_policy = jax.jit(objectives.optimal_policy), jax.jit(objectives.urex_optimal_policy)
both = pytest.mark.parametrize("optimum", [optimal_policy, urex_optimal_policy])
rewards = arrays(np.float64, (6,), elements=st.floats(-1e3, 1e3))
taus = st.floats(1e-3, 10)


def test_optimal_policies_by_hand() -> None:
    """pi* is 3/5, 1/5, 1/5; with cost log 3 = c, 3/5 / y + 2/5 / (y + c) = 1, so y^2 + (c - 1) y = 3/5 c."""
    reward = 2 * jnp.log(jnp.asarray([1.0, 3.0, 1.0]))
    np.testing.assert_allclose(optimal_policy(reward, 2.0), [1 / 5, 3 / 5, 1 / 5], rtol=1e-14)
    c = np.log(3)
    y = (1 - c + np.sqrt((c - 1) ** 2 + 4 * 3 / 5 * c)) / 2
    expected = [1 / 5 / (y + c), 3 / 5 / y, 1 / 5 / (y + c)]
    np.testing.assert_allclose(urex_optimal_policy(reward, 2.0), expected, rtol=1e-14)


@given(rewards, taus)
def test_the_conditions_of_urexs_optimum(reward: np.ndarray, tau: float) -> None:
    """Probabilities that sum to 1, and r + tau pi*/pi, the derivative, the same alpha > max r for every action."""
    target = np.asarray(optimal_policy(jnp.asarray(reward), tau))
    policy = np.asarray(urex_optimal_policy(jnp.asarray(reward), tau))
    np.testing.assert_allclose(policy.sum(), 1, rtol=1e-12)
    possible = target > 1e-300  # below, digits are lost
    assert (policy[~possible] < 1e-290).all()
    best, cost = reward.argmax(), (reward.max() - reward)[possible] / tau
    y = target[best] / policy[best]  # (alpha - max r) / tau
    assert y > 0
    np.testing.assert_allclose(policy[possible], target[possible] / (y + cost), rtol=1e-11)


@given(rewards, taus)
def test_urexs_optimum_is_the_more_concentrated_on_high_rewards(reward: np.ndarray, tau: float) -> None:
    """The remark of section "Under-appreciated Reward Exploration": its ratio to pi* rises with the reward."""
    order = reward.argsort()
    target = np.asarray(optimal_policy(jnp.asarray(reward), tau))[order]
    policy = np.asarray(urex_optimal_policy(jnp.asarray(reward), tau))[order]
    ratio = policy[target > 1e-300] / target[target > 1e-300]
    assert (ratio[1:] >= ratio[:-1] * (1 - 1e-11)).all()
    assert policy[-1] >= target[-1] * (1 - 1e-11)


def test_urexs_optimum_is_strictly_the_more_concentrated_in_an_example() -> None:
    reward = jnp.asarray([0.0, 0.5, 1.0])
    assert optimal_policy(reward, 0.5)[2] < 0.67
    assert urex_optimal_policy(reward, 0.5)[2] > 0.77


def ascend(value: exact.Exact, reward: jax.Array, tau: float, steps: int) -> np.ndarray:
    """The policy that gradient ascent on a table of logits arrives at, from one that prefers the worst action."""
    slope = jax.grad(lambda logits: value(jax.nn.log_softmax(logits), reward, tau))
    logits = jax.lax.fori_loop(0, steps, lambda _, logits: logits + slope(logits), -2 * reward)
    return np.asarray(jax.nn.softmax(logits))


@pytest.mark.parametrize(
    ("value", "optimum"),
    [(exact.ment, optimal_policy), (exact.raml, optimal_policy), (exact.urex, urex_optimal_policy)],
)
def test_gradient_ascent_reaches_it(value: exact.Exact, optimum: Optimum) -> None:
    reward = jnp.asarray([1.0, 0.2, -0.5, 0.9])
    np.testing.assert_allclose(ascend(value, reward, 0.5, 3000), optimum(reward, 0.5), rtol=1e-9)


def test_gradient_ascent_on_rwrs_objective_ends_at_the_best_action_alone() -> None:
    """The contrast that section "Related Work" draws."""
    policy = ascend(exact.rwr, jnp.asarray([1.0, 0.2, -0.5, 0.9]), 0.5, 30000)
    assert policy.argmax() == 0
    assert policy[0] > 0.99


def by_bisection(reward: np.ndarray, tau: float) -> np.ndarray:
    """The optimum of UREX by halving, in double precision."""
    cost = (reward.max() - reward) / tau
    target = np.exp(-cost) / np.exp(-cost).sum()
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (target / (middle + cost)).sum() > 1 else (low, middle)
    return target / (high + cost)


DRAWN = np.random.default_rng(0).random(10_000)
CASES = {
    "one": np.array([0.3]),
    "one that dominates": np.array([0.0, 1e3, -1e3]),
    "two near ties": np.array([0.5, 0.5 - 1e-7, 0.0]),
    "bandit": DRAWN**8,
    "wide": 2e3 * DRAWN - 1e3,
    "far from where the search begins": -np.repeat([0.0, 0.05, 0.1], [1, 100, 10_000]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tau", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-6), (np.float64, 1e-12)])
def test_both_are_accurate_at_the_extremes(case: str, tau: float, dtype: type[np.floating], rtol: float) -> None:
    reward, tau_given = CASES[case].astype(dtype), dtype(tau)
    policy = np.asarray(urex_optimal_policy(jnp.asarray(reward), jnp.asarray(tau_given)))
    assert policy.dtype == dtype
    np.testing.assert_allclose(policy.sum(dtype=np.float64), 1, rtol=rtol)
    expected = by_bisection(reward.astype(np.float64), float(tau_given))
    np.testing.assert_allclose(policy, expected, rtol=rtol, atol=rtol)


@both
@pytest.mark.parametrize("actions", [1, 2, 7, 10_000])
@pytest.mark.parametrize("value", [-1e3, 0.0, 0.1])
def test_equal_rewards_are_equally_probable(optimum: Optimum, actions: int, value: float) -> None:
    policy = optimum(jnp.full((actions,), value, jnp.float32), 0.1)
    np.testing.assert_allclose(policy, 1 / actions, rtol=1e-6)


@both
def test_adding_a_constant_to_the_rewards_changes_nothing(optimum: Optimum) -> None:
    reward = jnp.asarray([0.5, -2.0, 1.25])
    np.testing.assert_array_equal(optimum(reward + 1000, 0.3), optimum(reward, 0.3))


@both
def test_many_instances_at_once(optimum: Optimum) -> None:
    reward, tau = jnp.asarray([[0.5, -2.0, 1.25], [3.0, 3.0, -4.0]]), jnp.asarray([0.3, 2.0])
    together = jax.jit(jax.vmap(optimum))(reward, tau)
    for i in range(2):
        np.testing.assert_allclose(together[i], optimum(reward[i], float(tau[i])), rtol=1e-13)
