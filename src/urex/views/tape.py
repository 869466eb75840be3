"""The view of the tape machine."""

from collections.abc import Callable
from string import ascii_uppercase

import jax.numpy as jnp
from jaxtyping import Array, Int
from rich.text import Text

from urex.tasks.tape import TapeInstance, TapeState, TapeTask
from urex.views.view import Facts, Frame, instance_facts, picture, state_facts

MOVES = ("left", "right", "up", "down")
_REACH = 16
"""Cells shown on either side of a head."""


@instance_facts.register
def _instance_facts(task: TapeTask, instance: TapeInstance) -> Facts:
    del task  # unused: every tape has these
    return {
        "target": instance.target,
        "target_length": instance.target_length,
        "time_limit": instance.time_limit,
    }


@state_facts.register
def _state_facts(task: TapeTask, state: TapeState) -> Facts:
    return {"read_head": read_head(task, state), "write_head": state.write_head}


def read_head(task: TapeTask, state: TapeState) -> Int[Array, "*batch"]:
    """The position of the read head: a column, or on a grid (column, row)."""
    return state.column if task.rules.rows == 1 else jnp.stack([state.column, state.row], axis=-1)


@picture.register
def _picture(task: TapeTask, frame: Frame) -> list[tuple[str, Text]]:
    instance, state = frame.instance, frame.state
    column, row, rows = int(state.column), int(state.row), task.rules.rows
    written, wrong = _written(frame)
    wanted = [int(symbol) for symbol in instance.target[: int(instance.target_length)]]
    lines = [("tape" if y == 0 else "", _tape_row(task, frame, y)) for y in range(rows)]
    if not (0 <= column < int(instance.length) and 0 <= row < rows):
        lines.append(("head", Text(f"outside, at column {column}" + (f", row {row}" if rows > 1 else ""))))
    wrong_at = len(written) - 1 if wrong else None

    def output_cell(position: int) -> tuple[str, str]:
        style = "bold red" if position == wrong_at else "green"
        return f" {symbol_name(task, written[position])} ", style

    return [
        *lines,
        ("output", _row(int(state.write_head), len(written), output_cell)),
        ("target", _row(int(state.write_head), len(wanted), lambda i: (f" {symbol_name(task, wanted[i])} ", ""))),
        ("action", Text("none yet" if frame.action is None else action_name(task, frame.action))),
    ]


def _tape_row(task: TapeTask, frame: Frame, row: int) -> Text:
    head = (int(frame.state.column), int(frame.state.row))

    def cell(column: int) -> tuple[str, str]:
        symbol = symbol_name(task, int(frame.instance.cells[column * task.rules.rows + row]))
        return (f"[{symbol}]", "bold reverse") if (column, row) == head else (f" {symbol} ", "")

    return _row(head[0], int(frame.instance.length), cell)


def _row(head: int, length: int, cell: Callable[[int], tuple[str, str]]) -> Text:
    """The cells near the head, with an ellipsis where there are more."""
    shown = _around(head, length)
    text = Text("… " if shown.start > 0 else "")
    for position in shown:
        text.append(*cell(position))
    return text.append(" …" if shown.stop < length else "")


def _around(head: int, length: int) -> range:
    """The positions to show: all, or those near the head."""
    head = min(max(head, 0), length)
    start = max(0, min(head - _REACH, length - 2 * _REACH))
    return range(start, min(length, start + 2 * _REACH))


def _written(frame: Frame) -> tuple[list[int], bool]:
    """What has been written, and whether its last symbol is wrong; all before must be right."""
    count = int(frame.state.write_head)
    written = [int(symbol) for symbol in frame.instance.target[:count]]
    if frame.action is None or not count or not frame.action[1]:
        return written, False
    wrong = written[-1] != frame.action[2]
    return [*written[:-1], frame.action[2]], wrong


def symbol_name(task: TapeTask, symbol: int) -> str:
    """A symbol as people are shown it; the blank is a space."""
    if symbol == task.rules.base:
        return " "
    return ascii_uppercase[symbol] if task.rules.letters else str(symbol)


def action_name(task: TapeTask, action: tuple[int, ...]) -> str:
    """An action in words."""
    move, write, symbol = action
    return MOVES[move] + (f", write {symbol_name(task, symbol)}" if write else "")
