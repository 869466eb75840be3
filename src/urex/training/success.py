"""When a task counts as solved, as the paper counts it."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from urex.curriculum import sliding_mean
from urex.tasks.task import Task

WINDOW = 100
"""The consecutive episodes whose average total reward must reach the threshold."""
NEVER = -1


class Success(eqx.Module):
    """The latest total rewards, and what the best window of them came to."""

    recent: Float[Array, " window"]
    """Oldest first; minus infinity for an episode that does not count."""
    best: Float[Array, ""]
    """The highest average over a window so far."""
    solved_at_update: Int[Array, ""]
    """How many updates it took to reach the threshold; NEVER until then."""

    @property
    def solved(self) -> Bool[Array, "*trials"]:
        """Whether the threshold was ever reached."""
        return self.solved_at_update != NEVER


def init_success() -> Success:
    """Before the first episode."""
    nothing = jnp.full((WINDOW,), -jnp.inf, jnp.float32)
    return Success(recent=nothing, best=nothing[0], solved_at_update=jnp.asarray(NEVER, jnp.int32))


def judge(
    task: Task, success: Success, level: Int[Array, ""], rewards: Float[Array, " episodes"], updates: Int[Array, ""]
) -> Success:
    """Fold in the total rewards of an update's episodes, in their order; windows span updates.

    Levels at which the task's threshold says nothing (see `Levels`) do not count.
    """
    counted = jnp.where(level >= task.levels.first_judged, rewards, -jnp.inf)
    latest = jnp.append(success.recent, counted)
    best = sliding_mean(latest, WINDOW).max()
    first = ~success.solved & (best >= task.reward_threshold)
    return Success(
        recent=latest[-WINDOW:],
        best=jnp.maximum(success.best, best),
        solved_at_update=jnp.where(first, updates, success.solved_at_update),
    )
