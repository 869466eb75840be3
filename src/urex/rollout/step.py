"""One step of all lanes: the policy looks and chooses, the task moves on."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from urex.policies import lstm
from urex.policies.actions import ActionRule, split_action
from urex.policies.policy import Folded
from urex.rollout.episodes import Moment, Outcome, Progress
from urex.rollout.outputs import OutputRule
from urex.tasks.task import Instance, Task


def lanes_of(instances: Instance) -> tuple[int, int]:
    """The number of trials, and of lanes in each."""
    trials, lanes, *_ = jax.tree.leaves(instances)[0].shape
    return trials, lanes


def begin(policy: Folded, task: Task, instances: Instance) -> Progress:
    """All lanes before their first step."""
    shape = lanes_of(instances)
    state = jax.vmap(jax.vmap(task.start))(instances)
    nothing = jnp.zeros((*shape, policy.recurrent.shape[-2]), policy.recurrent.dtype)
    return Progress(
        state=state,
        observation=observe(task, instances, state),
        action=jnp.full(shape, policy.readout.shape[-1], jnp.int32),
        over=jnp.zeros(shape, bool),
        h=nothing,
        c=nothing,
        outcome=Outcome(jnp.zeros(shape), jnp.zeros(shape), jnp.zeros(shape, jnp.int32)),
    )


def advance(
    policy: Folded,
    task: Task,
    instances: Instance,
    act: ActionRule,
    output: OutputRule,
    progress: Progress,
    uniform: Float[Array, "trials lanes"],
) -> tuple[Progress, Moment]:
    """One step of all lanes; those whose episodes are over stay as they are."""
    h, c = lstm.advance(gates(policy, progress.h, progress.observation, progress.action), progress.c)
    outputs = read_out(policy, h)
    action = act(outputs, uniform)
    step = jax.vmap(jax.vmap(task.step))
    state, reward, over = step(instances, progress.state, split_action(action, task.actions))
    goes_on = ~progress.over
    outcome = Outcome(
        total_reward=progress.outcome.total_reward + jnp.where(goes_on, reward, 0.0),
        output=progress.outcome.output + jnp.where(goes_on, output(outputs, action), 0.0),
        length=progress.outcome.length + goes_on,
    )
    moment = Moment(progress.observation, action, reward, outputs)
    return Progress(state, observe(task, instances, state), action, over, h, c, outcome), moment


def observe(task: Task, instances: Instance, state: Instance) -> Int[Array, "trials lanes"]:
    """What all lanes see."""
    return jax.vmap(jax.vmap(task.observe))(instances, state).astype(jnp.int32)


def gates(
    policy: Folded,
    h_tm1: Float[Array, "trials *steps lanes hidden"],
    observation: Int[Array, "trials *steps lanes"],
    action: Int[Array, "trials *steps lanes"],
) -> Float[Array, "trials *steps lanes gates"]:
    """The inputs of the gates, from the state before, what is seen and what was done."""
    look_up = jax.vmap(lambda table, index: table[index])
    return times(h_tm1, policy.recurrent) + look_up(policy.seen, observation) + look_up(policy.done, action)


def read_out(
    policy: Folded, h: Float[Array, "trials *steps lanes hidden"]
) -> Float[Array, "trials *steps lanes actions"]:
    """The outputs for every joint action."""
    bias = policy.readout_bias
    return times(h, policy.readout) + bias.reshape(bias.shape[0], *[1] * (h.ndim - 2), -1)


def times(rows: Float[Array, "trials *steps n"], matrix: Float[Array, "trials n m"]) -> Array:
    """Each trial's rows times its matrix."""
    return jnp.einsum("r...n,rnm->r...m", rows, matrix)
