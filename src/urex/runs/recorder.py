"""What a run leaves behind while it goes on: on disk, or for the caller alone in memory."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from urex.errors import UserError
from urex.runs import checkpoint
from urex.runs.directory import Directory
from urex.runs.metrics_log import MetricsLog, read
from urex.training import Chunk, TrainState
from urex.trial import Trial


class Totals(NamedTuple):
    """What a run has spent so far."""

    env_steps: int = 0
    wall_s: float = 0.0
    """Training alone: without compiling, and without the time between an interruption and going on."""

    def after(self, chunk: Chunk) -> "Totals":
        """What is spent after a chunk."""
        steps = int(np.asarray(chunk.metrics.env_steps, np.int64).sum())
        return Totals(self.env_steps + steps, self.wall_s + chunk.seconds)


class Recorder(ABC):
    """Where the lines and states of a run go."""

    @abstractmethod
    def append(self, lines: Iterator[dict[str, Any]]) -> None:
        """Take the lines of some updates."""

    @abstractmethod
    def save(self, state: TrainState, totals: Totals) -> None:
        """Make this the point to go on from."""

    @abstractmethod
    def lines(self) -> list[dict[str, Any]]:
        """All lines so far."""


class InMemory(Recorder):
    """Keeps the lines, and no state: such a run cannot be gone on with."""

    def __init__(self) -> None:
        self._lines: list[dict[str, Any]] = []

    def append(self, lines: Iterator[dict[str, Any]]) -> None:
        """Take the lines of some updates."""
        self._lines.extend(lines)

    def save(self, state: TrainState, totals: Totals) -> None:
        """Do nothing."""
        del state, totals  # unused: there is no place to keep them

    def lines(self) -> list[dict[str, Any]]:
        """All lines so far."""
        return self._lines


class OnDisk(Recorder):
    """Writes to a run's directory."""

    def __init__(self, directory: Directory, metrics: MetricsLog, trial: Trial):
        self._directory, self._metrics, self._trial = directory, metrics, trial

    def append(self, lines: Iterator[dict[str, Any]]) -> None:
        """Take the lines of some updates."""
        self._metrics.append(lines)

    def save(self, state: TrainState, totals: Totals) -> None:
        """Write a checkpoint; first the lines it was written behind are made durable."""
        facts = {**totals._asdict(), "metrics_bytes": self._metrics.settle(), "settings": settings(self._trial)}
        checkpoint.save(self._directory.checkpoints, int(state.updates), state, facts)

    def lines(self) -> list[dict[str, Any]]:
        """All lines so far."""
        return read(self._directory.metrics)


def load(checkpoints: Path, trial: Trial, template: TrainState) -> tuple[TrainState, Totals, int] | None:
    """The state to go on from, what was spent on it, and the bytes of metrics it was written behind."""
    found = checkpoint.load(checkpoints, template)
    if found is None:
        return None
    facts = found.facts
    for name, value in settings(trial).items():
        then = facts["settings"].get(name, value)  # a setting that was not there then had its default
        if then != value:
            raise UserError(
                f"checkpoint {found.path}: it is of a run with {name} {then!r} and not {value!r};"
                " put the run's own config.json back, or start anew in another directory"
            )
    return found.tree, Totals(facts["env_steps"], facts["wall_s"]), facts["metrics_bytes"]


def settings(trial: Trial) -> dict[str, Any]:
    """What a run cannot change: all that its states depend on but rounding, and not how far it goes."""
    fields = {"task": trial.task, **dataclasses.asdict(trial.recipe)}
    others = ("num_updates", "until_solved", "kernel", "cores")
    return {name: value for name, value in fields.items() if name not in others}
