"""Joint actions, and the rules by which one is chosen from the policy's outputs."""

from collections.abc import Callable
from math import prod

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

ActionRule = Callable[[Float[Array, "*lanes actions"], Float[Array, "*lanes"]], Int[Array, "*lanes"]]
"""From one output for each joint action, and one number from the uniform distribution on [0, 1), to an action."""


HALF_STEP = 2.0**-24
"""Half of the step between the random numbers that are drawn, which are multiples of 2^-23."""


def inside(uniform: Float[Array, "*lanes"]) -> Float[Array, "*lanes"]:
    """From [0, 1) to the open interval: 0 itself would choose the first action, however unlikely it is."""
    return jnp.minimum(uniform + HALF_STEP, 1.0 - HALF_STEP)


def joint_actions(sizes: tuple[int, ...]) -> tuple[Int[np.ndarray, " actions"], ...]:
    """The sub-actions of every joint action; the last sub-action runs fastest."""
    return tuple(index.astype(np.int32) for index in np.unravel_index(np.arange(prod(sizes)), sizes))


def split_action(action: Int[Array, "*lanes"], sizes: tuple[int, ...]) -> tuple[Int[Array, "*lanes"], ...]:
    """The sub-actions of joint actions."""
    strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return tuple(action // stride % size for stride, size in zip(strides, sizes, strict=True))


def categorical(logits: Float[Array, "*lanes actions"], uniform: Float[Array, "*lanes"]) -> Int[Array, "*lanes"]:
    """Sample from the softmax of the outputs, by inverting its distribution function."""
    weights = jnp.exp(logits - logits.max(axis=-1, keepdims=True))
    triangle = jnp.triu(jnp.ones_like(weights, shape=weights.shape[-1:] * 2))
    summed = jnp.matmul(weights, triangle, precision="highest")
    uniform = inside(uniform)
    # never an action of weight 0: its sum equals that of the action before
    return (summed[..., :-1] <= uniform[..., None] * summed[..., -1:]).sum(axis=-1, dtype=jnp.int32)


def greedy(logits: Float[Array, "*lanes actions"], uniform: Float[Array, "*lanes"]) -> Int[Array, "*lanes"]:
    """The action with the largest output."""
    del uniform  # unused: nothing is left to chance
    return logits.argmax(axis=-1).astype(jnp.int32)


def epsilon_greedy(epsilon: Float[Array, " trials"]) -> ActionRule:
    """With probability epsilon any action, all alike; else the one with the largest output."""

    def rule(values: Float[Array, "trials lanes actions"], uniform: Float[Array, "trials lanes"]) -> Array:
        share = uniform / jnp.maximum(epsilon, jnp.finfo(epsilon.dtype).tiny)[:, None]  # below 1 when exploring
        any_action = jnp.minimum(share * values.shape[-1], values.shape[-1] - 1).astype(jnp.int32)
        return jnp.where(uniform < epsilon[:, None], any_action, greedy(values, uniform))

    return rule
