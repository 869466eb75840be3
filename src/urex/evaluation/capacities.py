"""The sizes that programs are compiled for. A length is played at the smallest one that holds it."""

from collections.abc import Callable

from urex.errors import UserError
from urex.tasks.task import SizedTask, Task

CAPACITIES = (32, 128, 512, 2000)
"""Past the last of them come the powers of two."""

MakeTask = Callable[[int], Task]
"""The same task with another `max_length`."""


def capacity_for(length: int) -> int:
    """The smallest capacity that holds instances of this length."""
    for capacity in CAPACITIES:
        if length <= capacity:
            return capacity
    return 1 << (length - 1).bit_length()


def sized(make_task: MakeTask, capacity: int) -> SizedTask:
    """The task at this capacity, if its instances have a length at all."""
    task = make_task(capacity)
    if not isinstance(task, SizedTask):
        raise UserError(
            f"task {type(task).__name__}: its instances have no length to evaluate at;"
            " derive it from urex.tasks.SizedTask, which adds max_length, check_length and sample_length"
        )
    return task
