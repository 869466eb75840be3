"""The tape: what every step leaves to the backward pass, one row a lane and step, in the order it was written."""

from math import prod
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from urex.kernels.kernel import Sizes
from urex.tasks.task import Task

CHUNK = 256
"""Rows that the gradient of the weights is computed of at a time."""


class Forth(NamedTuple):
    """What the forward pass writes. Derivatives are named as in `lstm.Slopes`."""

    slopes: Float[Array, "rows gates"]
    """i_c, f_c, g_c and o_h side by side: times what comes back, the gradient of the gates."""
    c_h: Float[Array, "rows hidden"]
    c_c: Float[Array, "rows hidden"]
    h_tm1: Float[Array, "rows hidden"]
    h_t: Float[Array, "rows hidden"]
    outputs: Float[Array, "rows actions"]
    observation: Int[Array, " rows"]
    previous: Int[Array, " rows"]
    action: Int[Array, " rows"]
    taken: Bool[Array, " rows"]
    """Whether the episode was not yet over."""


class Back(NamedTuple):
    """What the backward pass writes: gradients. In the slopes' own place XLA would copy all of them at every step."""

    dgates: Float[Array, "rows gates"]
    doutputs: Float[Array, "rows actions"]


class Tape(NamedTuple):
    """It goes from update to update, since XLA fills a new buffer with zeros. What is on it never matters."""

    forth: Forth
    """Of all trials, each of which has its own stretch of rows."""
    back: Back
    """Of one trial, row for row beside its stretch: the next one writes over it."""


def stretch(task: Task, lanes: int) -> int:
    """The rows of one trial: all lanes at all steps, and to the end of the last chunk."""
    return task.max_steps * lanes + CHUNK


def new_tape(task: Task, sizes: Sizes) -> Tape:
    """A tape that is long enough, whatever the episodes' lengths."""
    rows, actions, hidden = stretch(task, sizes.lanes), prod(task.actions), sizes.hidden

    def of(*width: int, dtype: type = jnp.float32, trials: int = sizes.trials) -> Array:
        return jnp.zeros((trials * rows, *width), dtype)

    units = {name: of(hidden) for name in ("c_h", "c_c", "h_tm1", "h_t")}
    numbers = {name: of(dtype=jnp.int32) for name in ("observation", "previous", "action")}
    forth = Forth(slopes=of(4 * hidden), outputs=of(actions), taken=of(dtype=jnp.bool), **units, **numbers)
    return Tape(forth, Back(dgates=of(4 * hidden, trials=1), doutputs=of(actions, trials=1)))


def put(buffer: Array, rows: Array, row: Int[Array, ""]) -> Array:
    """The buffer with these rows from `row` on."""
    return jax.lax.dynamic_update_slice_in_dim(buffer, rows, row, 0)


def put_beside(buffer: Float[Array, "rows gates"], parts: tuple[Array, ...], row: Int[Array, ""]) -> Array:
    """The buffer with these parts side by side; joined before they are written, they would be written twice."""
    for n, part in enumerate(parts):
        buffer = jax.lax.dynamic_update_slice(buffer, part, (row, n * part.shape[1]))
    return buffer


def take(buffer: Array, row: Int[Array, ""], count: int) -> Array:
    """So many rows from `row` on."""
    return jax.lax.dynamic_slice_in_dim(buffer, row, count, 0)
