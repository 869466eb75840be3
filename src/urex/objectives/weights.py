"""The self-normalised importance weights of K samples, and how unequal they are."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from urex.objectives.baseline import below_best

Tau = Float[Array, ""] | float
"""The temperature."""


def importance_weights(
    log_prob: Float[Array, "*instances K"], reward: Float[Array, "*instances K"], tau: Tau
) -> Float[Array, "*instances K"]:
    """w = softmax_K(r/tau - log_prob), largest where the policy under-appreciates the reward.

    The policy is the proposal and pi* = exp(r/tau)/Z the target (section "Under-appreciated Reward
    Exploration"). tau must be above 0. Samples with log_prob = -inf share all the weight, its limit.
    """
    under_appreciated = below_best(reward) / tau - log_prob
    finite = jnp.minimum(under_appreciated, jnp.finfo(under_appreciated.dtype).max)
    return jax.nn.softmax(finite, axis=-1)


def importance_weight_variance(weights: Float[Array, "N K"]) -> Float[Array, ""]:
    """The variance over the K samples of K w, whose mean is 1, averaged over the instances.

    From 0 where all weights are equal to K - 1 where one sample has all (appendix "Variance of
    Importance Weights").
    """
    return jnp.var(weights.shape[-1] * weights, axis=-1).mean()


def effective_sample_size(weights: Float[Array, "N K"]) -> Float[Array, ""]:
    """1 / sum_K w^2 averaged over the instances: from 1 where one sample has all the weight to K."""
    return (1 / jnp.square(weights).sum(axis=-1)).mean()
