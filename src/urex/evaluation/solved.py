"""When an episode counts as solved."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from urex.tasks.task import Instance, Task


def solved(task: Task, instance: Instance, total_reward: Float[Array, ""]) -> Bool[Array, ""]:
    """Whether the episode succeeded by the task's own measure, that of its curriculum.

    On a tape or grid this is an exact match: the output is the target, whole and in time. An episode that
    has ended falls short by 0, or by 1.5 and more (a wrong symbol, or a time-out), and every
    tape task asks for at least -1. In BinarySearch it means that the number was found before the
    last step, at which finding it pays nothing.
    """
    return task.shortfall(instance, jnp.int32(task.levels.top), total_reward) >= task.levels.worst
