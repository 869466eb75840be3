"""How a policy does at given lengths."""

from collections.abc import Sequence
from functools import cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from urex.errors import UserError, whole_number
from urex.evaluation.capacities import MakeTask, capacity_for, sized
from urex.evaluation.solved import solved
from urex.policies import ActionRule, Policy, greedy
from urex.rollout import draw_uniforms, play
from urex.tasks.task import Instance, SizedTask

INSTANCES = 100
"""Random inputs of each length in the paper, section "Generalization to longer sequences"."""


class LengthResult(NamedTuple):
    """What came of the episodes of one length."""

    length: int
    instances: int
    accuracy: float
    """The share of instances that were solved, see `solved`."""
    reward: float
    """The mean total reward."""
    steps: float
    """The mean number of steps."""


class Scores(NamedTuple):
    """What came of each episode."""

    solved: Bool[Array, "lengths instances"]
    reward: Float[Array, "lengths instances"]
    steps: Int[Array, "lengths instances"]


def evaluate_lengths(
    policy: Policy,
    make_task: MakeTask,
    lengths: Sequence[int],
    *,
    instances: int = INSTANCES,
    key: PRNGKeyArray,
    act: ActionRule = greedy,
) -> list[LengthResult]:
    """Play fresh instances of every length, with the same parameters at all of them.

    Of one key, a length's instances are the same whatever other lengths are asked for. A program is
    compiled for every capacity in use, not for every length. All lengths are checked before anything runs.
    """
    check_instances(instances)
    task_for = cache(partial(sized, make_task))
    tasks = [task_for(capacity_for(whole_number("length", length))) for length in lengths]
    for task, length in zip(tasks, lengths, strict=True):
        task.check_length(length)
    scores = [
        play_lengths(policy, task, np.array([length], np.int32), key, instances=instances, act=act)
        for task, length in zip(tasks, lengths, strict=True)
    ]
    return [_summary(length, score) for length, score in zip(lengths, jax.device_get(scores), strict=True)]


def check_instances(instances: int) -> None:
    """Raise `UserError` unless there is at least one."""
    if whole_number("instances", instances) < 1:
        raise UserError(f"instances {instances}: it must be at least 1; the paper has {INSTANCES} of each length")


@partial(jax.jit, static_argnames=("task", "instances", "act"))
def play_lengths(
    policy: Policy,
    task: SizedTask,
    lengths: Int[Array, " lengths"],
    key: PRNGKeyArray,
    *,
    instances: int,
    act: ActionRule,
) -> Scores:
    """Play so many instances of each length, all as lanes of one loop.

    Shapes depend on the task and on how many lengths there are, so one program serves all lengths of a capacity.
    """
    drawn = jax.vmap(lambda length: draw_instances(task, length, key, instances))(lengths)
    uniforms = draw_uniforms(jax.vmap(lambda length: _keys(key, length)[1])(lengths), instances)
    outcome = play(
        jax.tree.map(lambda x: x[None], policy),
        task,
        jax.tree.map(lambda x: x.reshape(1, -1, *x.shape[2:]), drawn),
        lambda t: uniforms(t).reshape(1, -1),
        act=act,
    )
    reward, steps = (x.reshape(-1, instances) for x in (outcome.total_reward, outcome.length))
    return Scores(jax.vmap(jax.vmap(partial(solved, task)))(drawn, reward), reward, steps)


def draw_instances(task: SizedTask, length: Int[Array, ""], key: PRNGKeyArray, count: int) -> Instance:
    """The instances played at a length; the first of them are the same however many there are."""
    instance_key, _ = _keys(key, length)
    keys = jax.vmap(partial(jax.random.fold_in, instance_key))(jnp.arange(count))
    return jax.vmap(task.sample_length, in_axes=(0, None))(keys, length)


def _keys(key: PRNGKeyArray, length: Int[Array, ""]) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """Of one length: the key of its instances, and that of the choices made in playing them."""
    instance_key, play_key = jax.random.split(jax.random.fold_in(key, length))
    return instance_key, play_key


def _summary(length: int, scores: Scores) -> LengthResult:
    instances = scores.reward.shape[1]
    means = (float(np.mean(each, dtype=np.float64)) for each in (scores.solved, scores.reward, scores.steps))
    return LengthResult(int(length), instances, *means)
