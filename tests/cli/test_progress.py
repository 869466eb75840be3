"""What is shown of a run while it goes on: on terminals of several widths, and where there is none."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from urex.cli import progress
from urex.cli.progress import Lines, Screen, duration, sparkline, watching
from urex.runs import Progress

Clock = Callable[[float], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Sets the time; 0 until then."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, seconds)


def at(updates: int, **fields: Any) -> Progress:
    """A run of 100 updates after some of them."""
    given = {"num_updates": 100, "reward": 1.0, "level": 3, "top_level": 30, "env_steps_per_s": 2000.0}
    return Progress(updates=updates, **{**given, "updates_per_s": 1.0, "solved_at_update": None, **fields})


def terminal(width: int) -> Console:
    """One that is looked at, without colours."""
    return Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)


def drawn(screen: Screen, width: int) -> list[str]:
    """The lines that are on it."""
    console = terminal(width)
    console.print(screen.drawing())
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def told(show: list[tuple[float, Progress]], clock: Clock) -> list[str]:
    """The lines where there is no terminal, of what is shown at these times."""
    stream = io.StringIO()
    lines = Lines(Console(file=stream, width=20))
    for seconds, each in show:
        clock(seconds)
        lines.show(each)
    return stream.getvalue().splitlines()


# ---- where there is no terminal


def test_a_line_has_all_that_matters_and_is_never_wrapped(clock: Clock) -> None:
    assert told([(1.0, at(1)), (11.0, at(21, reward=-0.126, solved_at_update=20))], clock) == [
        "update 1/100, reward 1.00, level 3 of 30, 2,000 steps/s",
        "update 21/100, 40 s left, reward -0.13, level 3 of 30, 2,000 steps/s, solved at update 20",
    ]


def test_there_is_a_line_every_few_seconds_and_for_the_first_the_last_and_the_solved(clock: Clock) -> None:
    seconds = [(float(second), at(second, solved_at_update=7 if second >= 8 else None)) for second in range(1, 18)]
    lines = told([*seconds, (17.5, at(100, solved_at_update=7))], clock)
    assert [line.split()[1] for line in lines] == ["1/100,", "6/100,", "8/100,", "13/100,", "100/100,"]
    assert ["solved" in line for line in lines] == [False, False, True, True, True]
    assert ["left" in line for line in lines] == [False, True, True, True, False]


# ---- on a terminal


def test_before_the_first_update_it_is_compiling(clock: Clock) -> None:
    screen = Screen(32, 25.0)
    clock(7.0)
    assert drawn(screen, 80) == ["compiling, 7 s"]


def test_the_screen(clock: Clock) -> None:
    screen = Screen(10, 25.0)
    for second, updates, reward in ((1, 1, 0.0), (2, 11, 3.5), (3, 31, 7.0)):
        clock(second)
        screen.show(at(updates, reward=reward, env_steps_per_s=1000.0 * second))
    assert drawn(screen, 80) == [
        "updates  ━━━───────  31/100, 5 s left",
        "reward   ▁▅█         7.00, threshold 25",
        "level    3 of 30     2,500 steps/s",
    ]
    screen.show(at(100, solved_at_update=90, level=30))
    assert drawn(screen, 80)[:2] == ["updates  ━━━━━━━━━━  100/100", "reward   ▁▅█▂        1.00, solved at update 90"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_fits_the_terminal_however_long_the_run_is(width: int, clock: Clock) -> None:
    console = terminal(width)
    with watching(console, 25.0) as show:
        screen = show.__self__  # pyright: ignore[reportFunctionMemberAccess]
        for number in range(200):
            clock(700.0 * number)
            show(at(49_000 + number, num_updates=60_000, reward=-1000.25, env_steps_per_s=12_345_678.0, level=30))
        assert len(drawn(screen, width)) == 3
        assert max(map(len, drawn(screen, width))) <= width
        show(at(49_999, num_updates=60_000, reward=1000.25, solved_at_update=49_999))
        assert len(drawn(screen, width)) == 3


def test_the_kind_of_watch_is_the_terminals(clock: Clock) -> None:
    del clock  # unused: no time goes by
    with watching(terminal(80), 25.0) as show:
        assert isinstance(show.__self__, Screen)  # pyright: ignore[reportFunctionMemberAccess]
    dumb = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    for console in (Console(file=io.StringIO()), dumb):
        with watching(console, 25.0) as show:
            assert isinstance(show.__self__, Lines)  # pyright: ignore[reportFunctionMemberAccess]


def test_the_screen_leaves_nothing_behind_but_what_was_printed() -> None:
    console = terminal(60)
    with watching(console, 25.0) as show:
        show(at(1))
        console.print("a word")
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "a word\n" in text
    assert text.endswith("\x1b[1A\x1b[2K")  # the last line is erased, and the cursor stands at its beginning


# ---- their parts


def test_the_time_left_is_by_the_latest_updates(clock: Clock) -> None:
    """The first hundred updates took a second each, the latest a tenth."""
    pace = progress.Pace()
    for number in range(10):
        clock(float(number))
        pace.note(at(number, num_updates=1000))
    assert pace.left() == ", 17 min left"
    for number in range(1, 10):
        clock(9.0 + number)
        pace.note(at(9 + 10 * number, num_updates=1000))
    assert pace.left() == ", 90 s left"


def test_the_speed_is_a_mean_without_the_first_call() -> None:
    pace = progress.Pace()
    rates = []
    for rate in (10.0, 100.0, 300.0, 400.0, 400.0, 400.0, 500.0, 600.0):
        pace.note(at(1, env_steps_per_s=rate))
        rates.append(pace.env_steps_per_s())
    assert rates == [10, 100, 200, pytest.approx(800 / 3), 300, 320, 400, 460]


@pytest.mark.parametrize(
    ("values", "width", "line"),
    [
        ([1.0], 4, "▁"),
        ([0.0, 7.0], 4, "▁█"),
        ([float(value) for value in range(8)], 8, "▁▂▃▄▅▆▇█"),
        ([5.0, 5.0, 5.0], 4, "▁▁▁"),
        ([-3.0, -1.0, -2.0], 3, "▁█▅"),
        ([0.0, 0.0, 7.0, 7.0], 2, "▁█"),
        ([0.0, 7.0, 7.0, 0.0, 0.0], 2, "█▁"),
        ([1.0, float("nan"), float("inf"), 2.0], 4, "▁  █"),
        ([float("nan")], 4, " "),
    ],
)
def test_a_sparkline(values: list[float], width: int, line: str) -> None:
    assert sparkline(values, width) == line


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "0 s"), (45.4, "45 s"), (99.4, "99 s"), (100.0, "2 min"), (5999.0, "100 min"), (12_600.0, "3.5 h")],
)
def test_durations_are_said_as_people_do(seconds: float, said: str) -> None:
    assert duration(seconds) == said
