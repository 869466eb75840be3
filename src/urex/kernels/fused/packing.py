"""Policies and instances in the form that the fused kernels take."""

import inspect
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, BFloat16, Float, Int

from urex.kernels.fused.tile import power_of_2
from urex.policies.policy import Folded
from urex.tasks.task import Instance, Task

NEVER = -1e30
"""The output of an action that only pads: its probability is 0."""


class Packed(NamedTuple):
    """A policy in bfloat16, sizes filled up to powers of 2."""

    table: BFloat16[Array, "trials inputs gates"]
    """What each observation adds to the gates, and then each previous action."""
    recurrent: BFloat16[Array, "trials hidden gates"]
    readout: BFloat16[Array, "trials hidden choices"]
    readout_bias: Float[Array, "trials choices"]


def pack(policy: Folded) -> Packed:
    """The policy's tables and weights."""
    actions = policy.readout.shape[-1]
    more_actions = (0, power_of_2(actions) - actions)
    table = jnp.concatenate([policy.seen, policy.done], axis=1)
    more_inputs = (0, power_of_2(table.shape[1]) - table.shape[1])
    return Packed(
        table=jnp.pad(table, ((0, 0), more_inputs, (0, 0))).astype(jnp.bfloat16),
        recurrent=policy.recurrent.astype(jnp.bfloat16),
        readout=jnp.pad(policy.readout, ((0, 0), (0, 0), more_actions)).astype(jnp.bfloat16),
        readout_bias=jnp.pad(policy.readout_bias, ((0, 0), more_actions), constant_values=NEVER),
    )


def fill_lanes(tree: Any, lanes: int) -> Any:
    """Zeros for the lanes that are wanting; lanes are the last axis but those of an instance's memory."""

    def fill(leaf: Array, axis: int = 1) -> Array:
        wanting = [(0, lanes - size if i == axis else 0) for i, size in enumerate(leaf.shape)]
        return jnp.pad(leaf, wanting)

    return jax.tree.map(fill, tree)


class Cell(eqx.Module):
    """Stands for an instance's memory inside a kernel, where it can only be read cell by cell."""

    memory: Any = eqx.field(static=True)
    """A reference to the memories of all lanes."""
    lane: Int[Array, "*tile"]


def in_kernel(refs: Instance, lanes: Int[Array, " tile"], here: Any) -> Instance:
    """The instances of a tile: their numbers, and for memories what `read` takes."""
    return jax.tree.map(lambda ref: ref[here] if len(ref.shape) == 1 else Cell(ref, lanes), refs)


def read(memory: Cell, index: Int[Array, ""]) -> Int[Array, ""]:
    """One cell, as tasks read it; an index past either end is clipped to the nearest cell."""
    return memory.memory[memory.lane, jnp.clip(index, 0, memory.memory.shape[1] - 1)]


def reader(task: Task) -> dict[str, Callable[..., Array]]:
    """The keyword with which the task's functions are called: none if they read no memory."""
    return {"read": read} if "read" in inspect.signature(task.step).parameters else {}


def inputs_of(task: Task) -> int:
    """Rows of the table: observations, actions, and no action."""
    return task.observations + prod(task.actions) + 1


def readable(task: Task) -> str | None:
    """Why a kernel could not read the task's instances, if it could not."""
    instance = jax.eval_shape(task.sample, jax.random.key(0), jnp.int32(task.levels.first))
    ranks = {leaf.ndim for leaf in jax.tree.leaves(instance)}
    if max(ranks) > 1:
        return "the task's instances have arrays of more than one axis; it reads rows of numbers"
    if max(ranks) == 1 and not reader(task):
        return "the task's functions take no `read`, by which alone it can look into an instance's memory"
    if any(leaf.ndim for leaf in jax.tree.leaves(jax.eval_shape(task.start, instance))):
        return "the task's state has arrays in it, and it keeps single numbers"
    return None
