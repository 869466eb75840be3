"""The random numbers of a rollout: one for each trial, step and lane."""

from collections.abc import Callable

import jax
from jaxtyping import Array, Float, Int, Key

Uniforms = Callable[[Int[Array, ""]], Float[Array, "trials lanes"]]
"""The numbers of step t, uniform on [0, 1)."""


def draw_uniforms(keys: Key[Array, " trials"], lanes: int) -> Uniforms:
    """Each trial's numbers from its own key and the step, so what other trials or lanes do changes none of them."""

    def uniforms(t: Int[Array, ""]) -> Float[Array, "trials lanes"]:
        return jax.vmap(lambda key: jax.random.uniform(jax.random.fold_in(key, t), (lanes,)))(keys)

    return uniforms
