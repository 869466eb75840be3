"""The loop around the compiled program: calls of about a second each, so that there is time for all else between."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np

from urex.config import Config, Hypers
from urex.training.chunk import CAPACITY, Limits, advance, go_on, new_space
from urex.training.state import TrainState
from urex.training.update import Metrics

SECONDS = 1.0
"""About how long a call may take; signals and checkpoints wait for its end."""

FIRST_STEPS = 10_000
"""Steps that the first call may take."""


class Chunk(NamedTuple):
    """What one call did."""

    state: TrainState
    """After it. The next call takes its memory, so what is to be kept must be copied before that."""
    metrics: Metrics
    """Of its updates, in order: NumPy arrays with an axis of updates in front."""
    updates: int
    """How many updates the trials have behind them."""
    seconds: float


def chunks(
    config: Config, hypers: Hypers, state: TrainState, num_updates: int, *, until_solved: bool = False, devices: int = 1
) -> Iterator[Chunk]:
    """Train until `num_updates` are made in all. How they are cut into calls changes nothing but the times."""
    updates, count, steps = int(state.updates), 1, FIRST_STEPS
    space = jax.block_until_ready(new_space(config, state, devices=devices))  # or the first call would wait for it
    while updates < num_updates and not (until_solved and state.success.solved.all()):
        begun = time.perf_counter()
        limits = Limits(min(count, num_updates - updates), steps, until_solved)
        state, log, space = go_on(config, hypers, state, limits, space, devices=devices)
        made, updates = int(state.updates) - updates, int(state.updates)
        metrics = jax.tree.map(lambda rows, made=made: np.asarray(rows)[:made], log)
        seconds = time.perf_counter() - begun
        yield Chunk(state, metrics, updates, seconds)
        count, steps = _next_count(made, seconds), _next_steps(int(metrics.executed.sum()), seconds)


def compiled(config: Config, hypers: Hypers, state: TrainState) -> TrainState:
    """The same state, when the program is ready to go on from it: a call that makes no update."""
    return jax.block_until_ready(advance(config, hypers, state, Limits(0, FIRST_STEPS, False))[0])


def _next_count(count: int, seconds: float) -> int:
    """Updates for a call of the right length, at most twice as many as before."""
    return max(1, min(int(count * SECONDS / seconds), 2 * count, CAPACITY))


def _next_steps(steps: int, seconds: float) -> int:
    """Steps for a call of at most a few times the right length, however much longer the episodes become in it."""
    return max(1, min(int(4 * steps * SECONDS / seconds), FIRST_STEPS * 10_000))
