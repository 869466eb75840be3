"""The view of a traced episode: a line for every step, then how it ended."""

from functools import partial, singledispatch
from itertools import accumulate, pairwise
from string import ascii_lowercase
from typing import NamedTuple

import jax.numpy as jnp
from rich.text import Text

from urex.evaluation import Trace, solved
from urex.tasks.binary_search import EQUAL, LARGER, NOTHING, SMALLER, BinarySearch
from urex.tasks.tape import TapeTask
from urex.tasks.task import Task
from urex.views.binary_search import operation_name
from urex.views.tape import action_name, symbol_name
from urex.views.view import render

WIDTH = 100
"""Characters that a line of a tape's episode may take."""
_PATH = 42
"""Characters for a tape and one cell more at both ends; a longer tape is shown in parts."""
_OVERLAP = 8
"""Cells that a part of a long tape has in common with the one before."""
_SIGNALS = {NOTHING: "--", SMALLER: "<", EQUAL: "=", LARGER: ">"}

Cell = tuple[str, int, str]
"""A text, the width to fill (a negative one to its left), and a style."""


def draw_trace(task: Task, trace: Trace, *, colour: bool) -> str:
    """The whole episode as text, with terminal colours if asked."""
    lines = trace_lines(task, trace)
    for line in lines:
        line.rstrip()
    return render(Text("\n").join(lines), colour)


@singledispatch
def trace_lines(task: Task, trace: Trace) -> list[Text]:
    """The lines of the drawing. A task without a view shows what the agent saw and did."""
    seen = [str(observation) for observation in trace.observation.tolist()]
    done = [" ".join(map(str, action)) for action in trace.action.tolist()]
    see, do = (max(map(len, texts)) for texts in (["sees", *seen], ["action", *done]))
    lines = [_line(_title("step", -4), _title("sees", -see), _title("action", do), *_SCORE_TITLES)]
    for t, action in enumerate(done):
        lines.append(_line(_step(t), (seen[t], -see, ""), (action, do, ""), *_score(trace, t)))
    good = _is_solved(task, trace)
    return [*lines, Text(), _verdict(trace, good, "solved" if good else "not solved")]


def _line(*cells: Cell) -> Text:
    """Cells side by side, two spaces apart."""
    padded = [(text.ljust(width) if width > 0 else text.rjust(-width), style) for text, width, style in cells]
    return Text("  ").join(Text(text, style) for text, style in padded)


def _title(text: str, width: int) -> Cell:
    return text, width, "dim"


_SCORE_TITLES = (_title("prob", -5), _title("reward", -6))


def _step(t: int) -> Cell:
    return str(t + 1), -4, "dim"


def _score(trace: Trace, t: int) -> tuple[Cell, Cell]:
    """The probability of the action taken, and the reward if there was one."""
    reward = float(trace.reward[t])
    shown = f"{reward:+.3g}" if reward else ""
    return (f"{trace.probability[t]:.3f}", -5, ""), (shown, -6, "green" if reward > 0 else "red")


def _is_solved(task: Task, trace: Trace) -> bool:
    return bool(solved(task, trace.instance, jnp.float32(trace.total_reward)))


def _verdict(trace: Trace, good: bool, told: str) -> Text:
    """How it ended, how long it took and what it paid."""
    steps = len(trace.reward)
    text = Text().append(told, "bold green" if good else "bold red")
    return text.append(f"; {steps} step{'' if steps == 1 else 's'}, total reward {trace.total_reward:.4g}")


