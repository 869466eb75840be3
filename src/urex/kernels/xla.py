"""The kernel that runs everywhere and any task: plain JAX, compiled by XLA. It is the reference for all others."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from urex import rollout
from urex.kernels.kernel import Kernel, Sampled, Space, Work, no_space
from urex.policies.policy import Policy
from urex.rollout.randomness import Uniforms
from urex.tasks.task import Instance, Task


def sample(policy: Policy, task: Task, instances: Instance, uniforms: Uniforms, space: Space) -> Sampled:
    """All lanes go on until the last of them is over."""
    del space  # unused: there is none
    episodes, residuals = rollout.sample(policy, task, instances, uniforms)
    return Sampled(episodes.outcome, work(episodes), (episodes, residuals))


def pull_back(
    policy: Policy, task: Task, sampled: Sampled, cotangent: Float[Array, "trials lanes"]
) -> tuple[Policy, Space]:
    """As `rollout.pull_back`."""
    del task  # unused: the episodes say all
    episodes, residuals = sampled.residuals
    return rollout.pull_back(policy, episodes, residuals, cotangent), ()


def work(episodes: rollout.Episodes) -> Work:
    """Every lane executes as many steps as the longest episode has."""
    lanes = episodes.outcome.length.size
    return Work(episodes.executed, episodes.executed.astype(jnp.float32) * lanes)


XLA = Kernel("xla", no_space, sample, pull_back)
