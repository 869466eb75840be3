"""The LSTM's backward step is the derivative of its forward step."""

import jax
import jax.numpy as jnp
import numpy as np

from urex.policies import lstm


def test_retreat_is_the_derivative_of_advance() -> None:
    keys = jax.random.split(jax.random.key(0), 4)
    gates = jax.random.normal(keys[0], (3, 20))
    c_tm1, dh, dc = (jax.random.normal(key, (3, 5)) for key in keys[1:])
    (_, c_t), pull = jax.vjp(lstm.advance, gates, c_tm1)
    got = lstm.retreat(lstm.slopes(gates, c_tm1, c_t), dh, dc)
    for a, b in zip(got, pull((dh, dc)), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_a_full_forget_gate_remembers() -> None:
    gates = jnp.array([[-50.0, 50.0, 3.0, 50.0]])
    h, c = lstm.advance(gates, jnp.array([[0.7]]))
    np.testing.assert_allclose(c, [[0.7]], rtol=1e-6)
    np.testing.assert_allclose(h, jnp.tanh(jnp.array([[0.7]])), rtol=1e-6)
