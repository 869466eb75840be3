"""Many updates in one call of one compiled program."""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec
from jaxtyping import Array, Bool, Int

from urex.config import Config, Hypers
from urex.kernels import Sizes, Space
from urex.kernels.cores import ALIKE, APART, on_each, replicated
from urex.training import spread
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


class _Carry(NamedTuple):
    made: Int[Array, ""]
    solved: Bool[Array, ""]
    """Whether all trials are."""
    state: TrainState
    log: Metrics
    space: Space


class _Reach(NamedTuple):
    """How what holds of a device's trials is told of all."""

    metrics: Callable[[Metrics], Metrics]
    flag: Callable[[Bool[Array, ""]], Bool[Array, ""]]


ALONE = _Reach(metrics=lambda metrics: metrics, flag=lambda flag: flag)
SPREAD = _Reach(metrics=spread.together, flag=spread.everywhere)


def advance(config: Config, hypers: Hypers, state: TrainState, limits: Limits) -> tuple[TrainState, Metrics]:
    """Make updates up to the limits; the state's memory is taken for it.

    The metrics have an axis of updates in front, of which those that were made are real. The limits
    are traced, so one program makes any number of updates, and how they are cut into calls changes nothing.
    """
    return go_on(config, hypers, state, limits, new_space(config, state))[:2]


def go_on(
    config: Config, hypers: Hypers, state: TrainState, limits: Limits, space: Space, *, devices: int = 1
) -> tuple[TrainState, Metrics, Space]:
    """As `advance`, with the kernel's memory from an earlier call, for the next one: to make it takes a while.

    The trials are spread over so many devices, whose number must divide theirs.
    """
    placed = replicated(config.cores, state) if devices == 1 else spread.spread(devices, state)
    return _program_here()(config, devices, hypers, placed, limits, space)


def new_space(config: Config, state: TrainState, *, devices: int = 1) -> Space:
    """The memory of the configuration's kernel; each core or device has its own."""
    return _new_space(config, state.keys.shape[0] // devices, devices)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _new_space(config: Config, trials: int, devices: int) -> Space:
    sizes = Sizes(trials, config.lanes // config.cores, config.hidden)

    def make() -> Space:
        return config.kernel.space(config.task, sizes)

    if devices == 1:
        return on_each(config.cores, make, out_specs=APART)()
    return on_each(devices, make, in_specs=(), out_specs=PartitionSpec(spread.AXIS), axis=spread.AXIS)()


@cache
def _program_here() -> Callable[..., tuple[TrainState, Metrics, Space]]:
    """The compiled program, with what helps on the device at hand."""
    # XLA's own choice is 256, with which training is slower on CPUs that have wider vectors
    options = {"xla_cpu_prefer_vector_width": 512} if jax.default_backend() == "cpu" else {}
    return jax.jit(_go_on, static_argnums=(0, 1), donate_argnums=(3, 5), compiler_options=options)


def _go_on(
    config: Config, devices: int, hypers: Hypers, state: TrainState, limits: Limits, space: Space
) -> tuple[TrainState, Metrics, Space]:
    arguments = (hypers, state, limits, space)
    if devices == 1:
        specs = {"in_specs": (ALIKE, ALIKE, ALIKE, APART), "out_specs": (ALIKE, ALIKE, APART)}
        return on_each(config.cores, partial(_program, config, ALONE), **specs)(*arguments)
    _, log, _ = jax.eval_shape(partial(_program, config, ALONE), *arguments)
    own, by_trial = PartitionSpec(spread.AXIS), spread.divided
    return on_each(
        devices,
        partial(_program, config, SPREAD),
        axis=spread.AXIS,
        in_specs=(by_trial(hypers), by_trial(state), PartitionSpec(), own),
        out_specs=(by_trial(state), by_trial(log, axis=1), own),
    )(*arguments)


def _program(
    config: Config, reach: _Reach, hypers: Hypers, state: TrainState, limits: Limits, space: Space
) -> tuple[TrainState, Metrics, Space]:
    """What each core or device runs."""
    _, shapes, _ = jax.eval_shape(partial(update, config), hypers, state, space)
    log = jax.tree.map(lambda leaf: jnp.zeros((CAPACITY, *leaf.shape), leaf.dtype), shapes)

    def goes_on(now: _Carry) -> Bool[Array, ""]:
        within = (now.made < jnp.minimum(limits.updates, CAPACITY)) & (now.log.executed.sum() < limits.steps)
        return within & ~(limits.solved & now.solved)

    def one(now: _Carry) -> _Carry:
        state, metrics, space = update(config, hypers, now.state, now.space)
        log = jax.tree.map(lambda rows, row: rows.at[now.made].set(row), now.log, reach.metrics(metrics))
        return _Carry(now.made + 1, reach.flag(state.success.solved.all()), state, log, space)

    start = _Carry(jnp.int32(0), reach.flag(state.success.solved.all()), state, log, space)
    last = jax.lax.while_loop(goes_on, one, start)
    return last.state, last.log, last.space
