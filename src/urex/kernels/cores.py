"""Several cores for one update: each takes its share of every trial's lanes and all other work alike.

Within JAX a core is a device of its own, of which a process has as many as were asked for when it began to compute.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, PyTree

from urex.kernels.kernel import Kernel, Sampled, Space, Work
from urex.policies.policy import Policy
from urex.rollout.randomness import Uniforms
from urex.rollout.step import lanes_of
from urex.tasks.task import Instance, Task

AXIS = "cores"
ALIKE, APART = PartitionSpec(), PartitionSpec(AXIS)
"""Of arrays that are the same on all cores, and of those that each has its own rows of."""


def mesh(devices: int, axis: str = AXIS) -> Mesh:
    """The first so many devices."""
    return jax.make_mesh((devices,), (axis,), axis_types=(AxisType.Auto,), devices=jax.devices()[:devices])


def on_each(
    devices: int, function: Callable[..., Any], *, in_specs: Any = ALIKE, out_specs: Any = ALIKE, axis: str = AXIS
) -> Callable[..., Any]:
    """The function run on each device; of what is ALIKE it must make the same on all of them."""
    if devices == 1:
        return function
    return jax.shard_map(function, mesh=mesh(devices, axis), in_specs=in_specs, out_specs=out_specs, check_vma=False)


def replicated(cores: int, tree: PyTree) -> PyTree:
    """The arrays on each core, as a program for all of them leaves them: so it is compiled for one form of them."""
    return tree if cores == 1 else jax.device_put(tree, NamedSharding(mesh(cores), ALIKE))


def shared(kernel: Kernel, cores: int) -> Kernel:
    """The kernel for use within `on_each`: what every core computes of its own lanes is put together."""
    if cores == 1:
        return kernel
    return kernel._replace(sample=partial(_sample, kernel, cores), pull_back=partial(_pull_back, kernel, cores))


def _sample(
    kernel: Kernel, cores: int, policy: Policy, task: Task, instances: Instance, uniforms: Uniforms, space: Space
) -> Sampled:
    trials, lanes = lanes_of(instances)
    own = kernel.sample(
        policy, task, jax.tree.map(partial(_own, cores), instances), lambda t: _own(cores, uniforms(t)), space
    )
    outcomes, works = _gathered((own.outcome, own.work))
    outcome = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1).reshape(trials, lanes), outcomes)
    return Sampled(outcome, Work(works.rounds.max(), works.lane_steps.sum()), own)


def _pull_back(
    kernel: Kernel, cores: int, policy: Policy, task: Task, sampled: Sampled, cotangent: Float[Array, "trials lanes"]
) -> tuple[Policy, Space]:
    gradient, space = kernel.pull_back(policy, task, sampled.residuals, _own(cores, cotangent))
    return jax.lax.psum(gradient, AXIS), space


def _own(cores: int, leaf: Array) -> Array:
    """This core's lanes."""
    width = leaf.shape[1] // cores
    return jax.lax.dynamic_slice_in_dim(leaf, jax.lax.axis_index(AXIS) * width, width, axis=1)


def _gathered(tree: PyTree) -> PyTree:
    """Each leaf of every core, with an axis of cores in front; as one message, since each makes all cores wait."""
    flat, unravel = ravel_pytree(tree)
    return jax.vmap(unravel)(jax.lax.all_gather(flat, AXIS))
