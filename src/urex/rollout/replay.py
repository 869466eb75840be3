"""Another policy's outputs along episodes that were played already."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from urex.policies import lstm
from urex.policies.policy import Policy, fold
from urex.rollout.episodes import Episodes
from urex.rollout.step import gates, read_out


def replay(policy: Policy, episodes: Episodes) -> Float[Array, "trials time lanes actions"]:
    """The policy's outputs at every step of the episodes, had it seen and done the same."""
    folded = jax.vmap(fold)(policy)
    steps = episodes.steps
    trials, _, lanes = steps.action.shape
    nothing = jnp.zeros((trials, lanes, folded.recurrent.shape[1]), folded.recurrent.dtype)

    def step(t: Int[Array, ""], carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        h, c, outputs = carry
        previous = jnp.where(t == 0, folded.done.shape[1] - 1, steps.action[:, jnp.maximum(t - 1, 0)])
        h, c = lstm.advance(gates(folded, h, steps.observation[:, t], previous), c)
        return h, c, outputs.at[:, t].set(read_out(folded, h))

    start = (nothing, nothing, jnp.zeros_like(steps.outputs))
    return jax.lax.fori_loop(0, episodes.executed, step, start)[2]
