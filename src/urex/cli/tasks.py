"""`urex tasks`: what there is to learn."""

import inspect
import json
from typing import TYPE_CHECKING, Annotated, TypedDict

import tyro
from rich.console import Console
from rich.table import Table

from urex.cli.flags import Json, add_working_directory, optional

if TYPE_CHECKING:
    from urex.tasks import Task

Names = Annotated[tuple[str, ...], tyro.conf.Positional, optional("[TASK ...]")]


class Row(TypedDict):
    """What is told of a task."""

    name: str
    description: str
    actions: list[int]
    observations: int
    reward_threshold: float
    max_steps: int
    levels: list[int]


def tasks(names: Names = (), *, as_json: Json = False) -> None:
    """List the tasks that can be learnt.

    Args:
        names: Tasks to list instead of all. With a module before it, my.module:name, that is imported first, so that it
            registers its tasks.
    """
    from urex.tasks import registry  # JAX comes with it, and help should not wait for that

    add_working_directory()
    described = {name: registry.get(name) for name in names or registry.names()}
    rows = [_row(name, task, inspect.getdoc(registry.factory(name))) for name, task in described.items()]
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        Console().print(_table(rows))


def _row(name: str, task: "Task", description: str | None) -> Row:
    return {
        "name": name.rpartition(":")[2],
        "description": (description or "").split("\n")[0],
        "actions": list(task.actions),
        "observations": task.observations,
        "reward_threshold": task.reward_threshold,
        "max_steps": task.max_steps,
        "levels": [task.levels.first, task.levels.top],
    }


def _table(rows: list[Row]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("task", no_wrap=True)
    for title in ("actions", "obs.", "threshold"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("to learn")
    for row in rows:
        numbers = ("x".join(map(str, row["actions"])), str(row["observations"]), f"{row['reward_threshold']:g}")
        table.add_row(row["name"], *numbers, row["description"])
    return table
