"""Random integers for instances, at one random word each."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray


def integers(key: PRNGKeyArray, shape: tuple[int, ...], bound: int | Int[Array, ""]) -> Int[Array, "..."]:
    """Integers from 0 to below `bound`, uniform up to a relative error of bound / 2^32.

    `jax.random.randint` splits its key and draws two words an integer to be exact to 2^-64; drawing
    is most of what sampling an instance costs, and no bound here is above a few thousand.
    """
    words = jax.random.bits(key, shape, jnp.uint32)
    return (words % jnp.asarray(bound, jnp.uint32)).astype(jnp.int32)
