"""All that training carries from update to update; every array starts with the axis of trials."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from urex import curriculum
from urex.config import Config, Hypers
from urex.curriculum import CurriculumState
from urex.learners import make_learner
from urex.training.success import Success, init_success


class TrainState(eqx.Module):
    """Trials in the middle of their training. With the configuration it determines all that follows."""

    keys: Key[Array, " trials"]
    """Each trial's source of randomness; an update's own key is it folded with the update's number."""
    updates: Int[Array, ""]
    """How many updates were made; all trials are at the same one."""
    learner: Any
    curriculum: CurriculumState
    success: Success


@partial(jax.jit, static_argnums=0)
def init(config: Config, hypers: Hypers, keys: Key[Array, " trials"]) -> TrainState:
    """New trials, one for each key."""
    init_keys, train_keys = jax.vmap(jax.random.split, out_axes=1)(keys)
    trials = keys.shape[0]

    def of_each(tree: Any) -> Any:
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (trials, *leaf.shape)), tree)

    return TrainState(
        keys=train_keys,
        updates=jnp.zeros((), jnp.int32),
        learner=make_learner(config).init(init_keys, hypers),
        curriculum=of_each(curriculum.init(config.curriculum)),
        success=of_each(init_success()),
    )
