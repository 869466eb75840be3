"""One step of the LSTM, forward and backward, for any leading axes."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Gates = Float[Array, "*lanes gates"]
Units = Float[Array, "*lanes hidden"]


def activate(gates: Gates) -> tuple[Units, Units, Units, Units]:
    """The input gate, the forget gate, the new content and the output gate."""
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    return jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)


def advance(gates: Gates, c_tm1: Units) -> tuple[Units, Units]:
    """c_t = f c_{t-1} + i g and h_t = o tanh(c_t)."""
    i, f, g, o = activate(gates)
    c_t = f * c_tm1 + i * g
    return o * jnp.tanh(c_t), c_t


class Slopes(NamedTuple):
    """The derivatives of one step that do not depend on what comes back to it."""

    o_h: Units
    """Of the output gate's input, for each unit of dh_t."""
    c_h: Units
    """Of c_t, for each unit of dh_t."""
    i_c: Units
    f_c: Units
    g_c: Units
    """Of the other gates' inputs, for each unit of dc_t."""
    c_c: Units
    """Of c_{t-1}, for each unit of dc_t."""


def slopes(gates: Gates, c_tm1: Units, c_t: Units) -> Slopes:
    """All that can be computed of the backward step before the gradient arrives: for many steps at once."""
    i, f, g, o = activate(gates)
    tanh_c = jnp.tanh(c_t)
    return Slopes(
        o_h=tanh_c * o * (1 - o),
        c_h=o * (1 - tanh_c * tanh_c),
        i_c=g * i * (1 - i),
        f_c=c_tm1 * f * (1 - f),
        g_c=i * (1 - g * g),
        c_c=f,
    )


def retreat(slope: Slopes, dh_t: Units, dc_t: Units) -> tuple[Gates, Units]:
    """The gradient of the gates' inputs and of c_{t-1}, from that of h_t and c_t."""
    dc_t = dc_t + dh_t * slope.c_h
    dgates = jnp.concatenate([dc_t * slope.i_c, dc_t * slope.f_c, dc_t * slope.g_c, dh_t * slope.o_h], axis=-1)
    return dgates, dc_t * slope.c_c
