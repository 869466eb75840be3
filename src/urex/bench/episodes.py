"""Policies whose episodes have a known length, so that what is measured does not depend on how training goes."""

from math import prod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from urex.policies import Policy, joint_actions
from urex.tasks.task import Instance, Task

STRENGTH = 20.0
"""How much the output of the preferred action is raised: about all of the probability."""


def lasting(policy: Policy, task: Task) -> Policy:
    """The policies, made to prefer the action that keeps an episode going for the longest time."""
    bias = policy.readout_bias.at[..., most_lasting_action(task)].add(STRENGTH)
    return eqx.tree_at(lambda each: each.readout_bias, policy, bias)


def most_lasting_action(task: Task, instances: int = 8) -> int:
    """The joint action that, taken at every step, makes the longest episodes at the task's top level."""
    keys = jax.random.split(jax.random.key(0), instances)
    drawn = jax.vmap(task.sample, in_axes=(0, None))(keys, jnp.int32(task.levels.top))
    actions = joint_actions(task.actions)

    def length(action: tuple[Int[Array, ""], ...], instance: Instance) -> Int[Array, ""]:
        def step(carry: tuple) -> tuple:
            t, state, _ = carry
            state, _, over = task.step(instance, state, action)
            return t + 1, state, over

        start = (jnp.int32(0), task.start(instance), jnp.zeros((), bool))
        return jax.lax.while_loop(lambda carry: ~carry[2] & (carry[0] < task.max_steps), step, start)[0]

    means = [
        float(jax.jit(jax.vmap(length, in_axes=(None, 0)))(tuple(jnp.int32(each[a]) for each in actions), drawn).mean())
        for a in range(prod(task.actions))
    ]
    return int(np.argmax(means))
