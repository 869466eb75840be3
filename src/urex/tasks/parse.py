"""Tapes as people write them."""

import numpy as np

from urex.errors import UserError, shortened
from urex.tasks.tape import TapeTask


def parse_tape(task: TapeTask, tape: object) -> tuple[np.ndarray, int]:
    """The tape padded to `max_length`, and its length; or `UserError`.

    One row is a list of symbols; a grid is a list of columns, each a list of symbols from the top.
    """
    rules = task.rules
    columns = _columns(task, tape)
    outside = columns[(columns < 0) | (columns >= rules.base)]
    if outside.size:
        raise UserError(f"tape symbol {outside[0]}: symbols are 0 to {rules.base - 1}; change it to one of these")
    task.check_length(len(columns))
    for start in range(0, len(columns), rules.run):
        if (columns[start : start + rules.run] != columns[start]).any():
            raise UserError(
                f"tape {shortened(repr(tape))}: each symbol must stand {rules.run} times in a row,"
                f" but cells {start} to {start + rules.run - 1} differ; write it like {_example(task)}"
            )
    padded = np.zeros((task.max_length, rules.rows), np.int32)
    padded[: len(columns)] = columns
    return padded, len(columns)


def _columns(task: TapeTask, tape: object) -> np.ndarray:
    rows = task.rules.rows
    try:
        given = np.asarray(tape)
    except ValueError:  # columns of unequal length
        given = np.empty((0, 0))
    if rows == 1 and given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or given.shape[-1] != rows or not np.issubdtype(given.dtype, np.integer):
        kind = "a list of symbols" if rows == 1 else f"a list of columns of {rows} symbols each"
        raise UserError(f"tape {shortened(repr(tape))}: it must be {kind}; write it like {_example(task)}")
    return given


def _example(task: TapeTask) -> str:
    cells = [symbol for symbol in (0, 1) for _ in range(task.rules.run)]
    return str(cells if task.rules.rows == 1 else [[cell] * task.rules.rows for cell in cells])
