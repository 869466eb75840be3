"""The policy: an LSTM over (observation, previous action), and a linear readout with one output a joint action."""

from math import prod
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from urex.policies.first_layer import FIRST_LAYERS, FirstLayer, glorot_limit
from urex.tasks.task import Task

HIDDEN = 128
"""Units of the LSTM in the paper."""
FORGET_BIAS = 1.0
"""What the forget gate's bias starts from, so that a new policy remembers."""


class Policy(eqx.Module):
    """The parameters. The gates stand in the order input, forget, cell, output."""

    first: FirstLayer
    recurrent: Float[Array, "hidden gates"]
    bias: Float[Array, " gates"]
    readout: Float[Array, "hidden actions"]
    readout_bias: Float[Array, " actions"]


class Folded(NamedTuple):
    """What one step of a policy computes with: its inputs are one-hot, so its first layer is two look-ups."""

    seen: Float[Array, "*trials observations gates"]
    """What each observation adds to the gates, their bias included."""
    done: Float[Array, "*trials actions_and_none gates"]
    """What each previous joint action adds; the last row is for the first step."""
    recurrent: Float[Array, "*trials hidden gates"]
    readout: Float[Array, "*trials hidden actions"]
    readout_bias: Float[Array, "*trials actions"]


def init(key: PRNGKeyArray, task: Task, *, hidden: int = HIDDEN, first_layer: str, scale: Float[Array, ""]) -> Policy:
    """A new policy for a task: Glorot's uniform distribution, `scale` for the first layer, biases 0."""
    first_key, recurrent_key, readout_key = jax.random.split(key, 3)
    actions = prod(task.actions)
    recurrent_limit, readout_limit = glorot_limit(2 * hidden, 4 * hidden), glorot_limit(hidden, actions)
    recurrent = jax.random.uniform(recurrent_key, (hidden, 4 * hidden), minval=-recurrent_limit, maxval=recurrent_limit)
    return Policy(
        first=FIRST_LAYERS[first_layer](first_key, task.observations, task.actions, hidden, scale),
        recurrent=recurrent,
        bias=jnp.zeros((4 * hidden,)).at[hidden : 2 * hidden].set(FORGET_BIAS),
        readout=jax.random.uniform(readout_key, (hidden, actions), minval=-readout_limit, maxval=readout_limit),
        readout_bias=jnp.zeros((actions,)),
    )


def fold(policy: Policy) -> Folded:
    """The policy with its first layer tabulated. Once per update this is nothing beside the steps."""
    seen, done = policy.first.tables()
    return Folded(seen + policy.bias[None], done, policy.recurrent, policy.readout, policy.readout_bias)
