"""A run's progress on a terminal, or as a line now and then where there is none."""

import itertools
import math
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
"""Columns of the sparkline and of the bar, where there is room for so many."""
_BESIDE = 42
"""Columns for what stands beside them."""
_LATEST = 5
"""What is told of speed is the mean over so many calls."""


@contextmanager
def watching(console: Console, threshold: float) -> Iterator[Watch]:
    """A watch that shows each progress it is told of."""
    if not console.is_interactive:
        yield Lines(console).show
        return
    screen = Screen(min(_WIDTH, max(8, console.width - _BESIDE)), threshold)
    with Live(console=console, get_renderable=screen.drawing, refresh_per_second=4, transient=True):
        yield screen.show


class Lines:
    """A line for the first progress, for the last, for being solved, and every few seconds between."""

    def __init__(self, console: Console):
        self._console, self._pace = console, Pace()
        self._told_at = -math.inf
        self._solved = False

    def show(self, progress: Progress) -> None:
        """Print a line, if it is time for one."""
        self._pace.note(progress)
        solved_now = progress.solved_at_update is not None and not self._solved
        last = progress.updates >= progress.num_updates
        if time.monotonic() - self._told_at < LINE_EVERY and not solved_now and not last:
            return
        self._told_at, self._solved = time.monotonic(), self._solved or solved_now
        solved = "" if progress.solved_at_update is None else f", solved at update {progress.solved_at_update}"
        self._console.print(
            f"update {progress.updates}/{progress.num_updates}{self._pace.left()}, reward {progress.reward:.2f},"
            f" level {progress.level} of {progress.top_level}, {self._pace.env_steps_per_s():,.0f} steps/s{solved}",
            soft_wrap=True,
        )


class Screen:
    """A few lines that change in place."""

    def __init__(self, width: int, threshold: float):
        self._width, self._threshold = width, threshold
        self._begun, self._pace = time.monotonic(), Pace()
        self._rewards: list[float] = []
        self._latest: Progress | None = None

    def show(self, progress: Progress) -> None:
        """Take the latest, which is drawn before long."""
        self._pace.note(progress)
        self._rewards.append(progress.reward)
        self._latest = progress

    def drawing(self) -> Table | Text:
        """What is on the screen now."""
        if self._latest is None:
            return Text(f"compiling, {duration(time.monotonic() - self._begun)}", style="dim")
        return self._table(self._latest)

    def _table(self, progress: Progress) -> Table:
        table = Table.grid(padding=(0, 2))
        solved = progress.solved_at_update
        done = round(self._width * progress.updates / progress.num_updates)
        bar = Text("━" * done, style="green").append("─" * (self._width - done), style="dim")
        table.add_row("updates", bar, f"{progress.updates}/{progress.num_updates}{self._pace.left()}")
        line = Text(sparkline(self._rewards, self._width), style="cyan")
        status = f"solved at update {solved}" if solved is not None else f"threshold {self._threshold:g}"
        table.add_row("reward", line, Text(f"{progress.reward:.2f}, {status}", style="green" if solved else ""))
        level = f"{progress.level} of {progress.top_level}"
        table.add_row("level", level, f"{self._pace.env_steps_per_s():,.0f} steps/s")
        return table


class Pace:
    """How fast the latest updates were made."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, Progress]] = deque(maxlen=_LATEST + 1)

    def note(self, progress: Progress) -> None:
        """Take the latest."""
        self._seen.append((time.monotonic(), progress))

    def env_steps_per_s(self) -> float:
        """Of the latest calls; the first one of all is left out once there are others, since it begins slowly."""
        rates = [progress.env_steps_per_s for _, progress in self._seen]
        return sum(rates[1:]) / len(rates[1:]) if rates[1:] else rates[0]

    def left(self) -> str:
        """The time to the last update, as long as there is one; one call alone does not tell it."""
        (then, first), (now, last) = self._seen[0], self._seen[-1]
        to_do, made = last.num_updates - last.updates, last.updates - first.updates
        return f", {duration(to_do * (now - then) / made)} left" if to_do and made else ""


def sparkline(values: list[float], width: int) -> str:
    """The values as bars, the lowest to the highest; each stands for some of them if there are more than `width`."""
    if len(values) > width:
        edges = [i * len(values) // width for i in range(width + 1)]
        values = [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    steps = len(_BARS) - 1

    def bar(value: float) -> str:
        if not math.isfinite(value):
            return " "
        return _BARS[round(steps * (value - low) / (high - low)) if high > low else 0]

    return "".join(map(bar, values))


def duration(seconds: float) -> str:
    """As people say it: 45 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
