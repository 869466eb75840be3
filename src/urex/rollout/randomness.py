"""The random numbers of a rollout: one for each trial, step and lane."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

Uniforms = Callable[[Int[Array, ""]], Float[Array, "trials lanes"]]
"""The numbers of step t, uniform on [0, 1)."""


class DrawnUniforms(eqx.Module):
    """Each trial's numbers from its own key and the step, so what other trials or lanes do changes none of them."""

    keys: Key[Array, " trials"]
    lanes: int = eqx.field(static=True)

    def __call__(self, t: Int[Array, ""]) -> Float[Array, "trials lanes"]:
        return jax.vmap(lambda key: jax.random.uniform(jax.random.fold_in(key, t), (self.lanes,)))(self.keys)


def of_all_steps(uniforms: Uniforms, steps: int) -> Float[Array, "trials steps lanes"]:
    """The numbers of so many steps at once, for those that cannot draw them as they go."""
    return jax.vmap(uniforms, out_axes=1)(jnp.arange(steps))


def draw_uniforms(keys: Key[Array, " trials"], lanes: int) -> Uniforms:
    """The numbers of so many lanes of each trial."""
    return DrawnUniforms(keys, lanes)
