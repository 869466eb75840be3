"""Views are functions chosen by the type of the task, so a task need not know that it has any."""

import io
from functools import singledispatch
from typing import NamedTuple

from jaxtyping import Array, PyTree
from rich.console import Console
from rich.text import Text

from urex.tasks.task import Instance, State, Task

Facts = dict[str, Array]
"""Named values, of one instance or of a batch; arrays of varying length come with their length."""


class Frame(NamedTuple):
    """One moment of an episode."""

    title: str
    instance: PyTree
    state: PyTree
    observation: int
    action: tuple[int, ...] | None = None
    """The action that led here; None at the start."""
    reward: float = 0.0
    total_reward: float = 0.0
    over: bool = False


@singledispatch
def instance_facts(task: Task, instance: Instance) -> Facts:
    """What is fixed in an episode and the agent is not told. A task without a view has none."""
    del task, instance  # unused: nothing is known of a task without a view
    return {}


@singledispatch
def state_facts(task: Task, state: State) -> Facts:
    """What changes in an episode and the agent does not see."""
    del task, state  # unused: nothing is known of a task without a view
    return {}


@singledispatch
def picture(task: Task, frame: Frame) -> list[tuple[str, Text]]:
    """The labelled lines that show a moment. A task without a view shows what the agent sees."""
    del task  # unused: nothing is known of a task without a view
    shown = "none yet" if frame.action is None else " ".join(map(str, frame.action))
    return [("observation", Text(str(frame.observation))), ("action", Text(shown))]


def draw(task: Task, frame: Frame, *, colour: bool) -> str:
    """The moment as text of several lines, with terminal colours if asked."""
    score = Text(f"reward {frame.reward:+g}, total {frame.total_reward:+g}{', episode over' if frame.over else ''}")
    lines = [*picture(task, frame), ("score", score)]
    width = max(len(label) for label, _ in lines)
    text = Text().append(frame.title, style="bold")
    for label, line in lines:
        text.append(f"\n  {label:<{width}}  ", style="dim").append_text(line)
    return render(text, colour)


def render(text: Text, colour: bool) -> str:
    """The text as a string that is never wrapped, with terminal colours if asked."""
    stream = io.StringIO()
    widest = max(map(len, text.plain.split("\n")))
    console = Console(
        file=stream,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        width=widest + 1,
        highlight=False,
    )
    console.print(text, soft_wrap=True, end="")
    return stream.getvalue()
