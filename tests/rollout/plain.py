"""A rollout written as plainly as possible: one lane, one step after another, differentiated by JAX."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from urex import policies


def outputs_along(policy: policies.Policy, observation: Any, action: Any) -> jax.Array:
    """The outputs of one lane of one trial at every step, those in the buffers past its end too: [time, actions]."""
    folded = policies.fold(policy)
    none = folded.done.shape[0] - 1
    previous = jnp.append(none, action[:-1])

    def step(carry: tuple[jax.Array, jax.Array], given: tuple[jax.Array, jax.Array]) -> Any:
        h, c = carry
        seen, done = given
        i, f, g, o = jnp.split(folded.seen[seen] + folded.done[done] + h @ folded.recurrent, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h @ folded.readout + folded.readout_bias

    nothing = jnp.zeros((policy.recurrent.shape[0],))
    return jax.lax.scan(step, (nothing, nothing), (jnp.asarray(observation), previous))[1]


def chosen_along(policy: policies.Policy, observation: Any, action: Any, *, logs: bool) -> jax.Array:
    """The chosen outputs of one lane, or their log-probabilities: [time]."""
    outputs = outputs_along(policy, observation, action)
    values = jax.nn.log_softmax(outputs) if logs else outputs
    return jnp.take_along_axis(values, jnp.asarray(action)[:, None], axis=1)[:, 0]


@partial(jax.jit, static_argnames="logs")
def weighted(
    policy: policies.Policy, observation: Any, action: Any, length: Any, weight: Any, *, logs: bool = True
) -> jax.Array:
    """sum of weight[t, b] times the chosen output (or its logarithm) over the real steps of one trial's lanes."""
    along = jax.vmap(partial(chosen_along, logs=logs), in_axes=(None, 1, 1), out_axes=1)
    real = np.arange(observation.shape[0])[:, None] < length[None]
    return jnp.where(real, weight * along(policy, observation, action), 0.0).sum()
