"""What `reset(options=...)` may ask for: a level, a size, or one particular instance."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from urex.errors import UserError, unknown, whole_number
from urex.tasks.binary_search import BinarySearch, SearchInstance
from urex.tasks.parse import parse_tape
from urex.tasks.tape import TapeTask
from urex.tasks.task import Instance, SizedTask, Task

Draw = Callable[[Any, PRNGKeyArray, Any], Instance]
"""Draws one instance of a task from a key and an argument; a function of a module, so that it compiles once."""
Request = tuple[Draw, Any]
"""How to draw an instance, and the argument to draw it with."""


def draw_level(task: Task, key: PRNGKeyArray, level: Int[Array, ""]) -> Instance:
    """Any instance of a level."""
    return task.sample(key, level)


def draw_length(task: SizedTask, key: PRNGKeyArray, length: Int[Array, ""]) -> Instance:
    """Any instance of a size."""
    return task.sample_length(key, length)


def draw_tape(task: TapeTask, key: PRNGKeyArray, tape: tuple[Array, Array]) -> Instance:
    """The instance with this tape and length."""
    del key  # unused: the tape is given
    return task.instance(*tape)


def draw_search(task: BinarySearch, key: PRNGKeyArray, search: tuple[Array, Array]) -> Instance:
    """The instance with this n and position."""
    del task, key  # unused: the instance is given
    return SearchInstance(*search)


def option_names(task: Task) -> tuple[str, ...]:
    """The options that a task's environment takes."""
    sized = ("length",) if isinstance(task, SizedTask) else ()
    tape = ("tape",) if isinstance(task, TapeTask) else ()
    search = ("n", "position") if isinstance(task, BinarySearch) else ()
    return ("level", *sized, *tape, *search)


def request(task: Task, options: Mapping[str, object], level: int, beside: Sequence[str] = ()) -> Request:
    """Read the options; without any, an instance of `level` is asked for.

    Those named in `beside` are the caller's own, and are left to it.
    """
    known = (*option_names(task), *beside)
    for name in options:
        if name not in known:
            raise unknown("option", name, known)
    given = {name: value for name, value in options.items() if name not in beside}
    if len(given.keys() - {"position"}) > 1 or ("position" in given and "n" not in given):
        raise UserError(f"options {', '.join(given)}: give one of them at a time, and position together with n")
    if isinstance(task, TapeTask) and "tape" in given:
        return draw_tape, parse_tape(task, given["tape"])
    if isinstance(task, BinarySearch) and "position" in given:
        return draw_search, _search(task, given["n"], given["position"])
    if isinstance(task, SizedTask) and given.keys() & {"length", "n"}:
        length = whole_number(*given.popitem())
        task.check_length(length)
        return draw_length, np.int32(length)
    return draw_level, np.int32(check_level(task, given.get("level", level)))


def check_level(task: Task, level: object) -> int:
    """The level, if the task has it."""
    levels, given = task.levels, whole_number("level", level)
    if not levels.first <= given <= levels.top:
        raise UserError(f"level {given}: it must be {levels.first} to {levels.top}")
    return given


def _search(task: BinarySearch, n: object, position: object) -> tuple[np.int32, np.int32]:
    length, place = whole_number("n", n), whole_number("position", position)
    task.check_length(length)
    if not 0 <= place < length:
        raise UserError(f"position {place}: it must be 0 to {length - 1}, inside the array")
    return np.int32(length), np.int32(place)
