"""The check that a task of one's own keeps the contract, before anything is compiled for it."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from urex.errors import UserError
from urex.tasks.task import Task


@lru_cache
def check_contract(task: Task) -> None:
    """Raise `UserError` unless the task's functions fit together; nothing is run, only shapes and types are derived."""
    key, level = jax.eval_shape(lambda: (jax.random.key(0), jnp.int32(0)))
    action = tuple(jax.ShapeDtypeStruct((), jnp.int32) for _ in task.actions)
    instance = jax.eval_shape(task.sample, key, level)
    state = jax.eval_shape(task.start, instance)
    after, reward, done = jax.eval_shape(task.step, instance, state, action)
    total = jax.ShapeDtypeStruct((), jnp.float32)
    _check_scalar(task, "observe", jax.eval_shape(task.observe, instance, state), jnp.integer)
    _check_scalar(task, "step's reward", reward, jnp.number)
    _check_scalar(task, "step's done", done, jnp.bool)
    _check_scalar(task, "shortfall", jax.eval_shape(task.shortfall, instance, level, total), jnp.number)
    _check_state(task, state, after)


def _check_scalar(task: Task, what: str, got: jax.ShapeDtypeStruct, kind: Any) -> None:
    wanted = {jnp.integer: "an integer", jnp.number: "a number", jnp.bool: "a boolean"}[kind]
    if got.shape != () or not jnp.issubdtype(got.dtype, kind):
        raise UserError(f"{type(task).__name__}: {what} is {_told(got)}; it must be {wanted} of shape ()")


def _check_state(task: Task, before: PyTree, after: PyTree) -> None:
    if jax.tree.structure(before) != jax.tree.structure(after):
        raise UserError(
            f"{type(task).__name__}: step's state has the structure {jax.tree.structure(after)},"
            f" start's {jax.tree.structure(before)}; they must be the same"
        )
    for (path, old), new in zip(jax.tree.leaves_with_path(before), jax.tree.leaves(after), strict=True):
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            raise UserError(
                f"{type(task).__name__}: step's state{jax.tree_util.keystr(path)} is {_told(new)},"
                f" start's is {_told(old)}; they must be the same"
            )


def _told(array: jax.ShapeDtypeStruct) -> str:
    return f"{array.dtype} of shape {array.shape}"
