"""Many updates in one call of one compiled program."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from urex.config import Config, Hypers
from urex.kernels import Sizes, Space
from urex.training.state import TrainState
from urex.training.update import Metrics, update

CAPACITY = 256
"""The most updates of one call; their metrics come back together."""


class Limits(NamedTuple):
    """When a call is to end: at the first of these."""

    updates: Int[Array, ""] | int
    """After so many updates, at most CAPACITY."""
    steps: Int[Array, ""] | int = 2**31 - 1
    """After the update by which the call's loops have gone round so often; each round is a step of every lane."""
    solved: Bool[Array, ""] | bool = False
    """If this is true, when all trials are solved."""


_Carry = tuple[Int[Array, ""], TrainState, Metrics, Space]


@partial(jax.jit, static_argnums=0, donate_argnums=2)
def advance(config: Config, hypers: Hypers, state: TrainState, limits: Limits) -> tuple[TrainState, Metrics]:
    """Make updates up to the limits.

    The metrics have an axis of updates in front, of which those that were made are real. The limits
    are traced, so one program makes any number of updates, and how they are cut into calls changes nothing.
    """
    space = config.kernel.space(config.task, Sizes(state.keys.shape[0], config.lanes, config.hidden))
    _, shapes, _ = jax.eval_shape(partial(update, config), hypers, state, space)
    log = jax.tree.map(lambda leaf: jnp.zeros((CAPACITY, *leaf.shape), leaf.dtype), shapes)

    def goes_on(carry: _Carry) -> Bool[Array, ""]:
        i, state, log, _ = carry
        within = (i < jnp.minimum(limits.updates, CAPACITY)) & (log.executed.sum() < limits.steps)
        return within & ~(limits.solved & state.success.solved.all())

    def one(carry: _Carry) -> _Carry:
        i, state, log, space = carry
        state, metrics, space = update(config, hypers, state, space)
        return i + 1, state, jax.tree.map(lambda rows, row: rows.at[i].set(row), log, metrics), space

    _, state, log, _ = jax.lax.while_loop(goes_on, one, (jnp.int32(0), state, log, space))
    return state, log
