"""Between trees and named arrays: the same bits, under names that tell, or a sentence that says what differs."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given
from hypothesis import strategies as st

from urex import UserError, policies, tasks
from urex.runs.arrays import flatten, unflatten


class Pair(NamedTuple):
    key: Any
    count: Any


def through_bytes(tree: Any, template: Any = None) -> Any:
    """The tree after its arrays were in a file."""
    arrays = safetensors.numpy.load(safetensors.numpy.save(flatten(tree)))
    return unflatten(tree if template is None else template, arrays)


def assert_same_bits(given: Any, wanted: Any) -> None:
    assert jax.tree.structure(given) == jax.tree.structure(wanted)
    for a, b in zip(jax.tree.leaves(given), jax.tree.leaves(wanted), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if jnp.issubdtype(b.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_names_are_paths() -> None:
    policy = policies.init(
        jax.random.key(0), tasks.get("copy"), hidden=2, first_layer="embedding", scale=jnp.float32(0.1)
    )
    names = set(flatten({"learner": {"policy": policy}, "trials": [Pair(jnp.zeros(2), jnp.ones(())), None]}))
    assert names == {
        *(f"learner.policy.{name}" for name in ("recurrent", "bias", "readout", "readout_bias")),
        *(f"learner.policy.first.{name}" for name in ("observation", "bias", "kernel")),
        *(f"learner.policy.first.sub_actions.{i}" for i in range(3)),
        *("trials.0.key", "trials.0.count"),
    }


keys = st.text(st.sampled_from("ab.%0/é\0 "), max_size=3)
trees = st.recursive(
    st.integers(0, 9).map(np.asarray),
    lambda inner: st.dictionaries(keys, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(trees)
@example({"a.b": np.asarray(1), "a": {"b": np.asarray(2)}, "a%2Eb": [np.asarray(3)]})
def test_no_two_leaves_are_confused_whatever_their_names(tree: Any) -> None:
    assert len(flatten(tree)) == len(jax.tree.leaves(tree))
    assert_same_bits(through_bytes(tree), tree)


LAYOUTS = {
    "in C order": lambda x: x,
    "in Fortran order": np.asfortranarray,
    "transposed": lambda x: x.T,
    "strided": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1],
    "repeated": lambda x: np.broadcast_to(x[0], x.shape),
    "one number": lambda x: x[1, 1],
    "a view of one": lambda x: x[1:2, 1:2].reshape(()),
    "nothing": lambda x: x[:0],
}
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_in_every_layout_comes_back(layout: str, dtype: str) -> None:
    numbers = np.random.default_rng(0).integers(0, 100, (3, 4)).astype(dtype)
    tree = [LAYOUTS[layout](numbers)]
    came = through_bytes(tree)
    assert_same_bits(came, tree)
    assert type(came[0]) is type(tree[0])


def test_what_comes_back_is_the_readers_own() -> None:
    memory = np.zeros(1024, np.float32)
    aligned = memory[-memory.ctypes.data % 64 // 4 :][:256]  # JAX takes memory over where it begins at a multiple of 64
    came = unflatten([np.zeros(256, np.float32), jnp.zeros(256)], {"0": aligned, "1": aligned})
    aligned[:] = 1.0
    assert came[0].max() == came[1].max() == 0.0
    came[0][0] = 2.0


def test_every_bit_of_a_float_comes_back() -> None:
    patterns = np.array([0x80000000, 0x7FC00001, 0xFF800000, 0x00000001, 0x7F7FFFFF], np.uint32)
    floats = jax.lax.bitcast_convert_type(jnp.asarray(patterns), jnp.float32)
    came = through_bytes({"x": floats})["x"]
    np.testing.assert_array_equal(jax.lax.bitcast_convert_type(came, jnp.uint32), patterns)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
@pytest.mark.parametrize("abstract", [False, True])
def test_keys_come_back_as_keys_of_their_kind(impl: str, abstract: bool) -> None:
    tree = Pair(jax.random.split(jax.random.key(7, impl=impl), 3), jax.random.key(8, impl=impl))
    template = jax.eval_shape(lambda: tree) if abstract else tree
    came = through_bytes(tree, template)
    assert_same_bits(came, tree)
    assert jax.random.key_impl(came.key) == impl
    np.testing.assert_array_equal(jax.random.bits(came.count), jax.random.bits(tree.count))


def test_a_template_of_shapes_gives_arrays() -> None:
    tree = {"x": jnp.arange(6.0).reshape(2, 3), "n": jnp.int32(3), "b": jnp.array([True, False])}
    came = through_bytes(tree, jax.eval_shape(lambda: tree))
    assert_same_bits(came, tree)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(came))


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ({"x": jnp.zeros(3)}, "it has 'n' besides, so it belongs to another task or configuration; go on with"),
        ({"x": jnp.zeros(3), "n": jnp.int32(0), "y": jnp.zeros(1)}, "it has no 'y', so"),
        ({"x": jnp.zeros((3, 1)), "n": jnp.int32(0)}, "it has 'x' as float32[3] and not float32[3,1], so"),
        ({"x": jnp.zeros(3), "n": jnp.uint32(0)}, "it has 'n' as int32[] and not uint32[], so"),
        ({"x": jax.random.key(0), "n": jnp.int32(0)}, "it has 'x' as float32[3] and not uint32[2], so"),
        ({"z": jnp.zeros(3), "n": jnp.float32(0)}, "it has no 'z' (and 2 differences more), so"),
    ],
)
def test_what_differs_is_named(template: Any, sentence: str) -> None:
    arrays = flatten({"x": jnp.zeros(3), "n": jnp.int32(0)})
    with pytest.raises(UserError) as caught:
        unflatten(template, arrays)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("leaf", "sentence"),
    [
        (3, "leaf 'a.n' is 3: a checkpoint holds arrays"),
        (0.1, "leaf 'a.n' is 0.1: a checkpoint holds arrays"),
        ("text", "leaf 'a.n' is 'text': a checkpoint holds arrays"),
        (jnp.zeros(2, jnp.bfloat16), "leaf 'a.n' is of dtype bfloat16: a checkpoint holds bool, float16,"),
        (np.zeros(2, ">f4"), "leaf 'a.n' is of dtype >f4: a checkpoint holds"),
        (np.array(["x"]), "leaf 'a.n' is of dtype <U1: a checkpoint holds"),
    ],
)
def test_what_would_not_come_back_the_same_is_refused(leaf: Any, sentence: str) -> None:
    with pytest.raises(TypeError) as caught:
        flatten({"a": {"n": leaf}})
    assert str(caught.value).startswith(sentence)