@trace_lines.register
def _search_lines(task: BinarySearch, trace: Trace) -> list[Text]:
    """The columns of the paper's appendix "Example Execution Traces", the range as indices [low, high)."""
    n, position = int(trace.instance.n), int(trace.instance.position)
    registers = [register.tolist() for register in trace.states.registers]
    signals = [_SIGNALS[observation] for observation in trace.observation.tolist()]
    done = [operation_name(action) for action in map(tuple, trace.action.tolist())]
    ranges = [f"[{low}, {high})" for low, high in _inferred_ranges(trace)]
    widths = [-max(5, *(len(str(value)) for value in values)) for values in registers]
    wide = max(map(len, ["range", *ranges]))
    names = (_title(f"R{i}", width) for i, width in enumerate(widths))
    columns = (_title("signal", -6), _title("action", 6), _title("range", wide))
    lines = [_line(_title("step", -4), *names, *columns, *_SCORE_TITLES)]
    for t, signal in enumerate(signals):
        values = [(str(values[t]), width, "") for values, width in zip(registers, widths, strict=True)]
        head = (*values, (signal, -6, "bold green" if signal == "=" else ""))
        if t < len(done):
            lines.append(_line(_step(t), *head, (done[t], 6, ""), (ranges[t], wide, "cyan"), *_score(trace, t)))
        else:
            lines.append(_line(("end", -4, "dim"), *head))
    found, good = signals[-1] == "=", _is_solved(task, trace)
    told = f"found at position {position} of {n}" if found else f"not found; it was at position {position} of {n}"
    late = " with the last step, which pays nothing" if found and not good else ""
    return [*lines, Text(), _verdict(trace, good, told + late)]


def _inferred_ranges(trace: Trace) -> list[tuple[int, int]]:
    """Before every step, the indices [low, high) that the comparisons so far have left."""
    low, high, ranges = 0, int(trace.instance.n), []
    compared = [0, *trace.action[:, 1].tolist()]  # the register that the signal speaks of, if it does
    for t, signal in enumerate(trace.observation.tolist()):
        value = int(trace.states.registers[compared[t]][t])
        low = max(low, value + 1) if signal == LARGER else low
        high = min(high, value) if signal == SMALLER else high
        ranges.append((low, high))
    return ranges


class _Strip(NamedTuple):
    """The cells of a tape that are shown, with room for one more at both ends."""

    start: int
    stop: int
    pitch: int

    @property
    def width(self) -> int:
        return (self.stop - self.start + 2) * self.pitch

    def place(self, column: int, mark: str) -> str:
        """The mark under its cell; an arrow at the edge for one farther outside."""
        slot, last = column - self.start + 1, self.stop - self.start + 1
        mark = "<" if slot < 0 else ">" if slot > last else mark
        return " " * self.pitch * min(max(slot, 0), last) + mark

    def tape(self, symbols: list[str]) -> str:
        """The symbols of one row, with an ellipsis where there are more."""
        before, after = "…" if self.start > 0 else "", "…" if self.stop < len(symbols) else ""
        return "".join(cell.ljust(self.pitch) for cell in (before, *symbols[self.start : self.stop], after))


