"""The log of a run's updates: `metrics.jsonl`, one line each."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from urex.errors import UserError
from urex.training import Chunk

ALWAYS = ("gradient_norm", "importance_weight_variance", "ess", "entropy")
"""Measurements that every line has; null where the learner or the temperature has no such thing."""


def rows(chunk: Chunk, env_steps: int, wall_s: float) -> Iterator[dict[str, Any]]:
    """The lines of one trial's chunk, after so many steps and seconds before it."""
    metrics, count = chunk.metrics, len(chunk.metrics.reward_mean)
    totals = env_steps + np.cumsum(np.asarray(metrics.env_steps[:, 0], np.int64))
    for i in range(count):
        info = {name: values[i, 0] for name, values in metrics.info.items()}
        yield {
            "update": chunk.updates - count + i + 1,
            "env_steps": int(totals[i]),
            "wall_s": round(wall_s + chunk.seconds * (i + 1) / count, 4),
            "reward_mean": number(metrics.reward_mean[i, 0]),
            "level": int(metrics.level[i, 0]),
            "episode_length": number(metrics.episode_length[i, 0]),
            "lane_utilisation": number(metrics.lane_utilisation[i]),
            **{name: number(value) for name, value in (dict.fromkeys(ALWAYS, np.float32(np.nan)) | info).items()},
        }


class MetricsLog:
    """The file, opened to go on behind its first `size` bytes; what lies past them is cut off."""

    def __init__(self, path: Path, size: int = 0):
        self.path = path
        try:
            self._file = open(path, "ab")  # noqa: SIM115  it stays open for the run
            there = self._file.seek(0, os.SEEK_END)
            if there < size:
                self._file.close()
                raise UserError(
                    f"metrics {path}: they have {there} bytes and the checkpoint was written after {size};"
                    " put the whole file back, or start anew in another directory"
                )
            self._file.truncate(size)
            self._file.seek(size)
        except OSError as error:
            raise _not_written(path, error) from error

    def append(self, lines: Iterator[dict[str, Any]]) -> None:
        """Write the lines; they are in the file when this returns."""
        try:
            for line in lines:
                self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise _not_written(self.path, error) from error

    def settle(self) -> int:
        """Make all lines durable; their number of bytes."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _not_written(self.path, error) from error
        return self._file.tell()

    def __enter__(self) -> "MetricsLog":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._file.close()
        except OSError:  # what could not be written was told when it was tried
            if kind is None:
                raise


def read(path: Path) -> list[dict[str, Any]]:
    """All lines of a log; one that a kill cut short is left out."""
    try:
        whole = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise UserError(f"metrics {path}: they could not be read ({error.strerror}); put them back") from None
    return [_line(path, number, line) for number, line in enumerate(whole, 1)]


def _line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        return json.loads(line)
    except ValueError:
        raise UserError(f"metrics {path}: line {number} is not as it was written; put the file back") from None


def number(value: Any) -> float | None:
    """In as few digits as tell it from its neighbours in 32 bits; JSON has no infinities."""
    return float(str(value)) if np.isfinite(value) else None


def _not_written(path: Path, error: OSError) -> UserError:
    return UserError(
        f"metrics {path}: they could not be written ({error.strerror}); the checkpoints are whole;"
        f" mend that, and go on with `urex train --resume {path.parent}`"
    )
