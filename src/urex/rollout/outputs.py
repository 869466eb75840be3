"""What the chosen action says of itself: the output whose gradient a learner asks for."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

OutputRule = Callable[[Float[Array, "*lanes actions"], Int[Array, "*lanes"]], Float[Array, "*lanes"]]
"""From one output for each joint action, and the action chosen, to one number."""


def value(outputs: Float[Array, "*lanes actions"], action: Int[Array, "*lanes"]) -> Float[Array, "*lanes"]:
    """The chosen action's output itself, as a Q-function has it."""
    chosen = jax.lax.broadcasted_iota(action.dtype, outputs.shape, outputs.ndim - 1) == action[..., None]
    return jnp.where(chosen, outputs, 0.0).sum(axis=-1)


def log_probability(logits: Float[Array, "*lanes actions"], action: Int[Array, "*lanes"]) -> Float[Array, "*lanes"]:
    """log pi(a_t), the chosen action's entry of the log-softmax."""
    return value(logits, action) - jax.nn.logsumexp(logits, axis=-1)
