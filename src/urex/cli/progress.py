"""A run's progress on a terminal, or as a line now and then where there is none."""

import itertools
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from urex.runs.progress import Progress, Watch

LINE_EVERY = 5.0
"""Seconds between lines where there is no terminal."""
_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 32
"""Columns of the sparkline and of the bar."""


@contextmanager
def watching(console: Console, threshold: float) -> Iterator[Watch]:
    """A watch that shows each progress it is told of."""
    if not console.is_terminal:
        yield Lines(console).show
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield Screen(live, threshold).show


class Lines:
    """A line for the first progress, for the last, for being solved, and every few seconds between."""

    def __init__(self, console: Console):
        self._console = console
        self._told_at = -LINE_EVERY
        self._solved = False

    def show(self, progress: Progress) -> None:
        """Print a line, if it is time for one."""
        solved_now = progress.solved_at_update is not None and not self._solved
        last = progress.updates >= progress.num_updates
        if time.monotonic() - self._told_at < LINE_EVERY and not solved_now and not last:
            return
        self._told_at, self._solved = time.monotonic(), self._solved or solved_now
        solved = "" if progress.solved_at_update is None else f", solved at update {progress.solved_at_update}"
        self._console.print(
            f"update {progress.updates}/{progress.num_updates}, reward {progress.reward:.2f},"
            f" level {progress.level}/{progress.top_level}, {progress.env_steps_per_s:,.0f} steps/s,"
            f" {duration(_left(progress))} left{solved}",
            soft_wrap=True,
        )


class Screen:
    """A few lines that change in place."""

    def __init__(self, live: Live, threshold: float):
        self._live, self._threshold = live, threshold
        self._rewards: list[float] = []
        self._rates: deque[float] = deque(maxlen=5)

    def show(self, progress: Progress) -> None:
        """Draw the latest."""
        self._rewards.append(progress.reward)
        self._rates.append(progress.env_steps_per_s)
        self._live.update(self._table(progress))

    def _table(self, progress: Progress) -> Table:
        table = Table.grid(padding=(0, 2))
        solved = progress.solved_at_update
        done = round(_WIDTH * progress.updates / progress.num_updates)
        bar = Text("━" * done, style="green").append("━" * (_WIDTH - done), style="dim")
        table.add_row("updates", bar, f"{progress.updates}/{progress.num_updates}, {duration(_left(progress))} left")
        line = Text(sparkline(self._rewards, _WIDTH), style="cyan")
        status = f"solved at update {solved}" if solved is not None else f"threshold {self._threshold:g}"
        table.add_row("reward", line, Text(f"{progress.reward:.2f}, {status}", style="green" if solved else ""))
        table.add_row(
            "level", f"{progress.level} of {progress.top_level}", f"{sum(self._rates) / len(self._rates):,.0f} steps/s"
        )
        return table


def sparkline(values: list[float], width: int) -> str:
    """The values as bars, the lowest to the highest; each stands for some of them if there are more than `width`."""
    if len(values) > width:
        edges = [i * len(values) // width for i in range(width + 1)]
        values = [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]
    low, high = min(values), max(values)
    steps = len(_BARS) - 1
    return "".join(_BARS[round(steps * (value - low) / (high - low)) if high > low else 0] for value in values)


def duration(seconds: float) -> str:
    """As people say it: 45 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _left(progress: Progress) -> float:
    """Seconds to the last update, at the rate of the latest."""
    return (progress.num_updates - progress.updates) / progress.updates_per_s
