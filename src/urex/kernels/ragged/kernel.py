"""The ragged loops as a kernel: trial after trial, each of which ends with its own episodes."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from urex.kernels.kernel import Kernel, Sampled, Space, Work
from urex.kernels.ragged.backward import backward
from urex.kernels.ragged.forward import Forward, forward
from urex.kernels.ragged.stages import Stage
from urex.kernels.ragged.tape import Tape, new_tape, stretch
from urex.kernels.ragged.weights import weights_gradient
from urex.policies.policy import Folded, Policy, fold
from urex.rollout.randomness import Uniforms, of_all_steps
from urex.rollout.step import lanes_of
from urex.tasks.task import Instance, Task


class _Residuals(NamedTuple):
    stages: tuple[Stage, ...]
    """Of all trials: each array starts with that axis."""
    row: Int[Array, " trials"]
    """Where each trial's stretch of the tape begins."""
    tape: Tape


def sample(policy: Policy, task: Task, instances: Instance, uniforms: Uniforms, space: Space) -> Sampled:
    """One trial after another: side by side, all would go on until the longest episode of any is over."""
    trials, lanes = lanes_of(instances)
    drawn = of_all_steps(uniforms, task.max_steps)
    row = jnp.arange(trials) * stretch(task, lanes)

    def one(tape: Tape, trial: tuple[Folded, Instance, Array, Array]) -> tuple[Tape, Forward]:
        found, tape = forward(trial[0], task, *trial[1:], tape)
        return tape, found

    tape, found = jax.lax.scan(one, space, (jax.vmap(fold)(policy), instances, drawn, row))
    work = Work(found.rounds.max(), found.lane_steps.sum(dtype=jnp.float32))
    return Sampled(found.outcome, work, _Residuals(found.stages, row, tape))


def pull_back(
    policy: Policy, task: Task, sampled: Sampled, cotangent: Float[Array, "trials lanes"]
) -> tuple[Policy, Space]:
    """The recurrence through all rows of a trial, then its weights."""
    del task  # unused: the tape says all
    folded, unfold = jax.vjp(jax.vmap(fold), policy)
    stages, row, tape = sampled.residuals

    def one(tape: Tape, trial: tuple[Folded, tuple[Stage, ...], Array, Array]) -> tuple[Tape, Folded]:
        policy, stages, row, weight = trial
        tape, rows = backward(policy, stages, row, tape, weight)
        gradient, tape = weights_gradient(policy, tape, row, rows)
        return tape, gradient

    tape, gradient = jax.lax.scan(one, tape, (folded, stages, row, cotangent))
    return unfold(gradient)[0], tape


RAGGED = Kernel("ragged", new_tape, sample, pull_back)
