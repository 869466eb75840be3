"""A policy with its optimiser: what climbs a gradient, whoever made it."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key, PRNGKeyArray, PyTree

from urex import policies
from urex.config import Config, Hypers
from urex.learners.adam import scale_by_adam
from urex.policies import Policy


class Climber(NamedTuple):
    """Each trial's policy and the state of its optimiser."""

    policy: Policy
    optimizer: PyTree


def init(config: Config, keys: Key[Array, " trials"], hypers: Hypers) -> Climber:
    """New policies, each from its trial's key."""

    def one(key: PRNGKeyArray, hypers: Hypers) -> Climber:
        policy = policies.init(
            key, config.task, hidden=config.hidden, first_layer=config.first_layer, scale=hypers.init_scale
        )
        return Climber(policy, optimizer(hypers).init(policy))

    return jax.vmap(one)(keys, hypers)


def ascend(climber: Climber, gradient: Policy, hypers: Hypers) -> tuple[Climber, Float[Array, " trials"]]:
    """One step up the gradient, and the gradient's norm before it was clipped."""

    def one(climber: Climber, gradient: Policy, hypers: Hypers) -> tuple[Climber, Float[Array, ""]]:
        downhill = jax.tree.map(jnp.negative, gradient)  # the only change of sign: optimisers descend
        change, state = optimizer(hypers).update(downhill, climber.optimizer, climber.policy)
        moved = jax.tree.map(jnp.add, climber.policy, change)
        return Climber(moved, state), optax.tree.norm(gradient)

    return jax.vmap(one)(climber, gradient, hypers)


def optimizer(hypers: Hypers) -> Any:
    """Clipping by the global norm, Adam, the learning rate: an `optax.GradientTransformation`.

    Optax's types know of no policies, so to the checker it is anything.
    """
    return optax.chain(
        optax.clip_by_global_norm(hypers.clip_norm),
        scale_by_adam(hypers.adam_epsilon),
        optax.scale_by_learning_rate(hypers.learning_rate),
    )
