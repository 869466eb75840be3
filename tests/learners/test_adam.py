"""Adam's step, against the formula and against Optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from urex.learners.adam import scale_by_adam

GRADIENTS = [jnp.array([3.0, -1e-3, 0.0]), jnp.array([1.0, 2e-3, 5.0]), jnp.array([-2.0, 1e-3, 1.0])]


def steps_of(optimizer: optax.GradientTransformation) -> list[jax.Array]:
    """What the optimiser makes of the gradients, one after another."""
    state, steps = optimizer.init(jnp.zeros(3)), []
    for gradient in GRADIENTS:
        step, state = optimizer.update(gradient, state)
        steps.append(step)
    return steps  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize("epsilon", [1e-8, 2e-4, 0.1])
def test_epsilon_stands_where_tensorflow_has_it(epsilon: float) -> None:
    m = v = np.zeros(3)
    for t, (gradient, step) in enumerate(zip(GRADIENTS, steps_of(scale_by_adam(epsilon)), strict=True), start=1):
        g = np.asarray(gradient, np.float64)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        rate = np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        np.testing.assert_allclose(step, rate * m / (np.sqrt(v) + epsilon), rtol=2e-4)


def test_in_optax_terms_epsilon_is_divided_by_the_correction() -> None:
    """At the first step eps / sqrt(1 - 0.999), so optax with the same epsilon takes a longer step where g is small."""
    ours = steps_of(scale_by_adam(2e-4))[0]
    np.testing.assert_allclose(ours, steps_of(optax.scale_by_adam(eps=2e-4 / np.sqrt(0.001)))[0], rtol=1e-4)
    assert abs(ours[1]) < 0.5 * abs(jnp.asarray(steps_of(optax.scale_by_adam(eps=2e-4))[0])[1])


def test_with_a_negligible_epsilon_it_is_optax_adam() -> None:
    for ours, theirs in zip(steps_of(scale_by_adam(1e-12)), steps_of(optax.scale_by_adam(eps=1e-12)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)
