"""What the objectives estimate, as sums over a few actions that can all be listed."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

Exact = Callable[[jax.Array, jax.Array, float], jax.Array]
"""From log pi and the reward of every action, and the temperature, to the value that is to be maximised."""


def reinforce(log_pi: jax.Array, reward: jax.Array, tau: float) -> jax.Array:
    """E[r]."""
    del tau  # unused
    return (jnp.exp(log_pi) * reward).sum()


def ment(log_pi: jax.Array, reward: jax.Array, tau: float) -> jax.Array:
    """E[r - tau log pi]."""
    return (jnp.exp(log_pi) * (reward - tau * log_pi)).sum()


def raml(log_pi: jax.Array, reward: jax.Array, tau: float) -> jax.Array:
    """Tau times the sum of pi* log pi."""
    likely = jnp.exp(reward / tau)
    return tau * (likely / likely.sum() * log_pi).sum()


def urex(log_pi: jax.Array, reward: jax.Array, tau: float) -> jax.Array:
    """The sum of pi r + tau pi* log pi."""
    return reinforce(log_pi, reward, tau) + raml(log_pi, reward, tau)


def rwr(log_pi: jax.Array, reward: jax.Array, tau: float) -> jax.Array:
    """log E[exp(r/tau)]."""
    return jnp.log((jnp.exp(log_pi) * jnp.exp(reward / tau)).sum())
