"""Adam with epsilon where TensorFlow 1 has it, which is where published success rates depend on it."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

BETA1, BETA2 = 0.9, 0.999


class AdamState(NamedTuple):
    """The running moments of the gradient, and how many it has seen."""

    seen: Int[Array, ""]
    mean: PyTree[Float[Array, "..."]]
    square: PyTree[Float[Array, "..."]]


def scale_by_adam(epsilon: Float[Array, ""] | float) -> optax.GradientTransformation:
    """m_t sqrt(1 - beta2^t) / ((1 - beta1^t) (sqrt(v_t) + epsilon)).

    The second moment's correction stands outside of the sum with epsilon, as in section 2 of Adam's paper, so
    epsilon is in effect divided by sqrt(1 - beta2^t): at the first step by 0.03, later by 1.
    """

    def init(params: PyTree) -> AdamState:
        nothing = jax.tree.map(jnp.zeros_like, params)
        return AdamState(jnp.zeros((), jnp.int32), nothing, nothing)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        del params  # unused: Adam looks at gradients alone
        seen = state.seen + 1
        mean = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state.mean, updates)
        square = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, state.square, updates)
        rate = jnp.sqrt(1 - BETA2**seen) / (1 - BETA1**seen)
        step = jax.tree.map(lambda m, v: rate * m / (jnp.sqrt(v) + epsilon), mean, square)
        return step, AdamState(seen, mean, square)

    return optax.GradientTransformation(init, update)
