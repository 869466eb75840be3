"""How many trials of a configuration find room on a device."""

import os
from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from urex.config import Config, Hypers, stack_hypers
from urex.errors import UserError
from urex.kernels import Sampled, Sizes
from urex.rollout import draw_uniforms, of_all_steps
from urex.training.state import init
from urex.training.update import draw_instances

MARGIN = 1.3
"""What is taken beyond the episodes' own memory: by the backward pass, and by the compiler for its own ends."""
COPIES = 6
"""How often a trial's state is there at once: before and after an update, its gradient, and what leads to it."""
SHARE_OF_HOST = 0.5
"""Of the host's memory, where the device has none of its own."""


def group_sizes(config: Config, trials: int, devices: int = 1) -> list[int]:
    """Groups to train one after another, as equal in size as can be, so that each finds room on so many devices."""
    most = devices * trials_that_fit(config)
    if most < 1:
        raise UserError(
            f"one trial needs about {_gib(bytes_per_trial(config))} and the device has {_gib(device_memory())}:"
            " take fewer instances, fewer samples or a shorter max_length"
        )
    groups = -(-trials // most)
    return [trials // groups + (i < trials % groups) for i in range(groups)]


def trials_that_fit(config: Config) -> int:
    """How many trials one device has room for, or all the cores that share an update."""
    return config.cores * device_memory() // bytes_per_trial(config)


def bytes_per_trial(config: Config) -> int:
    """About what a trial takes while it is trained; from the shapes alone, nothing is compiled."""
    hypers = stack_hypers([Hypers()])
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 1))
    state = jax.eval_shape(partial(init, config), hypers, keys)
    episodes = jax.eval_shape(partial(_episodes, config), state.learner.policy, keys, state.curriculum.level)
    return int(MARGIN * _bytes(episodes) + COPIES * _bytes(state))


def _episodes(
    config: Config, policy: Any, keys: Key[Array, " trials"], level: Int[Array, " trials"]
) -> tuple[Sampled, Array]:
    """All that there is of an update's episodes when they have been played; a kernel's own memory is part of it."""
    space = config.kernel.space(config.task, Sizes(1, config.lanes, config.hidden))
    instances = draw_instances(config, keys, level)
    uniforms = draw_uniforms(keys, config.lanes)
    sampled = config.kernel.sample(policy, config.task, instances, uniforms, space)
    return sampled, of_all_steps(uniforms, config.task.max_steps)


def device_memory() -> int:
    """The bytes that JAX may use of the first device's memory, or a share of the host's."""
    limit = (jax.devices()[0].memory_stats() or {}).get("bytes_limit")
    if limit:
        return int(limit)
    host = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return int(SHARE_OF_HOST * host / jax.local_device_count())  # all of its devices share it


def _bytes(tree: Any) -> int:
    return sum(prod(leaf.shape) * _item(leaf.dtype) for leaf in jax.tree.leaves(tree))


def _item(dtype: Any) -> int:
    """Bytes of one element; a key's is not among NumPy's types."""
    return 8 if jnp.issubdtype(dtype, jax.dtypes.prng_key) else dtype.itemsize


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
