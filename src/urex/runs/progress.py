"""What is told of a run while it goes on."""

from collections.abc import Callable
from typing import NamedTuple

from urex.training import NEVER, Chunk, TrainState
from urex.trial import Trial


class Progress(NamedTuple):
    """Where a run stands after some more updates."""

    updates: int
    num_updates: int
    reward: float
    """The mean total reward of the latest update."""
    level: int
    top_level: int
    env_steps_per_s: float
    updates_per_s: float
    solved_at_update: int | None


Watch = Callable[[Progress], None]
"""Told about once a second."""


def progress_of(trial: Trial, chunk: Chunk) -> Progress:
    """Where a run stands after a chunk."""
    metrics = chunk.metrics
    return Progress(
        updates=chunk.updates,
        num_updates=trial.num_updates,
        reward=float(metrics.reward_mean[-1, 0]),
        level=int(metrics.level[-1, 0]),
        top_level=trial.config.task.levels.top,
        env_steps_per_s=float(metrics.env_steps.sum()) / chunk.seconds,
        updates_per_s=len(metrics.reward_mean) / chunk.seconds,
        solved_at_update=solved_at(chunk.state),
    )


def solved_at(state: TrainState) -> int | None:
    """The updates it took to solve the task, if it is solved."""
    update = int(state.success.solved_at_update[0])
    return None if update == NEVER else update


def ignore(progress: Progress) -> None:
    """Watch nothing."""
    del progress  # unused: nobody looks
