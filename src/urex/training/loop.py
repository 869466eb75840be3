"""The loop around the compiled program: calls of about a second each, so that there is time for all else between."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import jax
import numpy as np

from urex.config import Config, Hypers
from urex.training.chunk import CAPACITY, advance
from urex.training.state import TrainState
from urex.training.update import Metrics

SECONDS = 1.0
"""About how long a call may take; signals and checkpoints wait for its end."""


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
    config: Config, hypers: Hypers, state: TrainState, num_updates: int, *, until_solved: bool = False
) -> Iterator[Chunk]:
    """Train until `num_updates` are made in all. How they are cut into calls changes nothing but the times."""
    updates, count = int(state.updates), 1
    while updates < num_updates and not (until_solved and state.success.solved.all()):
        begun = time.perf_counter()
        state, log = advance(config, hypers, state, min(count, num_updates - updates), until_solved)
        made, updates = int(state.updates) - updates, int(state.updates)
        metrics = jax.tree.map(lambda rows, made=made: np.asarray(rows[:made]), log)
        seconds = time.perf_counter() - begun
        yield Chunk(state, metrics, updates, seconds)
        count = _next_count(made, seconds)


def compiled(config: Config, hypers: Hypers, state: TrainState) -> TrainState:
    """The same state, when the program is ready to go on from it: a call that makes no update."""
    return jax.block_until_ready(advance(config, hypers, state, 0, False)[0])


def _next_count(count: int, seconds: float) -> int:
    """Updates for a call of the right length, at most twice as many as before, since episodes grow longer."""
    return max(1, min(int(count * SECONDS / seconds), 2 * count, CAPACITY))
