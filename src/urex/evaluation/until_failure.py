"""Up to which length a policy makes no mistake."""

from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from jaxtyping import PRNGKeyArray

from urex.errors import UserError, whole_number
from urex.evaluation.capacities import MakeTask, capacity_for, sized
from urex.evaluation.lengths import INSTANCES, check_instances, play_lengths
from urex.policies import ActionRule, Policy, greedy
from urex.tasks.task import SizedTask

LONGEST = 2000
"""Where the paper's Table 9 ends."""
GROUP = 8
"""Lengths played at once. With 100 instances of each, two cores do the most steps a second at about
eight; more would only make a failure at a small length dearer."""


class Reach(NamedTuple):
    """How far a policy got."""

    longest: int
    """Every instance of every length up to this one was solved; 0 if the shortest length was not."""
    failed_at: int | None
    """The first length at which one was not solved; None if there is none."""


def until_failure(
    policy: Policy,
    make_task: MakeTask,
    *,
    longest: int = LONGEST,
    instances: int = INSTANCES,
    key: PRNGKeyArray,
    act: ActionRule = greedy,
) -> Reach:
    """The longest length up to which every length is solved without a mistake: "Max" in the paper's Table 9.

    Every valid length is played, the shortest first, up to the first mistake. A policy that never
    fails takes about instances * longest^2 / 2 steps for each step it needs per cell: 200 million on Copy up to 2000.
    """
    check_instances(instances)
    reached = 0
    for task, lengths in groups(make_task, whole_number("longest", longest)):
        filled = np.array(lengths + lengths[-1:] * (GROUP - len(lengths)), np.int32)
        scores = play_lengths(policy, task, filled, key, instances=instances, act=act)
        solved = np.asarray(scores.solved)
        for length, of_length in zip(lengths, solved, strict=False):  # what fills the group is left out
            if not of_length.all():
                return Reach(reached, length)
            reached = length
    if not reached:
        raise UserError(f"longest {longest}: the task has no instances as short as that; give a larger length")
    return Reach(reached, None)


def groups(make_task: MakeTask, longest: int) -> Iterator[tuple[SizedTask, list[int]]]:
    """All valid lengths in ascending order, at most a group at a time, with the task at their capacity."""
    task_for = cache(partial(sized, make_task))
    group: list[int] = []
    for length in range(1, longest + 1):
        task = task_for(capacity_for(length))
        if _has_length(task, length):
            group.append(length)
        if group and (len(group) == GROUP or length in (capacity_for(length), longest)):
            yield task, group
            group = []


def _has_length(task: SizedTask, length: int) -> bool:
    try:
        task.check_length(length)
    except UserError:
        return False
    return True
