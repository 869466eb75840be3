"""The view of BinarySearch."""

import jax.numpy as jnp
from rich.text import Text

from urex.tasks.binary_search import BinarySearch, SearchInstance, SearchState
from urex.views.view import Facts, Frame, instance_facts, picture, state_facts

OPERATIONS = ("INC", "DIV", "AVG", "CMP")
SIGNALS = ("nothing", "it is smaller", "found", "it is larger")
_SCALE = 48
"""Characters that stand for the whole array."""


@instance_facts.register
def _instance_facts(task: BinarySearch, instance: SearchInstance) -> Facts:
    del task  # unused: every search has these
    return {"target": instance.position, "n": instance.n, "time_limit": 2 * instance.n + 1}


@state_facts.register
def _state_facts(task: BinarySearch, state: SearchState) -> Facts:
    del task  # unused: there are always three registers
    return {"registers": jnp.stack(state.registers, axis=-1)}


@picture.register
def _picture(task: BinarySearch, frame: Frame) -> list[tuple[str, Text]]:
    del task  # unused: the frame holds all that is shown
    n, position = int(frame.instance.n), int(frame.instance.position)
    registers = [int(value) for value in frame.state.registers]
    used = None if frame.action is None else frame.action[1]
    values = Text()
    for i, value in enumerate(registers):
        values.append(f"[R{i} {value}]" if i == used else f" R{i} {value} ", style="bold" if i == used else "")
    return [
        ("array", Text(f"{n} numbers; the one looked for is at {position}")),
        ("", _scale(n, position, registers)),
        ("registers", values),
        ("signal", Text(SIGNALS[frame.observation], style="green" if frame.observation == 2 else "")),
        ("action", Text("none yet" if frame.action is None else operation_name(frame.action))),
    ]


def operation_name(action: tuple[int, ...]) -> str:
    """An action as the paper writes it: CMP(2)."""
    return f"{OPERATIONS[action[0]]}({action[1]})"


def _scale(n: int, position: int, registers: list[int]) -> Text:
    """The array as a line, with the registers' digits and an x at the number looked for."""
    marks = ["·"] * (_SCALE + 1)
    for i, value in reversed(list(enumerate(registers))):
        marks[min(value, n) * _SCALE // n] = str(i)
    marks[position * _SCALE // n] = "x"
    return Text("|" + "".join(marks) + "|")
