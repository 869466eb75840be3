"""The policy's first layer: from the observation and the previous action to the gates of the LSTM."""

from abc import abstractmethod
from collections.abc import Callable
from math import prod, sqrt

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from urex.policies.actions import joint_actions

Tables = tuple[Float[Array, "observations gates"], Float[Array, "actions_and_none gates"]]
"""What each observation and each previous joint action adds to the gates; the last row: no previous action."""


class FirstLayer(eqx.Module):
    """A linear map of two one-hot inputs, so it can be tabulated."""

    @abstractmethod
    def tables(self) -> Tables:
        """Its value at every observation, and at every joint action."""


class Embedding(FirstLayer):
    """A linear embedding, the sum of what was seen and of every sub-action that was taken, then the LSTM's kernel."""

    observation: Float[Array, "observations units"]
    sub_actions: tuple[Float[Array, "_ units"], ...]
    bias: Float[Array, " units"]
    kernel: Float[Array, "units gates"]

    def tables(self) -> Tables:
        indices = joint_actions(tuple(table.shape[0] for table in self.sub_actions))
        done = sum(table[index] for table, index in zip(self.sub_actions, indices, strict=True))
        nothing = jnp.zeros_like(self.kernel, shape=(1, self.kernel.shape[1]))
        return (self.observation + self.bias[None]) @ self.kernel, jnp.concatenate([done @ self.kernel, nothing])


class OneHot(FirstLayer):
    """One-hot inputs straight into the LSTM; the previous joint action is one symbol."""

    observation: Float[Array, "observations gates"]
    action: Float[Array, "actions gates"]

    def tables(self) -> Tables:
        nothing = jnp.zeros_like(self.action, shape=(1, self.action.shape[1]))
        return self.observation, jnp.concatenate([self.action, nothing])


def glorot_limit(fan_in: int, fan_out: int) -> float:
    """The bound of Glorot's uniform distribution."""
    return sqrt(6.0 / (fan_in + fan_out))


def init_embedding(
    key: PRNGKeyArray, observations: int, actions: tuple[int, ...], hidden: int, scale: Float[Array, ""]
) -> Embedding:
    """Embeddings from a normal distribution of deviation `scale`, cut at two of them; Glorot for the kernel."""
    kernel_key, observation_key, *action_keys = jax.random.split(key, 2 + len(actions))

    def embed(key: PRNGKeyArray, size: int) -> Float[Array, "size units"]:
        return scale * jax.random.truncated_normal(key, -2.0, 2.0, (size, hidden))

    limit = glorot_limit(2 * hidden, 4 * hidden)  # of the kernel that the inputs and the state share
    return Embedding(
        observation=embed(observation_key, observations),
        sub_actions=tuple(embed(key, size) for key, size in zip(action_keys, actions, strict=True)),
        bias=jnp.zeros((hidden,)),
        kernel=jax.random.uniform(kernel_key, (hidden, 4 * hidden), minval=-limit, maxval=limit),
    )


def init_one_hot(
    key: PRNGKeyArray, observations: int, actions: tuple[int, ...], hidden: int, scale: Float[Array, ""]
) -> OneHot:
    """Glorot's uniform distribution, times `scale`."""
    rows = observations + prod(actions)
    limit = glorot_limit(rows + hidden, 4 * hidden)
    kernel = scale * jax.random.uniform(key, (rows, 4 * hidden), minval=-limit, maxval=limit)
    return OneHot(observation=kernel[:observations], action=kernel[observations:])


Init = Callable[[PRNGKeyArray, int, tuple[int, ...], int, Float[Array, ""]], FirstLayer]
FIRST_LAYERS: dict[str, Init] = {"embedding": init_embedding, "one-hot": init_one_hot}
"""The forms by name, as functions of (key, observations, actions, hidden units, initial scale)."""
