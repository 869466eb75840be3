"""The compiled functions behind the environments, one set for each task in a process."""

from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from urex import views
from urex.interop.gymnasium.options import Draw, draw_level
from urex.interop.gymnasium.packing import Layout, layout_of, pack
from urex.tasks.task import Task


class Episode(NamedTuple):
    """An episode under way, or a batch of them; it stays on the device."""

    instance: PyTree
    state: PyTree


class Outcome(NamedTuple):
    """What a step shows: all that is copied back from the device."""

    observation: Int[Array, "*batch"]
    reward: Float[Array, "*batch"]
    over: Bool[Array, "*batch"]
    facts: dict[str, Array]


class Beginning(NamedTuple):
    """What the beginning of an episode shows."""

    outcome: Outcome
    facts: dict[str, Array]
    """What is fixed in the episode."""


@lru_cache
def starter(task: Task, draw: Draw):
    """The compiled `(key data, number of the episode, argument) -> (episode, packed beginning)`."""

    def start(key_data: Array, number: Array, argument: PyTree) -> tuple[Episode, Int[Array, " words"]]:
        return _pack_second(begin(task, draw, key_data, number, argument))

    return jax.jit(start)


@lru_cache
def layouts(task: Task) -> tuple[Layout, Layout]:
    """How a beginning and an outcome are packed; the way an instance is drawn makes no difference."""
    level = np.int32(task.levels.first)
    draw = partial(begin, task, draw_level)
    _, beginning = jax.eval_shape(draw, np.zeros(2, np.uint32), np.int32(0), level)
    return layout_of(beginning), layout_of(beginning.outcome)


@lru_cache
def stepper(task: Task):
    """The compiled `(episode, sub-actions) -> (episode, packed outcome)`."""
    return jax.jit(lambda episode, action: _pack_second(step(task, episode, action)))


def _pack_second(pair: tuple[Episode, PyTree]) -> tuple[Episode, Int[Array, " words"]]:
    return pair[0], pack(pair[1])


def begin(task: Task, draw: Draw, key_data: Array, number: Array, argument: PyTree) -> tuple[Episode, Beginning]:
    """Draw an instance and start it."""
    instance = draw(task, episode_key(key_data, number), argument)
    episode = Episode(instance, task.start(instance))
    return episode, Beginning(look(task, episode), views.instance_facts(task, instance))


def episode_key(key_data: Array, number: Array) -> PRNGKeyArray:
    """The key of an environment's so many-th episode."""
    return jax.random.fold_in(jax.random.wrap_key_data(key_data), number)


def look(task: Task, episode: Episode) -> Outcome:
    """The outcome before any action."""
    observation = task.observe(episode.instance, episode.state)
    facts = views.state_facts(task, episode.state)
    return Outcome(observation, jnp.zeros(()), jnp.zeros((), bool), facts)


def step(task: Task, episode: Episode, action: Int[Array, " sub_actions"]) -> tuple[Episode, Outcome]:
    """One step of one episode."""
    state, reward, over = task.step(episode.instance, episode.state, tuple(action))
    after = Episode(episode.instance, state)
    return after, look(task, after)._replace(reward=reward, over=over)


def fresh_key_data(generator: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
    """Random key data from NumPy's generator, the source that Gymnasium seeds."""
    return generator.integers(0, 2**32, size=(*shape, 2), dtype=np.uint32)
