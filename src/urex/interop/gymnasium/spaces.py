"""A task's spaces, and the check that an action is in one."""

from contextlib import suppress
from operator import index

import numpy as np
from gymnasium import spaces

from urex.errors import UserError, shortened
from urex.tasks.task import Task


def observation_space(task: Task) -> spaces.Discrete:
    """One integer."""
    return spaces.Discrete(task.observations)


def action_space(task: Task) -> spaces.Tuple:
    """One integer for each sub-action."""
    return spaces.Tuple([spaces.Discrete(size) for size in task.actions])


def check_action(task: Task, action: object) -> np.ndarray:
    """The sub-actions of one action as an int32 array, or `UserError`."""
    if isinstance(action, tuple) and len(action) == len(task.actions):  # the common case, without NumPy's overhead
        with suppress(TypeError):
            if all(0 <= index(part) < size for part, size in zip(action, task.actions, strict=True)):
                return np.array(action, np.int32)
    return check_actions(task, action, ())


def check_actions(task: Task, action: object, batch: tuple[int, ...]) -> np.ndarray:
    """The sub-actions of a batch as an int32 array with the sub-actions first, or `UserError`."""
    sizes = task.actions
    wanted = (len(sizes), *batch)
    try:
        given = np.asarray(action)
    except ValueError:  # sub-actions of unequal length
        given = np.empty(0)
    if given.shape != wanted or not np.issubdtype(given.dtype, np.integer):
        raise UserError(
            f"action {shortened(str(action))}: it must be integers of shape {wanted},"
            f" one row for each sub-action, of sizes {', '.join(map(str, sizes))}"
        )
    for row, size in zip(given, sizes, strict=True):
        if (row < 0).any() or (row >= size).any():
            raise UserError(
                f"action {shortened(str(action))}: sub-actions run from 0 to below their sizes,"
                f" which are {', '.join(map(str, sizes))}; `env.action_space.sample()` gives a valid one"
            )
    return given.astype(np.int32)
