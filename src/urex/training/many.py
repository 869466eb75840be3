"""Many trials of one configuration in one program: the cells of a grid, and their seeds."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from urex.config import Config, Hypers, check_hypers
from urex.errors import UserError
from urex.policies import Policy
from urex.training.loop import Chunk, chunks
from urex.training.memory import group_sizes
from urex.training.state import TrainState, init
from urex.training.update import Metrics


class Many(NamedTuple):
    """What became of the trials, in the order in which they were given."""

    policy: Policy
    """Every array has an axis of trials in front."""
    solved_at_update: Int[np.ndarray, " trials"]
    """How many updates it took to reach the task's threshold; -1 where it was not reached."""
    level: Int[np.ndarray, " trials"]
    """Where in the curriculum each of them ended."""
    metrics: list[Metrics]
    """Of each group that was trained together, with an axis of updates in front."""


def train_many(
    config: Config,
    hypers: Hypers,
    keys: Key[Array, " trials"],
    num_updates: int,
    *,
    until_solved: bool = False,
    devices: int | None = None,
    watch: Callable[[Chunk], Any] = lambda chunk: None,
) -> Many:
    """Train so many trials, each with its own numbers, parameters, curriculum and random stream.

    They are spread over the devices of this host (all of them unless told otherwise), and those that find no room
    together are trained one group after another. How trials are grouped changes the rounding of sums and
    nothing else; a trial in the same place of the same group is the same to the bit.

    Args:
        config: What is compiled.
        hypers: Arrays of the trials' numbers, as `urex.config.stack_hypers` makes them.
        keys: One for each trial.
        num_updates: Updates of each.
        until_solved: Whether a group may end when all of its trials are solved.
        devices: The number of devices to spread the trials over.
        watch: Called with each chunk of updates of each group.
    """
    _check(config, hypers, keys, devices)
    there = jax.local_device_count() if config.cores == 1 else 1
    count = min(there if devices is None else devices, keys.shape[0])
    ended, metrics, begun = [], [], 0
    for size in group_sizes(config, keys.shape[0], count):
        group = np.arange(begun, begun + size)
        begun += size
        filled = group[np.minimum(np.arange(-(-size // count) * count), size - 1)]  # a last one again and again
        own_hypers, own_keys = _of((hypers, keys), filled)
        state, log = _train(config, own_hypers, own_keys, num_updates, until_solved, count, watch)
        ended.append(_of(state, np.arange(size)))
        metrics.append(_trials_of(log, size))
    state = jax.tree.map(lambda *leaves: jnp.concatenate(leaves) if leaves[0].ndim else leaves[0], *ended)
    return Many(
        policy=state.learner.policy,
        solved_at_update=np.asarray(state.success.solved_at_update),
        level=np.asarray(state.curriculum.level),
        metrics=metrics,
    )


def _check(config: Config, hypers: Hypers, keys: Key[Array, " trials"], devices: int | None) -> None:
    """Raise `UserError` unless every trial has its numbers, and they make sense."""
    trials = keys.shape[0]
    if trials < 1:
        raise UserError("keys: there are none; give one for each trial")
    for name, column in hypers._asdict().items():
        if np.shape(column) != (trials,):
            given = f"shape {np.shape(column)}"
            raise UserError(
                f"{name}: it is of {given}, and there are {trials} keys; `stack_hypers` makes arrays of them"
            )
    for trial in zip(*map(np.asarray, hypers), strict=True):
        check_hypers(config, Hypers(*(number.item() for number in trial)))
    there = jax.local_device_count()
    if devices is not None and not 1 <= devices <= there:
        raise UserError(f"devices {devices}: it must be 1 to {there}, those that are here")
    if devices not in (None, 1) and config.cores > 1:
        raise UserError(f"devices {devices}: with cores {config.cores} the devices share each trial; give cores 1")


def _train(
    config: Config,
    hypers: Hypers,
    keys: Key[Array, " trials"],
    num_updates: int,
    until_solved: bool,
    devices: int,
    watch: Callable[[Chunk], Any],
) -> tuple[TrainState, Metrics]:
    """One group."""
    state, log = init(config, hypers, keys), []
    for chunk in chunks(config, hypers, state, num_updates, until_solved=until_solved, devices=devices):
        watch(chunk)
        state = chunk.state
        log.append(chunk.metrics)
    return state, jax.tree.map(lambda *rows: np.concatenate(rows), *log)


def _of(tree: Any, index: Int[np.ndarray, " trials"]) -> Any:
    """These trials, of all that has an axis of them."""
    return jax.tree.map(lambda leaf: leaf[index] if leaf.ndim else leaf, tree)


def _trials_of(log: Metrics, size: int) -> Metrics:
    """What is told of the first so many trials: others only filled a device, and no step of theirs was of use."""
    own = jax.tree.map(lambda rows: rows[:, :size] if rows.ndim > 1 else rows, log)
    of_use = own.env_steps.sum(axis=1, dtype=np.float64) / log.env_steps.sum(axis=1, dtype=np.float64)
    return own._replace(lane_utilisation=(log.lane_utilisation * of_use).astype(np.float32))
