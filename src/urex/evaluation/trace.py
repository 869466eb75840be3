"""One episode, step by step."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from urex.policies import ActionRule, Policy, fold, greedy, split_action
from urex.rollout import draw_uniforms, log_probability
from urex.rollout.episodes import Progress
from urex.rollout.step import advance, begin
from urex.tasks.task import Instance, Task


class Trace(NamedTuple):
    """An episode as arrays on the host; time comes first."""

    instance: PyTree
    states: PyTree
    """The state before every step, and the one after the last; each leaf starts with the axis of time."""
    observation: Int[np.ndarray, " steps_and_one"]
    """What was seen before every step, and what is there to be seen after the last one."""
    action: Int[np.ndarray, "steps sub_actions"]
    probability: Float[np.ndarray, " steps"]
    """pi(a_t), of the joint action taken."""
    reward: Float[np.ndarray, " steps"]

    @property
    def total_reward(self) -> float:
        """r(a | h), the sum of the rewards of the steps."""
        return float(self.reward.sum())


def trace_episode(
    policy: Policy, task: Task, instance: Instance, *, key: PRNGKeyArray, act: ActionRule = greedy
) -> Trace:
    """Play one instance to the end and keep all of it."""
    length, states, observation, steps = jax.device_get(_play(policy, task, instance, key, act))
    return Trace(
        jax.device_get(instance),
        jax.tree.map(lambda x: x[: length + 1], states),
        observation[: length + 1],
        *(x[:length] for x in steps),
    )


@partial(jax.jit, static_argnames=("task", "act"))
def _play(policy: Policy, task: Task, instance: Instance, key: PRNGKeyArray, act: ActionRule) -> Any:
    """The number of steps, and of every step the state and observation before it, and the rest of a `Trace`."""
    folded = jax.vmap(fold)(jax.tree.map(lambda x: x[None], policy))
    instances = jax.tree.map(lambda x: jnp.asarray(x)[None, None], instance)
    uniforms = draw_uniforms(key[None], 1)

    def step(progress: Progress, t: Int[Array, ""]) -> tuple[Progress, Any]:
        after, moment = advance(folded, task, instances, act, log_probability, progress, uniforms(t))
        action = jnp.stack(split_action(moment.action, task.actions), axis=-1)
        probability = jnp.exp(log_probability(moment.outputs, moment.action))
        return after, (progress.state, moment.observation, (action, probability, moment.reward))

    # one step more than there can be: a task stands still after the end, so it begins with the last state
    last, kept = jax.lax.scan(step, begin(folded, task, instances), jnp.arange(task.max_steps + 1))
    return last.outcome.length[0, 0], *jax.tree.map(lambda x: x[:, 0, 0], kept)
