"""Packing: what goes in comes out, whatever its type."""

import jax
import jax.numpy as jnp
import numpy as np

from urex.interop.gymnasium.packing import layout_of, pack, read, unpack


def tree() -> dict:
    """A leaf of every kind."""
    return {
        "flag": jnp.asarray([True, False]),
        "small": jnp.asarray(-3, jnp.int8),
        "word": jnp.asarray(2**32 - 1, jnp.uint32),
        "half": jnp.asarray([1.5, -0.25], jnp.bfloat16),
        "single": jnp.asarray(np.float32(0.1)),
        "grid": jnp.arange(6).reshape(2, 3),
        "nothing": jnp.zeros((0, 4)),
        "key": jax.random.key(7),
    }


def equal(a: jax.Array, b: jax.Array) -> bool:
    """The same type, shape and contents; of keys, of their data."""
    if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
        a, b = jax.random.key_data(a), jax.random.key_data(b)
    return a.dtype == b.dtype and bool(jnp.array_equal(a, b))


def test_unpacking_in_a_program_gives_the_tree_back() -> None:
    layout = layout_of(tree)
    words = jax.jit(pack)(tree())
    assert words.shape == (layout.words,)
    back = jax.jit(lambda words: unpack(words, layout))(words)
    assert jax.tree.all(jax.tree.map(equal, back, tree()))


def test_numpy_reads_the_same_values() -> None:
    got = read(np.asarray(pack(tree())), layout_of(tree))
    assert (got["flag"].tolist(), got["small"], got["word"]) == ([1, 0], -3, 2**32 - 1)
    assert got["half"].tolist() == [1.5, -0.25]
    assert np.float32(got["single"]) == np.float32(0.1)
    np.testing.assert_array_equal(got["grid"], [[0, 1, 2], [3, 4, 5]])


def test_wide_types_keep_all_their_bits() -> None:
    with jax.enable_x64(True):
        wide = {"float": jnp.asarray(0.1, jnp.float64), "int": jnp.asarray([2**40, -1], jnp.int64)}
        layout = layout_of(lambda: wide)
        words = pack(wide)
        back = unpack(words, layout)
        assert (float(back["float"]), back["int"].tolist()) == (0.1, [2**40, -1])
        got = read(np.asarray(words), layout)
        assert (got["float"], got["int"].tolist()) == (0.1, [2**40, -1])


def test_an_empty_tree_reads_as_itself() -> None:
    assert read(np.zeros(0, np.int32), layout_of(dict)) == {}
