"""Trials spread over the devices of a host: each device has its own, and none waits for another's episodes."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, PyTree

from urex.kernels.cores import mesh
from urex.training.update import Metrics

AXIS = "trials"


def divided(tree: PyTree, axis: int = 0) -> PyTree:
    """How a tree is spread: arrays by their axis of trials, single numbers alike on all devices."""
    by_trial = PartitionSpec(*[None] * axis, AXIS)
    return jax.tree.map(lambda leaf: by_trial if jnp.ndim(leaf) > axis else PartitionSpec(), tree)


def spread(devices: int, tree: PyTree) -> PyTree:
    """The arrays where a program for so many devices leaves them: so it is compiled for one form of them."""
    place = mesh(devices, AXIS)
    return jax.device_put(tree, jax.tree.map(lambda spec: NamedSharding(place, spec), divided(tree)))


def together(metrics: Metrics) -> Metrics:
    """What is told of all trials at once, told of those of all devices."""
    useful = metrics.env_steps.sum(dtype=jnp.float32)
    executed = useful / metrics.lane_utilisation
    return metrics._replace(
        executed=jax.lax.pmax(metrics.executed, AXIS),
        lane_utilisation=jax.lax.psum(useful, AXIS) / jax.lax.psum(executed, AXIS),
    )


def everywhere(flag: Bool[Array, ""]) -> Bool[Array, ""]:
    """Whether it is true on all devices."""
    return jax.lax.pmin(flag.astype(jnp.int32), AXIS) == 1
