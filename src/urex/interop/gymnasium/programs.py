"""The compiled functions behind the environments, one set for each task in a process."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from urex import views
from urex.interop.gymnasium.packing import Layout, layout_of, pack, unpack
from urex.tasks.contract import check_contract
from urex.tasks.request import Draw, draw_level
from urex.tasks.task import Task


class Episode(NamedTuple):
    """An episode under way, or a batch of them."""

    instance: PyTree
    state: PyTree


class Outcome(NamedTuple):
    """What a step shows."""

    observation: Int[Array, "*batch"]
    reward: Float[Array, "*batch"]
    over: Bool[Array, "*batch"]
    facts: dict[str, Array]


Words = Int[np.ndarray | Array, " words"]
"""A packed moment: the episode's words, then the outcome's."""


class Layouts(NamedTuple):
    """How the parts of a moment are packed: the episode first, the outcome behind it."""

    episode: Layout
    outcome: Layout
    facts: Layout
    """What is fixed in the episode; at its beginning these words stand behind the outcome's."""


Start = Callable[[np.ndarray, np.int32, PyTree], Int[Array, "count words"]]
Step = Callable[[Words, np.ndarray], Words]


@lru_cache
def layouts(task: Task) -> Layouts:
    """How the moments of a task's episodes are packed; the way an instance is drawn makes no difference."""
    check_contract(task)
    draw = partial(begin, task, draw_level)
    arguments = np.zeros(2, np.uint32), np.int32(0), np.int32(task.levels.first)
    return Layouts(
        episode=layout_of(draw, *arguments),
        outcome=layout_of(lambda *given: look(task, draw(*given)), *arguments),
        facts=layout_of(lambda *given: views.instance_facts(task, draw(*given).instance), *arguments),
    )


@lru_cache
def host() -> jax.sharding.Sharding | None:
    """The processor, where there is one for JAX: one step is far too little work to send to an accelerator."""
    try:
        return jax.sharding.SingleDeviceSharding(jax.local_devices(backend="cpu")[0])
    except RuntimeError:  # JAX_PLATFORMS may leave it out
        return None


@lru_cache
def starter(task: Task, draw: Draw, count: int) -> Start:
    """The compiled `(key data, number of the first episode, argument) -> packed beginnings of the next few`."""

    def start_one(key_data: Array, number: Array, argument: PyTree) -> Int[Array, " words"]:
        episode = begin(task, draw, key_data, number, argument)
        return pack((episode, look(task, episode), views.instance_facts(task, episode.instance)))

    def start(key_data: Array, first: Array, argument: PyTree) -> Int[Array, "count words"]:
        return jax.vmap(start_one, in_axes=(None, 0, None))(key_data, first + jnp.arange(count), argument)

    return jax.jit(start, in_shardings=host(), out_shardings=host())


@lru_cache
def stepper(task: Task) -> Step:
    """The compiled `(packed moment, sub-actions) -> packed moment`."""
    episode_layout = layouts(task).episode

    def advance(moment: Int[Array, " words"], action: Int[Array, " sub_actions"]) -> Int[Array, " words"]:
        return pack(step(task, unpack(moment[: episode_layout.words], episode_layout), action))

    return jax.jit(advance, in_shardings=host(), out_shardings=host())


@lru_cache
def opener(task: Task) -> Callable[[Words], Episode]:
    """The compiled `packed moment -> episode`."""
    layout = layouts(task).episode
    return jax.jit(lambda moment: unpack(moment[: layout.words], layout), in_shardings=host())


def begin(task: Task, draw: Draw, key_data: Array, number: Array, argument: PyTree) -> Episode:
    """Draw the instance of an environment's so many-th episode and start it."""
    key = jax.random.fold_in(jax.random.wrap_key_data(key_data), number)
    instance = draw(task, key, argument)
    return Episode(instance, task.start(instance))


def look(task: Task, episode: Episode) -> Outcome:
    """The outcome before any action."""
    observation = task.observe(episode.instance, episode.state)
    facts = views.state_facts(task, episode.state)
    return Outcome(observation.astype(jnp.int32), jnp.zeros((), jnp.float32), jnp.zeros((), bool), facts)


def step(task: Task, episode: Episode, action: Int[Array, " sub_actions"]) -> tuple[Episode, Outcome]:
    """One step of one episode."""
    state, reward, over = task.step(episode.instance, episode.state, tuple(action))
    after = Episode(episode.instance, state)
    return after, look(task, after)._replace(reward=jnp.float32(reward), over=over)


def fresh_key_data(generator: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
    """Random key data from NumPy's generator, the source that Gymnasium seeds."""
    return generator.integers(0, 2**32, size=(*shape, 2), dtype=np.uint32)