def _first_strip(task: TapeTask, length: int, room: int) -> _Strip:
    """All of so many symbols, or as many of the first ones as there is room for."""
    symbol = len(symbol_name(task, task.rules.base - 1))
    tight = symbol == 1 and (length + 2) * 2 > room
    pitch = 1 if tight else symbol + 1
    return _Strip(0, min(length, room // pitch - 2), pitch)


def _follow(length: int, strip: _Strip, column: int) -> _Strip:
    """The part to show when the head is at this column: another one only if the head has left it."""
    column, count = min(max(column, 0), length - 1), strip.stop - strip.start
    if strip.start <= column < strip.stop:
        return strip
    start = column - _OVERLAP if column >= strip.stop else column + _OVERLAP + 1 - count
    start = min(max(start, 0), length - count)
    return strip._replace(start=start, stop=start + count)


@trace_lines.register
def _tape_lines(task: TapeTask, trace: Trace) -> list[Text]:
    """The tape, and below it the head's path, a line for every step."""
    length = int(trace.instance.length)
    columns = trace.states.column[:-1].tolist()
    strips = list(accumulate(columns, partial(_follow, length), initial=_first_strip(task, length, _PATH)))
    done = [action_name(task, action) for action in map(tuple, trace.action.tolist())]
    do = max(map(len, ["action", *done]))
    titles = (_title("", strips[0].width), _title("action", do), *_SCORE_TITLES, _title("output", 0))
    lines = [_line(_title("step", -4), _title("sees", -5), *titles)]
    written, counts = _written(task, trace), trace.action[:, 1].cumsum().tolist()
    for t, (before, strip) in enumerate(pairwise(strips)):
        if t == 0 or strip != before:
            lines += _tape_rows(task, trace, strip)
        line = _line(_step(t), *_head(task, trace, t, strip), (done[t], do, _style(trace, t)), *_score(trace, t))
        lines.append(line.append("  " + _ending(written[: counts[t]], WIDTH - len(line) - 2)))
    return [*lines, Text(), *_tape_outcome(task, trace)]


def _tape_rows(task: TapeTask, trace: Trace, strip: _Strip) -> list[Text]:
    """The part of the tape above the path; the rows of a grid are told apart by letters."""
    length, rows = int(trace.instance.length), task.rules.rows
    unit = "cells" if rows == 1 else "columns"
    part = f"{unit} {strip.start + 1} to {strip.stop} of {length}" if strip.stop - strip.start < length else ""
    lines = []
    for y in range(rows):
        symbols = [symbol_name(task, symbol) for symbol in trace.instance.cells[y::rows][:length].tolist()]
        name = (ascii_lowercase[y] if rows > 1 else "", -5, "dim")
        told = (part if y == 0 else "", 0, "dim")
        lines.append(_line(("", 4, ""), name, (strip.tape(symbols), strip.width, "bold"), told))
    return lines


def _head(task: TapeTask, trace: Trace, t: int, strip: _Strip) -> tuple[Cell, Cell]:
    """What is under the head, and where that is."""
    column, row, rows = int(trace.states.column[t]), int(trace.states.row[t]), task.rules.rows
    mark = "^" if row < 0 else "v" if row >= rows else "●" if rows == 1 else ascii_lowercase[row]
    seen = symbol_name(task, int(trace.observation[t]))
    return ("blank" if seen == " " else seen, -5, ""), (strip.place(column, mark), strip.width, "bold cyan")


def _style(trace: Trace, t: int) -> str:
    """The style of an action: of a right symbol, a wrong one, or none."""
    _, write, symbol = trace.action[t].tolist()
    if not write:
        return ""
    return "green" if symbol == trace.instance.target[trace.states.write_head[t]] else "bold red"


def _written(task: TapeTask, trace: Trace) -> list[str]:
    """All symbols written, the last of which may be wrong."""
    return [symbol_name(task, symbol) for _, write, symbol in trace.action.tolist() if write]


def _ending(symbols: list[str], room: int) -> str:
    """The symbols, or as many of the last ones as there is room for."""
    latest = symbols[-room:]
    text = ("" if max(map(len, latest), default=1) == 1 else " ").join(latest)
    return text if len(symbols) == len(latest) and len(text) <= room else "…" + text[len(text) + 1 - room :]


def _tape_outcome(task: TapeTask, trace: Trace) -> list[Text]:
    """The output beside the target, and how it ended."""
    wanted = [symbol_name(task, symbol) for symbol in trace.instance.target[: trace.instance.target_length].tolist()]
    written, limit = _written(task, trace), int(trace.instance.time_limit)
    good, last = _is_solved(task, trace), max(len(written) - 1, 0)
    if good:
        told = "solved"
    elif len(trace.reward) > limit:
        told = f"out of time after {limit} steps, {len(written)} of {len(wanted)} symbols written"
    else:
        told = f"wrong symbol: {written[last]} was written where {wanted[last]} was wanted"
    strip = _follow(len(wanted), _first_strip(task, len(wanted), WIDTH - 7), last)
    output, target = (Text(f"{name} {strip.tape(row)}") for name, row in (("output", written), ("target", wanted)))
    if written and written[last] != wanted[last]:
        output.stylize("bold red", output.plain.rstrip().rindex(written[last]))
    return [output, target, _verdict(trace, good, told)]
