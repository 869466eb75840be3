"""The curriculum: when an agent moves on to larger instances, as a pure function of explicit state."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from urex.errors import UserError, whole_number
from urex.tasks.levels import Levels
from urex.tasks.task import Task

WINDOW = 100
"""Episodes that must have succeeded for a promotion, unless one asks for the task's own number."""


@dataclasses.dataclass(frozen=True)
class Curriculum:
    """A task's levels with the window in force."""

    levels: Levels
    window: int = WINDOW

    def __post_init__(self) -> None:
        if whole_number("curriculum window", self.window) < 1:
            raise UserError(f"curriculum window {self.window}: it must be at least 1 episode")


class CurriculumState(eqx.Module):
    """The level, and what is known of the window of latest episodes."""

    level: Int[Array, ""]
    run: Int[Array, ""]
    """Episodes in a row that succeeded since the last failure or promotion, at most `window`."""
    recent: Float[Array, " window"]
    """The latest shortfalls, oldest first."""


def for_task(task: Task, window: int | None = WINDOW) -> Curriculum:
    """The curriculum of a task; with `window=None` that of the window it was published with."""
    return Curriculum(task.levels, task.levels.window if window is None else window)


def init(curriculum: Curriculum) -> CurriculumState:
    """At the first level, with nothing in the window."""
    return CurriculumState(
        level=jnp.asarray(curriculum.levels.first, jnp.int32),
        run=jnp.zeros((), jnp.int32),
        recent=jnp.zeros((curriculum.window,), jnp.float32),
    )


def advance(curriculum: Curriculum, state: CurriculumState, shortfalls: Float[Array, " episodes"]) -> CurriculumState:
    """Fold the shortfalls of finished episodes in, one after another in the order given.

    The window slides and is cleared by a promotion. It is full of successes exactly when the current
    run of successes is at least as long as it is, so of its contents only their mean needs to be looked at.
    Folding a batch is the same as folding its episodes one at a time, unless levels are judged by
    episodes of their own alone (`Levels.several`): then a promotion leaves out the rest of the batch.
    """
    if not shortfalls.size:
        return state
    levels, window = curriculum.levels, curriculum.window
    episode = jnp.arange(shortfalls.shape[0])
    before_run = -1 - state.run
    last_failure = jnp.maximum(jax.lax.cummax(jnp.where(shortfalls < levels.worst, episode, before_run)), before_run)
    latest = jnp.append(state.recent, shortfalls)
    mean_suffices = sliding_mean(latest, window) >= levels.mean

    def promote_once(_: Int[Array, ""], carry: tuple[Array, Array]) -> tuple[Array, Array]:
        level, cleared = carry
        run = episode - jnp.maximum(last_failure, cleared)
        earned = (run >= window) & mean_suffices & (level < levels.top)
        return level + earned.any(), jnp.where(earned.any(), jnp.argmax(earned), cleared)

    most_promotions = shortfalls.shape[0] // window + 1 if levels.several else 1
    level, cleared = jax.lax.fori_loop(0, most_promotions, promote_once, (state.level, before_run))
    if not levels.several:
        cleared = jnp.where(level > state.level, shortfalls.shape[0] - 1, cleared)
    run = shortfalls.shape[0] - 1 - jnp.maximum(last_failure[-1], cleared)
    return CurriculumState(level=level, run=jnp.minimum(run, window), recent=latest[-window:])


def sliding_mean(latest: Float[Array, " all"], window: int) -> Float[Array, " episodes"]:
    """For every episode after the first `window` entries, the mean of the `window` up to it."""
    sums = jax.lax.reduce_window(latest, 0.0, jax.lax.add, (window,), (1,), "valid")
    return sums[1:] / window
