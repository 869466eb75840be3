"""Policies, instances and random numbers that kernels are compared on."""

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from urex import policies
from urex.kernels import Kernel, Sizes
from urex.rollout import Outcome, draw_uniforms
from urex.tasks import Levels, Task, absorb
from urex.tasks.task import Instance

HIDDEN = 8


class Batch(NamedTuple):
    """What a kernel is called with."""

    policy: policies.Policy
    instances: Instance
    uniforms: Any
    cotangent: Float[Array, "trials lanes"]


class Update(NamedTuple):
    """What a kernel came to."""

    outcome: Outcome
    rounds: Int[Array, ""]
    lane_steps: Float[Array, ""]
    gradient: policies.Policy
    space: Any


def batch(task: Task, trials: int, lanes: int, *, first_layer: str = "embedding", level: int = 8) -> Batch:
    """Policies that are far from uniform: their episodes end soon, late, and some at the time limit."""
    keys = jax.random.split(jax.random.key(7), trials)

    def one(key: PRNGKeyArray) -> policies.Policy:
        policy = policies.init(key, task, hidden=HIDDEN, first_layer=first_layer, scale=jnp.float32(1.0))
        taste = 3.0 * jax.random.normal(key, policy.readout_bias.shape)
        return eqx.tree_at(lambda policy: policy.readout_bias, policy, taste)

    draw = jax.vmap(jax.vmap(lambda key: task.sample(key, jnp.int32(level))))
    return Batch(
        jax.vmap(one)(keys),
        draw(jax.random.split(jax.random.key(1), (trials, lanes))),
        draw_uniforms(jax.random.split(jax.random.key(3), trials), lanes),
        jax.random.normal(jax.random.key(4), (trials, lanes)),
    )


@partial(jax.jit, static_argnums=(0, 1))
def updated(kernel: Kernel, task: Task, given: Batch, space: Any) -> Update:
    """Sampling and the backward pass."""
    sampled = kernel.sample(given.policy, task, given.instances, given.uniforms, space)
    gradient, space = kernel.pull_back(given.policy, task, sampled, given.cotangent)
    return Update(sampled.outcome, sampled.work.rounds, sampled.work.lane_steps, gradient, space)


def fresh(kernel: Kernel, task: Task, given: Batch) -> Update:
    """The same, with new memory."""
    trials, lanes = given.cotangent.shape
    return updated(kernel, task, given, kernel.space(task, Sizes(trials, lanes, HIDDEN)))


def assert_agree(got: Update, want: Update) -> None:
    """The same episodes; log-probabilities and gradients to rounding."""
    np.testing.assert_array_equal(got.outcome.length, want.outcome.length)
    np.testing.assert_array_equal(got.outcome.total_reward, want.outcome.total_reward)
    np.testing.assert_allclose(got.outcome.output, want.outcome.output, rtol=1e-5, atol=1e-5)
    assert_near(got.gradient, want.gradient)


def assert_near(got: Any, want: Any, error: float = 1e-5) -> None:
    """Each array to an error that is a part of its largest number."""
    for (path, a), b in zip(jax.tree.leaves_with_path(got), jax.tree.leaves(want), strict=True):
        largest = float(abs(b).max(initial=0.0))
        np.testing.assert_allclose(a, b, rtol=0, atol=error * largest, err_msg=jax.tree_util.keystr(path))


def assert_same(got: Any, want: Any) -> None:
    """To the bit."""
    for (path, a), b in zip(jax.tree.leaves_with_path(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_array_equal(a, b, err_msg=jax.tree_util.keystr(path))


class Wait(Task):
    """Episodes as long as their instance says, whatever is done; each step pays 1. The state is a bare number."""

    observations = 3
    actions = (2, 3)
    max_steps = 9
    levels = Levels(first=1, top=8, worst=0.0, judged=1)
    reward_threshold = 8.0

    def sample(self, key: PRNGKeyArray, level: Int[Array, ""]) -> Int[Array, ""]:
        return jax.random.randint(key, (), 1, level + 1)

    def start(self, instance: Int[Array, ""]) -> Int[Array, ""]:
        return jnp.zeros_like(instance)

    def observe(self, instance: Int[Array, ""], state: Int[Array, ""]) -> Int[Array, ""]:
        return (instance + state) % 3

    def step(
        self, instance: Int[Array, ""], state: Int[Array, ""], action: Any
    ) -> tuple[Int[Array, ""], Float[Array, ""], Bool[Array, ""]]:
        del action  # unused: it only waits
        after = state + 1
        return absorb(state >= instance, state, (after, jnp.float32(1), after >= instance))

    def shortfall(
        self, instance: Int[Array, ""], level: Int[Array, ""], total_reward: Float[Array, ""]
    ) -> Float[Array, ""]:
        del level  # unused: an episode pays what its instance says
        return total_reward - instance
