"""A tree of arrays as one array of 32-bit words: reading several arrays back costs more than a step does."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree


class Layout(NamedTuple):
    """How a tree is packed into one array of words."""

    leaves: list[tuple[slice, tuple[int, ...], np.dtype]]
    structure: Any


def pack(shown: PyTree) -> Int[Array, " words"]:
    """What is shown as one array, since reading an array back costs more than a step does."""

    def words(leaf: Array) -> Array:
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            return jax.lax.bitcast_convert_type(leaf.astype(jnp.float32), jnp.int32).ravel()
        return leaf.astype(jnp.int32).ravel()

    return jnp.concatenate([words(leaf) for leaf in jax.tree.leaves(shown)])


def layout_of(shapes: PyTree) -> Layout:
    """Where each leaf of a tree of these shapes and types lies among the packed words."""
    leaves, structure = jax.tree.flatten(shapes)
    ends = np.cumsum([math.prod(leaf.shape) for leaf in leaves]).tolist()
    parts = zip([0, *ends], ends, leaves, strict=False)
    return Layout([(slice(a, b), leaf.shape, np.dtype(leaf.dtype)) for a, b, leaf in parts], structure)


def unpack(words: np.ndarray, layout: Layout) -> PyTree:
    """What was packed, as NumPy values."""
    leaves = []
    for place, shape, dtype in layout.leaves:
        part = words[place] if shape else words[place.start]
        floating = jnp.issubdtype(dtype, jnp.floating)  # NumPy's own does not know of bfloat16
        leaf = (part.view(np.float32) if floating else part).astype(dtype)
        leaves.append(leaf.reshape(shape) if len(shape) > 1 else leaf)
    return layout.structure.unflatten(leaves)
