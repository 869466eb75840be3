"""Policy gradient: sample K episodes of each instance, weigh them by the objective, climb."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from urex import objectives
from urex.config import Config, Hypers
from urex.kernels.cores import shared
from urex.learners import climber
from urex.learners.climber import Climber
from urex.learners.learner import Batch, Experience, Learner
from urex.policies import categorical
from urex.rollout import Outcome


class Scored(NamedTuple):
    """What an objective looks at."""

    log_prob: Float[Array, "trials N K"]
    reward: Float[Array, "trials N K"]


def policy_gradient(config: Config) -> Learner:
    """The learner that ascends sum_k coefficient_k d log pi(a_k | h), with the objective's coefficients."""
    kernel = shared(config.kernel, config.cores)

    def init(keys: Key[Array, " trials"], hypers: Hypers) -> Climber:
        return climber.init(config, keys, hypers)

    def update(state: Climber, hypers: Hypers, batch: Batch) -> tuple[Climber, Experience]:
        sampled = kernel.sample(state.policy, config.task, batch.instances, batch.uniforms, batch.space)
        scored = by_instance(config, sampled.outcome)
        coefficient = jax.vmap(config.coefficients)(*scored, hypers.tau)
        cotangent = coefficient.reshape(sampled.outcome.output.shape)
        gradient, space = kernel.pull_back(state.policy, config.task, sampled, cotangent)
        after, norm = climber.ascend(state, gradient, hypers)
        info = {"gradient_norm": norm, "entropy": entropy(sampled.outcome), **importance(scored, hypers.tau)}
        return after, Experience(sampled.outcome, info, sampled.work, space)

    return Learner(init, update, act=categorical)


def by_instance(config: Config, outcome: Outcome) -> Scored:
    """The lanes' outcomes with an axis of instances and one of samples."""
    shape = (-1, config.instances, config.samples)
    return Scored(outcome.output.reshape(shape), outcome.total_reward.reshape(shape))


def importance(scored: Scored, tau: Float[Array, " trials"]) -> dict[str, Float[Array, " trials"]]:
    """How unequal the importance weights are; not a number at temperature 0, where there are none."""
    weights = jax.vmap(objectives.importance_weights)(*scored, jnp.where(tau > 0, tau, 1.0))
    measured = {
        "importance_weight_variance": jax.vmap(objectives.importance_weight_variance)(weights),
        "ess": jax.vmap(objectives.effective_sample_size)(weights),
    }
    return {name: jnp.where(tau > 0, value, jnp.nan) for name, value in measured.items()}


def entropy(outcome: Outcome) -> Float[Array, " trials"]:
    """The mean over episodes of -log pi(a | h), for each step of the episode."""
    return (-outcome.output / outcome.length).mean(axis=1)
