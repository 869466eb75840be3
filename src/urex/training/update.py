"""One update of all trials: draw instances, learn from episodes, advance the curriculum, measure."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from urex import curriculum
from urex.config import Config, Hypers
from urex.kernels import Space
from urex.learners import Batch, Experience, make_learner
from urex.rollout import draw_uniforms
from urex.tasks.task import Instance
from urex.training.state import TrainState
from urex.training.success import judge


class Metrics(NamedTuple):
    """What is known of one update, for each trial."""

    reward_mean: Float[Array, " trials"]
    level: Int[Array, " trials"]
    """The level that the update's instances were drawn from."""
    episode_length: Float[Array, " trials"]
    """The mean number of steps."""
    env_steps: Int[Array, " trials"]
    """The steps of all episodes together."""
    executed: Int[Array, ""]
    """How often the loop of the rollout went round: the steps of the longest episode."""
    lane_utilisation: Float[Array, ""]
    """The share of the steps executed, in all lanes of all trials, that were steps of episodes not yet over."""
    info: dict[str, Float[Array, " trials"]]
    """The learner's own measurements."""


def update(config: Config, hypers: Hypers, state: TrainState, space: Space = ()) -> tuple[TrainState, Metrics, Space]:
    """One update of every trial. The level is fixed for it; its episodes are folded into the curriculum after.

    `space` is the kernel's memory, of which nothing but its size matters.
    """
    keys = jax.vmap(jax.random.fold_in, in_axes=(0, None))(state.keys, state.updates)
    instance_keys, action_keys = jax.vmap(jax.random.split, out_axes=1)(keys)
    level = state.curriculum.level
    instances = draw_instances(config, instance_keys, level)
    batch = Batch(instances, draw_uniforms(action_keys, config.lanes), state.updates, space)
    learner, experience = make_learner(config).update(state.learner, hypers, batch)
    after = TrainState(
        keys=state.keys,
        updates=state.updates + 1,
        learner=learner,
        curriculum=_promote(config, state, instances, experience),
        success=jax.vmap(judge, in_axes=(None, 0, 0, 0, None))(
            config.task, state.success, level, experience.outcome.total_reward, state.updates + 1
        ),
    )
    return after, _measure(level, experience), experience.space


def draw_instances(config: Config, keys: Key[Array, " trials"], level: Int[Array, " trials"]) -> Instance:
    """N instances for each trial, each K times in a row: [trials, N K, ...]."""

    def draw(key: PRNGKeyArray, level: Int[Array, ""]) -> Instance:
        sample = jax.vmap(config.task.sample, in_axes=(0, None))
        return sample(jax.random.split(key, config.instances), level)

    return jax.tree.map(lambda leaf: jnp.repeat(leaf, config.samples, axis=1), jax.vmap(draw)(keys, level))


def _promote(
    config: Config, state: TrainState, instances: Instance, experience: Experience
) -> curriculum.CurriculumState:
    shortfall = jax.vmap(jax.vmap(config.task.shortfall, in_axes=(0, None, 0)))
    shortfalls = shortfall(instances, state.curriculum.level, experience.outcome.total_reward)
    return jax.vmap(curriculum.advance, in_axes=(None, 0, 0))(config.curriculum, state.curriculum, shortfalls)


def _measure(level: Int[Array, " trials"], experience: Experience) -> Metrics:
    outcome = experience.outcome
    return Metrics(
        reward_mean=outcome.total_reward.mean(axis=1),
        level=level,
        episode_length=outcome.length.mean(axis=1),
        env_steps=outcome.length.sum(axis=1),
        executed=experience.work.rounds,
        lane_utilisation=outcome.length.sum(dtype=jnp.float32) / experience.work.lane_steps,
        info=experience.info,
    )
