"""The policies that the objectives have as their optimum, where every action can be listed."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from urex.objectives.baseline import below_best
from urex.objectives.weights import Tau

NEWTON_STEPS = 16
"""At most 9 were needed to full double precision, by the hardest rewards of up to 2,000,000 actions that were tried."""


def optimal_policy(reward: Float[Array, " actions"], tau: Tau) -> Float[Array, " actions"]:
    """pi*(a) = exp(r(a)/tau) / Z, the optimum of MENT and RAML (section "Under-appreciated Reward Exploration")."""
    return jax.nn.softmax(below_best(reward) / tau)


def urex_optimal_policy(reward: Float[Array, " actions"], tau: Tau) -> Float[Array, " actions"]:
    """pi(a) = tau pi*(a) / (alpha - r(a)) with the alpha > max r by which it sums to 1.

    The optimum of UREX (appendix "Optimal Policy for the UREX Objective"). With the unknown as
    y = (alpha - max r)/tau and cost = (max r - r)/tau it is pi*/(y + cost). Its sum is at least 1 at
    y = max pi* and at most 1 at y = 1. One over the sum is increasing and concave in y, so Newton's
    steps to where it is 1, begun at the lower end, rise to the solution and do not pass it.
    """
    target = optimal_policy(reward, tau)
    cost = -below_best(reward) / tau

    def rise(_: Int[Array, ""], y: Float[Array, ""]) -> Float[Array, ""]:
        policy = target / (y + cost)
        total = policy.sum()
        return jnp.minimum(y + total * (total - 1) / (policy / (y + cost)).sum(), 1)

    return target / (jax.lax.fori_loop(0, NEWTON_STEPS, rise, target.max()) + cost)
