"""The pure half of the vector environment: a batch of episodes, stepped and begun anew as a whole."""

from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from gymnasium.vector import AutoresetMode
from jaxtyping import Array, Bool, Int, PyTree, Shaped, UInt32

from urex import views
from urex.interop.gymnasium.programs import Episode, Outcome, look, step
from urex.interop.gymnasium.programs import begin as begin_one
from urex.tasks.request import Draw, draw_level
from urex.tasks.task import Task

CHUNK = 256
"""Episodes begun at a time."""


class Lanes(NamedTuple):
    """The episodes of all environments, and the source of their randomness."""

    episode: Episode
    over: Bool[Array, " envs"]
    """Whether an episode is over and another has not begun."""
    key_data: UInt32[Array, "envs 2"]
    number: Int[Array, " envs"]
    """How many episodes an environment has begun since it was seeded."""


class Shown(NamedTuple):
    """All that one call copies back from the device."""

    outcome: Outcome
    facts: dict[str, Shaped[Array, "envs ..."]]
    final: tuple[Outcome, dict[str, Shaped[Array, "envs ..."]]] | None = None
    """What was true before the same step began another episode, in that mode only."""


@partial(jax.jit, static_argnums=(0, 1))
def empty_lanes(task: Task, count: int) -> Lanes:
    """Lanes of the right shapes, whose episodes are over."""
    keys = jax.random.split(jax.random.key(0), count)
    instances = jax.vmap(task.sample, in_axes=(0, None))(keys, jnp.int32(task.levels.first))
    return Lanes(
        episode=Episode(instances, jax.vmap(task.start)(instances)),
        over=jnp.ones((count,), bool),
        key_data=jnp.zeros((count, 2), jnp.uint32),
        number=jnp.zeros((count,), jnp.int32),
    )


@lru_cache
def beginner(task: Task, draw: Draw):
    """The compiled `(lanes, which to begin, argument) -> (lanes, shown)`."""

    def begin(lanes: Lanes, which: Array, argument: PyTree) -> tuple[Lanes, Shown]:
        begun = begin_lanes(task, draw, lanes, which, argument)
        outcome = jax.vmap(partial(look, task))(begun.episode)
        return begun, Shown(outcome, facts_of(task, begun))

    return jax.jit(begin)


@lru_cache
def stepper(task: Task, mode: AutoresetMode):
    """The compiled `(lanes, sub-actions, level) -> (lanes, shown)` under an autoreset mode."""
    return jax.jit(
        partial(
            {
                AutoresetMode.NEXT_STEP: _step_then_begin_at_next,
                AutoresetMode.SAME_STEP: _step_and_begin,
                AutoresetMode.DISABLED: _step_only,
            }[mode],
            task,
        )
    )


def begin_lanes(task: Task, draw: Draw, lanes: Lanes, which: Bool[Array, " envs"], argument: PyTree) -> Lanes:
    """Begin another episode in each of the lanes `which`.

    Drawing instances is most of the work of a step, so they are drawn for those lanes alone, a chunk at a time.
    """
    count = which.shape[0]
    chunk = min(count, CHUNK)
    padding = -count % chunk  # so that the last chunk is whole; `count` stands for no lane
    (places,) = jnp.nonzero(which, size=count + padding, fill_value=count)

    def begin_chunk(i: Array, episodes: Episode) -> Episode:
        place = jax.lax.dynamic_slice_in_dim(places, i * chunk, chunk)
        begin = jax.vmap(partial(begin_one, task, draw), in_axes=(0, 0, None))
        begun = begin(lanes.key_data[place], lanes.number[place], argument)
        return jax.tree.map(lambda old, new: old.at[place].set(new, mode="drop"), episodes, begun)

    chunks = -(-which.sum() // chunk)
    episodes = jax.lax.fori_loop(0, chunks, begin_chunk, lanes.episode)
    return lanes._replace(episode=episodes, over=lanes.over & ~which, number=lanes.number + which)


def facts_of(task: Task, lanes: Lanes) -> dict[str, Array]:
    """What is fixed in the episodes."""
    return jax.vmap(partial(views.instance_facts, task))(lanes.episode.instance)


def where(which: Bool[Array, " envs"], new: PyTree, old: PyTree) -> PyTree:
    """Lane by lane, the new tree or the old one."""

    def choose(a: Array, b: Array) -> Array:
        return jnp.where(which.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(choose, new, old)


def _advance(task: Task, lanes: Lanes, action: Int[Array, "sub_actions envs"]) -> tuple[Lanes, Outcome]:
    episode, outcome = jax.vmap(partial(step, task), in_axes=(0, 1))(lanes.episode, action)
    return lanes._replace(episode=episode, over=outcome.over), outcome


def _step_only(task: Task, lanes: Lanes, action: Array, level: Array) -> tuple[Lanes, Shown]:
    del level  # unused: only the caller begins episodes
    after, outcome = _advance(task, lanes, action)
    return after, Shown(outcome, facts_of(task, after))


def _step_then_begin_at_next(task: Task, lanes: Lanes, action: Array, level: Array) -> tuple[Lanes, Shown]:
    ended_before = lanes.over
    advanced, outcome = _advance(task, lanes, action)
    # the episodes that were over absorb the action; they are the ones that give way to new ones
    after = begin_lanes(task, draw_level, advanced, ended_before, level)
    begun = jax.vmap(partial(look, task))(after.episode)
    return after, Shown(where(ended_before, begun, outcome), facts_of(task, after))


def _step_and_begin(task: Task, lanes: Lanes, action: Array, level: Array) -> tuple[Lanes, Shown]:
    advanced, outcome = _advance(task, lanes, action)
    after = begin_lanes(task, draw_level, advanced, outcome.over, level)
    begun = jax.vmap(partial(look, task))(after.episode)
    shown = begun._replace(reward=outcome.reward, over=outcome.over)
    return after, Shown(shown, facts_of(task, after), final=(outcome, facts_of(task, advanced)))
