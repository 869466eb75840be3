"""A tree of arrays as one array of 32-bit words.

A call of a compiled program costs by the number of arrays that go in and come out, for small ones
more than its work; so an environment hands one array in and reads one array back.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree, Shaped


class Leaf(NamedTuple):
    """An array of a tree; of random keys, the array of their data."""

    shape: tuple[int, ...]
    dtype: np.dtype
    stored: np.dtype
    """The type among the words: its own, or one of 32 bits for the smaller ones."""
    keys: Any
    """The kind of the keys, if it holds keys."""


class Layout(NamedTuple):
    """How the leaves of a tree lie among the words, one after another."""

    leaves: tuple[Leaf, ...]
    structure: Any
    record: np.dtype
    """The words as NumPy reads them: a record with a field for each leaf."""

    @property
    def words(self) -> int:
        """How many words the tree takes."""
        return self.record.itemsize // 4


def layout_of(function: Callable[..., PyTree], *arguments: PyTree) -> Layout:
    """The layout of the tree that a function of arrays returns."""
    found: list[tuple[list[Leaf], Any]] = []

    def look(*traced: PyTree) -> list[Array]:
        leaves, structure = jax.tree.flatten(function(*traced))
        found.append(([_leaf_of(leaf) for leaf in leaves], structure))
        return leaves

    jax.eval_shape(look, *arguments)
    leaves, structure = found[0]
    record = np.dtype([(f"leaf{i}", leaf.stored, leaf.shape) for i, leaf in enumerate(leaves)])
    return Layout(tuple(leaves), structure, record)


def pack(tree: PyTree) -> Int[Array, " words"]:
    """The leaves of a tree as words."""

    def words(array: Array) -> Int[Array, " some"]:
        data = jax.random.key_data(array) if _is_keys(array) else array
        return jax.lax.bitcast_convert_type(data.astype(_leaf_of(array).stored), jnp.int32).ravel()

    return jnp.concatenate([words(leaf) for leaf in jax.tree.leaves(tree)])


def unpack(words: Int[Array, " words"], layout: Layout) -> PyTree:
    """What was packed, inside a compiled program."""
    sizes = [layout.record[i].itemsize // 4 for i in range(len(layout.leaves))]
    parts = jnp.split(words, np.cumsum(sizes)[:-1])
    return layout.structure.unflatten(
        [_unpack_leaf(part, leaf) for part, leaf in zip(parts, layout.leaves, strict=True)]
    )


def read(words: Int[np.ndarray, " words"], layout: Layout) -> PyTree:
    """What was packed, as Python's numbers and NumPy's arrays; the arrays are views of the words."""
    return layout.structure.unflatten(words.view(layout.record)[0].item() if layout.leaves else ())


def _unpack_leaf(part: Int[Array, " some"], leaf: Leaf) -> Shaped[Array, "..."]:
    wide = (2,) if leaf.stored.itemsize == 8 else ()
    stored = jax.lax.bitcast_convert_type(part.reshape(*leaf.shape, *wide), leaf.stored)
    data = stored.astype(leaf.dtype)
    return data if leaf.keys is None else jax.random.wrap_key_data(data, impl=leaf.keys)


def _leaf_of(array: Array) -> Leaf:
    if _is_keys(array):
        return _leaf_of(jax.random.key_data(array))._replace(keys=jax.random.key_impl(array))
    dtype = np.dtype(array.dtype)
    word = np.dtype(np.float32 if jnp.issubdtype(dtype, jnp.floating) else np.int32)
    return Leaf(array.shape, dtype, stored=dtype if dtype.itemsize >= 4 else word, keys=None)


def _is_keys(array: Array) -> bool:
    return jnp.issubdtype(array.dtype, jax.dtypes.prng_key)
