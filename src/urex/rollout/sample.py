"""Sampling: one forward pass that keeps what the backward pass needs."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PyTree

from urex.policies.actions import ActionRule, categorical
from urex.policies.policy import Policy, fold
from urex.rollout.episodes import Episodes, Progress, Residuals, Steps
from urex.rollout.outputs import OutputRule, log_probability
from urex.rollout.randomness import Uniforms
from urex.rollout.step import advance, begin, lanes_of
from urex.tasks.task import Instance, Task

BLOCK = 8
"""The backward pass works on so many steps at a time, and buffers hold whole blocks."""


class _Buffers(NamedTuple):
    steps: Steps
    residuals: Residuals


def sample(
    policy: Policy,
    task: Task,
    instances: Instance,
    uniforms: Uniforms,
    *,
    act: ActionRule = categorical,
    output: OutputRule = log_probability,
) -> tuple[Episodes, Residuals]:
    """An episode of every lane's instance under its trial's policy.

    The loop ends with the longest episode.
    """
    folded = jax.vmap(fold)(policy)
    first = begin(folded, task, instances)

    def goes_on(carry: tuple[Int[Array, ""], Progress, _Buffers]) -> Array:
        t, progress, _ = carry
        return (t < task.max_steps) & ~progress.over.all()

    def step(carry: tuple[Int[Array, ""], Progress, _Buffers]) -> tuple[Int[Array, ""], Progress, _Buffers]:
        t, progress, buffers = carry
        after, moment = advance(folded, task, instances, act, output, progress, uniforms(t))
        steps = _write(buffers.steps, Steps(*moment), t)
        residuals = _write(buffers.residuals, Residuals(after.h, after.c), t + 1)
        return t + 1, after, _Buffers(steps, residuals)

    start = (jnp.int32(0), first, _empty(first, lanes_of(instances), task.max_steps, folded.readout.shape[-1]))
    executed, last, buffers = jax.lax.while_loop(goes_on, step, start)
    return Episodes(last.outcome, buffers.steps, executed), buffers.residuals


def _write(buffers: PyTree, values: PyTree, t: Int[Array, ""]) -> PyTree:
    """The buffers with these values at time t."""
    return jax.tree.map(lambda buffer, value: buffer.at[:, t].set(value), buffers, values)


def _empty(first: Progress, lanes: tuple[int, int], time: int, actions: int) -> _Buffers:
    """Buffers for whole blocks of time; the residuals begin with the state before the first step, which is 0."""
    trials, count = lanes
    rows = -(-time // BLOCK) * BLOCK
    shape = (trials, rows, count)
    state = jnp.zeros((trials, rows + 1, count, first.h.shape[-1]), first.h.dtype)
    steps = Steps(
        observation=jnp.zeros(shape, jnp.int32),
        action=jnp.zeros(shape, jnp.int32),
        reward=jnp.zeros(shape),
        outputs=jnp.zeros((*shape, actions)),
    )
    return _Buffers(steps, Residuals(state, state))
