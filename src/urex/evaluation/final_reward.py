"""What a policy's episodes pay at full difficulty."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from urex.policies import ActionRule, Policy
from urex.rollout import draw_uniforms, play
from urex.tasks.task import Task

EPISODES = 400


@partial(jax.jit, static_argnames=("task", "act"))
def final_reward(policy: Policy, task: Task, *, key: PRNGKeyArray, act: ActionRule) -> Float[Array, ""]:
    """The mean total reward of EPISODES fresh instances of the top level, one episode of each."""
    instance_key, play_key = jax.random.split(key)
    draw = jax.vmap(task.sample, in_axes=(0, None))
    instances = draw(jax.random.split(instance_key, EPISODES), jnp.int32(task.levels.top))
    one_trial = jax.tree.map(lambda leaf: leaf[None], (policy, instances))
    outcome = play(one_trial[0], task, one_trial[1], draw_uniforms(play_key[None], EPISODES), act=act)
    return outcome.total_reward.mean()
