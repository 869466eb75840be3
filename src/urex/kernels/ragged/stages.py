"""Stages: loops of falling width. When few lanes are left, they go on in a loop that is half as wide."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PyTree

HALVINGS = 3
"""More stages cost more to compile and to change between than they save."""
NARROWEST = 12
"""A step of fewer lanes takes as long as one of these."""


class Stage(NamedTuple):
    """One loop that was run."""

    row: Int[Array, ""]
    """The first of its rows on the tape."""
    steps: Int[Array, ""]
    lane: Int[Array, " width"]
    """Which of the trial's lanes stands where."""
    rank: Int[Array, " width"]
    """Where each stands in the next stage; those past its width are left behind, all of them over."""


def widths(lanes: int) -> tuple[int, ...]:
    """The widths of the stages, widest first."""
    found = [lanes]
    while len(found) <= HALVINGS and found[-1] // 2 >= NARROWEST:
        found.append(-(-found[-1] // 2))
    return tuple(found)


def live_first(over: Bool[Array, " width"]) -> tuple[Int[Array, " width"], Int[Array, " width"]]:
    """The order in which live lanes stand before those that are over, and each lane's rank in it."""
    order = jnp.argsort(over, stable=True)
    return order, jnp.argsort(order)


def pick(tree: PyTree, index: Int[Array, " narrow"]) -> PyTree:
    """The lanes that stand at these places."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


def put_back(narrow: PyTree, rank: Int[Array, " width"], wide: PyTree) -> PyTree:
    """The wide rows, with those that went on into the narrow ones replaced."""
    width = jax.tree.leaves(narrow)[0].shape[0]
    went_on = rank < width
    found = pick(narrow, jnp.minimum(rank, width - 1))

    def choose(new: Array, old: Array) -> Array:
        return jnp.where(went_on.reshape(-1, *[1] * (old.ndim - 1)), new, old)

    return jax.tree.map(choose, found, wide)
