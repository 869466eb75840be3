"""Playing without a trace: episodes of any length in the memory of one step."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from urex.policies.actions import ActionRule, greedy
from urex.policies.policy import Policy, fold
from urex.rollout.episodes import Outcome, Progress
from urex.rollout.outputs import log_probability
from urex.rollout.randomness import Uniforms
from urex.rollout.step import advance, begin
from urex.tasks.task import Instance, Task


def play(policy: Policy, task: Task, instances: Instance, uniforms: Uniforms, *, act: ActionRule = greedy) -> Outcome:
    """What an episode of every lane's instance comes to under its trial's policy."""
    folded = jax.vmap(fold)(policy)

    def goes_on(carry: tuple[Int[Array, ""], Progress]) -> Array:
        t, progress = carry
        return (t < task.max_steps) & ~progress.over.all()

    def step(carry: tuple[Int[Array, ""], Progress]) -> tuple[Int[Array, ""], Progress]:
        t, progress = carry
        return t + 1, advance(folded, task, instances, act, log_probability, progress, uniforms(t))[0]

    _, last = jax.lax.while_loop(goes_on, step, (jnp.int32(0), begin(folded, task, instances)))
    return last.outcome
