"""How a policy does at full difficulty, whether its task's instances have a length or not."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from urex.evaluation.lengths import check_instances
from urex.evaluation.solved import solved
from urex.policies import ActionRule, Policy, greedy
from urex.rollout import draw_uniforms, play
from urex.tasks.task import Task


class LevelResult(NamedTuple):
    """What came of the episodes of one level."""

    level: int
    instances: int
    accuracy: float
    """The share of instances that were solved, see `solved`."""
    reward: float
    """The mean total reward."""
    steps: float
    """The mean number of steps."""


def evaluate_top_level(
    policy: Policy, task: Task, *, instances: int = 100, key: PRNGKeyArray, act: ActionRule = greedy
) -> LevelResult:
    """Play so many fresh instances of the task's top level."""
    check_instances(instances)
    means = _play_level(policy, task, instances, key, act)
    return LevelResult(task.levels.top, instances, *(float(mean) for mean in means))


@partial(jax.jit, static_argnames=("task", "instances", "act"))
def _play_level(
    policy: Policy, task: Task, instances: int, key: PRNGKeyArray, act: ActionRule
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    """The means over the episodes of being solved, of the reward and of the steps."""
    instance_key, play_key = jax.random.split(key)
    draw = jax.vmap(task.sample, in_axes=(0, None))
    drawn = draw(jax.random.split(instance_key, instances), jnp.int32(task.levels.top))
    one_policy, one_batch = jax.tree.map(lambda leaf: leaf[None], (policy, drawn))
    outcome = play(one_policy, task, one_batch, draw_uniforms(play_key[None], instances), act=act)
    reward, steps = outcome.total_reward[0], outcome.length[0]
    return jax.vmap(partial(solved, task))(drawn, reward).mean(), reward.mean(), steps.mean()
