"""Whether a configuration of the fused kernels computes what it should, on the device that it is to run on.

A configuration can be compiled without complaint and still be wrong there.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from urex import policies, rollout
from urex.kernels.fused.kernel import fused
from urex.kernels.fused.target import TRITON, Target
from urex.kernels.fused.tile import Tiles
from urex.kernels.kernel import Kernel
from urex.policies.actions import categorical
from urex.policies.policy import Policy
from urex.tasks.task import Instance, Task

TRIALS = 6
"""Of the check: enough for some policies that write early and some that wander until their time is up."""
LARGEST_ERROR = 0.03
"""Of the gradient, and of log-probabilities a step, beside float32's: bfloat16's are near 0.005."""
LARGEST_SHARE = 0.02
"""Of actions that may be others than the reference would choose: where a random number falls just between two."""


class Disagreement(NamedTuple):
    """How far the kernel is from the reference when it is made to act as the kernel did."""

    outcomes: float
    """The share of episodes whose length or total reward is another; rightly 0."""
    actions: float
    """The share of actions that the reference would not have chosen."""
    log_prob: float
    """The largest difference, for each step of its episode."""
    gradient: float
    """The largest relative difference of a parameter's gradient."""

    def accepted(self) -> bool:
        """Whether that is no more than rounding."""
        # one by one: each is false for what is not a number, which the larger of two can hide
        within = self.log_prob <= LARGEST_ERROR and self.gradient <= LARGEST_ERROR
        return self.outcomes == 0 and self.actions <= LARGEST_SHARE and within


def disagreement(task: Task, hidden: int, tiles: Tiles, target: Target = TRITON) -> Disagreement:
    """Sample by the kernel, take the same actions by the reference, and compare."""
    # several tiles for each program of the weights' gradient; the last one is not full
    lanes = 2 * tiles.splits * tiles.lanes + tiles.lanes // 2
    keys = jax.random.split(jax.random.key(0), TRIALS)
    # the reference runs once, so the time of tuning its products would be lost
    quickly = {"xla_gpu_autotune_level": 0} if jax.default_backend() == "gpu" else {}
    policy, instances = jax.jit(partial(_trials, task, hidden, lanes), compiler_options=quickly)(keys)
    batch = (policy, instances, rollout.draw_uniforms(keys, lanes))
    cotangent = jax.random.normal(jax.random.key(1), (TRIALS, lanes))
    ours = jax.jit(partial(_by_kernel, task, fused(tiles, target)))(*batch, cotangent)
    compare = jax.jit(partial(_compare, task), compiler_options=quickly)
    return Disagreement(*map(float, compare(*batch, cotangent, ours)))


def _trials(task: Task, hidden: int, lanes: int, keys: Key[Array, " trials"]) -> tuple[Policy, Instance]:
    """Policies that each prefer some actions strongly, and instances of all levels."""

    def one(key: PRNGKeyArray) -> tuple[Policy, Instance]:
        policy_key, taste_key, level_key, instance_key = jax.random.split(key, 4)
        policy = policies.init(policy_key, task, hidden=hidden, first_layer="embedding", scale=jnp.float32(1.0))
        taste = 3.0 * jax.random.normal(taste_key, policy.readout_bias.shape)
        levels = jax.random.randint(level_key, (lanes,), task.levels.first, task.levels.top + 1)
        instances = jax.vmap(task.sample)(jax.random.split(instance_key, lanes), levels)
        return Policy(policy.first, policy.recurrent, policy.bias, policy.readout, taste), instances

    return jax.vmap(one)(keys)


class _Run(NamedTuple):
    outcome: rollout.Outcome
    action: Int[Array, "trials time lanes"]
    gradient: Policy


def _by_kernel(
    task: Task,
    kernel: Kernel,
    policy: Policy,
    instances: Instance,
    uniforms: rollout.Uniforms,
    cotangent: Float[Array, "trials lanes"],
) -> _Run:
    sampled = kernel.sample(policy, task, instances, uniforms, ())
    gradient, _ = kernel.pull_back(policy, task, sampled, cotangent)
    return _Run(sampled.outcome, sampled.residuals.action[:, :, : cotangent.shape[1]], gradient)


def _compare(
    task: Task,
    policy: Policy,
    instances: Instance,
    uniforms: rollout.Uniforms,
    cotangent: Float[Array, "trials lanes"],
    ours: _Run,
) -> tuple[Array, Array, Array, Array]:
    """The fields of `Disagreement`, with the reference taking the kernel's actions."""
    with jax.default_matmul_precision("float32"):
        episodes, residuals = rollout.sample(
            policy,
            task,
            instances,
            lambda t: ours.action[:, t].astype(jnp.float32),
            act=lambda _, forced: forced.astype(jnp.int32),
        )
        gradient = rollout.pull_back(policy, episodes, residuals, cotangent)
    theirs = episodes.outcome
    unequal = (ours.outcome.length != theirs.length) | (ours.outcome.total_reward != theirs.total_reward)
    return (
        unequal.mean(),
        _unlike(task, episodes, ours.action, uniforms),
        (jnp.abs(ours.outcome.output - theirs.output) / theirs.length).max(),
        jnp.stack(jax.tree.leaves(jax.tree.map(_error, ours.gradient, gradient))).max(),
    )


def _unlike(
    task: Task, episodes: rollout.Episodes, action: Int[Array, "trials time lanes"], uniforms: rollout.Uniforms
) -> Float[Array, ""]:
    """The share of steps at which the same random number would have led the reference to another action."""
    drawn = rollout.of_all_steps(uniforms, task.max_steps)
    chosen = categorical(episodes.steps.outputs[:, : task.max_steps], drawn)
    taken = jnp.arange(task.max_steps)[None, :, None] < episodes.outcome.length[:, None]
    return ((chosen != action) & taken).sum() / taken.sum()


def _error(ours: Array, theirs: Array) -> Float[Array, ""]:
    return jnp.linalg.norm(ours - theirs) / (jnp.linalg.norm(theirs) + jnp.finfo(theirs.dtype).tiny)
