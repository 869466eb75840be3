"""The offsets: exact where it matters."""

import jax.numpy as jnp
import numpy as np
import pytest

from urex.objectives.baseline import below_best, less_mean


def test_the_best_of_each_instance_is_0() -> None:
    x = jnp.asarray([[1.0, 4.0, 2.0], [-3.0, -5.0, -3.0]])
    np.testing.assert_array_equal(below_best(x), [[-3.0, 0.0, -2.0], [0.0, -2.0, 0.0]])


def test_the_mean_of_each_instance_is_subtracted() -> None:
    x = jnp.asarray([[1.0, 4.0, 1.0], [-3.0, -5.0, -1.0]])
    np.testing.assert_array_equal(less_mean(x), [[-1.0, 2.0, -1.0], [0.0, -2.0, 2.0]])


@pytest.mark.parametrize("value", [0.1, -0.7, 1000.1, 1e-30])
def test_equal_values_give_exactly_0_in_single_precision(value: float) -> None:
    x = jnp.full((4, 10), value, jnp.float32)
    np.testing.assert_array_equal(less_mean(x), 0.0)
