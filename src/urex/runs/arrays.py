"""Between a pytree and arrays by name, which is what a file can hold."""

from typing import Any
from urllib.parse import quote

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from urex.errors import UserError

Leaf = Array | np.ndarray | np.generic
Arrays = dict[str, np.ndarray]
Form = tuple[tuple[int, ...], np.dtype]
"""Shape and dtype."""

_STORED = frozenset(
    np.dtype(kind)
    for kind in (
        *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32, np.float64),
    )
)
"""What safetensors gives back to NumPy as it was; others it may write and then not read."""


def flatten(tree: PyTree) -> Arrays:
    """The leaves under their paths, `learner.policy.recurrent`, in C order; of a PRNG key its data.

    Leaves are arrays or NumPy's scalars. A number of Python's has no dtype of its own, so it is refused.
    """
    return {name: _stored(name, leaf) for name, leaf in _named_leaves(tree)}


def unflatten(template: PyTree, arrays: Arrays) -> PyTree:
    """The tree that was flattened: the template's structure, with these arrays as leaves.

    The template's leaves are arrays, or what `jax.eval_shape` has in their place; NumPy's stay NumPy's.
    """
    wanted = dict(_named_leaves(template))
    differences = [
        *(f"has no {name!r}" for name in wanted if name not in arrays),
        *(f"has {name!r} besides" for name in arrays if name not in wanted),
        *(
            f"has {name!r} as {_written(given)} and not {_written(form)}"
            for name, leaf in wanted.items()
            if name in arrays and (given := _form(arrays[name])) != (form := _form(leaf))
        ),
    ]
    if differences:
        more = f" (and {len(differences) - 1} differences more)" if len(differences) > 1 else ""
        raise UserError(
            f"it {differences[0]}{more}, so it belongs to another task or configuration;"
            " go on with the configuration it was written with, or start anew in another directory"
        )
    leaves = [_restored(leaf, arrays[name]) for name, leaf in wanted.items()]
    return jax.tree.unflatten(jax.tree.structure(template), leaves)


def _named_leaves(tree: PyTree) -> list[tuple[str, Any]]:
    """The leaves in order, each with its path; all but letters, digits, `_`, `-` and `~` of a key is escaped."""

    def name(path: tuple) -> str:
        keys = (jax.tree_util.keystr((key,), simple=True) for key in path)
        return ".".join(quote(key, safe="").replace(".", "%2E") for key in keys)

    named = [(name(path), leaf) for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]]
    assert len(dict(named)) == len(named), "two leaves have one name"
    return named


def _stored(name: str, leaf: Any) -> np.ndarray:
    if not isinstance(leaf, Leaf):
        raise TypeError(f"leaf {name!r} is {leaf!r}: a checkpoint holds arrays; make it one of the dtype it is to have")
    # safetensors reads memory as if it were in C order; np.ascontiguousarray makes a vector of a scalar
    array = np.asarray(_data(leaf), order="C")
    if array.dtype not in _STORED:
        known = ", ".join(sorted(dtype.name for dtype in _STORED))
        raise TypeError(f"leaf {name!r} is of dtype {array.dtype}: a checkpoint holds {known}; convert it")
    return array


def _data(leaf: Any) -> Leaf:
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _restored(leaf: Any, stored: np.ndarray) -> Leaf:
    """The array as the template has it. It is copied, since it may lie in the bytes of a file."""
    if _is_key(leaf):
        return jax.random.wrap_key_data(jnp.array(stored), impl=_key_impl(leaf))
    if isinstance(leaf, np.generic):
        return stored[()]
    return stored.copy() if isinstance(leaf, np.ndarray) else jnp.array(stored)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _key_impl(leaf: Any) -> Any:
    """The generator of a PRNG key, of which perhaps only the shape is there."""
    found = []
    jax.eval_shape(lambda key: found.append(jax.random.key_impl(key)), leaf)
    return found[0]


def _form(leaf: Any) -> Form:
    """As what it is stored."""
    if _is_key(leaf):
        leaf = jax.eval_shape(jax.random.key_data, leaf)
    return tuple(leaf.shape), np.dtype(leaf.dtype)


def _written(form: Form) -> str:
    shape, dtype = form
    return f"{dtype}[{','.join(map(str, shape))}]"
