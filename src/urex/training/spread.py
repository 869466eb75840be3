"""Trials spread over the devices of a host: each device has its own, and none waits for another's episodes."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Bool, PyTree

from urex.training.update import Metrics

AXIS = "trials"


def mesh(devices: int) -> Mesh:
    """The first so many devices."""
    return jax.make_mesh((devices,), (AXIS,), axis_types=(AxisType.Auto,), devices=jax.devices()[:devices])


def divided(tree: PyTree, axis: int = 0) -> PyTree:
    """How a tree is spread: arrays by their axis of trials, single numbers alike on all devices."""
    by_trial = PartitionSpec(*[None] * axis, AXIS)
    return jax.tree.map(lambda leaf: by_trial if jnp.ndim(leaf) > axis else PartitionSpec(), tree)


def on_each(devices: int, function: Callable[..., Any], *, in_specs: Any, out_specs: Any) -> Callable[..., Any]:
    """The function run on each device with its own trials."""
    return jax.shard_map(function, mesh=mesh(devices), in_specs=in_specs, out_specs=out_specs, check_vma=False)


def spread(devices: int, tree: PyTree) -> PyTree:
    """The arrays where a program for so many devices leaves them: so it is compiled for one form of them."""
    place = mesh(devices)
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
