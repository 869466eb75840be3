"""The fused kernels as one implementation of sampling and its backward pass."""

from functools import cache, partial
from math import prod

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from urex.kernels.fused.backward import backward
from urex.kernels.fused.forward import forward
from urex.kernels.fused.packing import fill_lanes, pack
from urex.kernels.fused.target import TRITON, Target
from urex.kernels.fused.tile import Tiles
from urex.kernels.fused.weights import weights_gradient
from urex.kernels.kernel import Kernel, Sampled, Space, Work, no_space
from urex.policies.policy import Folded, Policy, fold
from urex.rollout.episodes import Outcome
from urex.rollout.randomness import Uniforms, of_all_steps
from urex.rollout.step import lanes_of
from urex.tasks.task import Instance, Task


@cache  # equal configurations must have the same functions
def fused(tiles: Tiles, target: Target = TRITON) -> Kernel:
    """Sampling and pull-back with products in bfloat16, added up in 32 bits, and state in 32 bits."""
    how = {"tiles": tiles, "target": target}
    return Kernel("fused", no_space, partial(sample, **how), partial(pull_back, **how))


def sample(
    policy: Policy,
    task: Task,
    instances: Instance,
    uniforms: Uniforms,
    space: Space,
    *,
    tiles: Tiles,
    target: Target,
) -> Sampled:
    """One kernel; each tile of lanes stops when its own episodes are over."""
    del space  # unused: XLA keeps nothing of it either
    _, lanes = lanes_of(instances)
    padded = tiles.count(lanes) * tiles.lanes
    drawn = of_all_steps(uniforms, task.max_steps)
    trace = forward(
        pack(jax.vmap(fold)(policy)),
        task,
        fill_lanes(instances, padded),
        jnp.pad(drawn, ((0, 0), (0, 0), (0, padded - lanes))),
        lanes,
        tiles=tiles,
        target=target,
    )
    outcome = Outcome(trace.total_reward[:, :lanes], trace.log_prob[:, :lanes], trace.length[:, :lanes])
    lane_steps = trace.steps.sum(dtype=jnp.float32) * tiles.lanes
    return Sampled(outcome, Work(trace.steps.max(), lane_steps), trace)


def pull_back(
    policy: Policy,
    task: Task,
    sampled: Sampled,
    cotangent: Float[Array, "trials lanes"],
    *,
    tiles: Tiles,
    target: Target,
) -> tuple[Policy, Space]:
    """Two kernels: the recurrence, then the weights; what is small is left to XLA."""
    folded, unfold = jax.vjp(jax.vmap(fold), policy)
    packed, trace = pack(folded), sampled.residuals
    padded = fill_lanes(cotangent, trace.length.shape[1])
    slopes = backward(packed, trace, padded, tiles=tiles, target=target)
    seen, actions = task.observations, prod(task.actions)
    inputs = packed.table.shape[1]
    weights = weights_gradient(slopes.gates, trace, inputs, seen, actions, tiles=tiles, target=target)
    table = weights.table.sum(axis=1)
    (gradient,) = unfold(
        Folded(
            seen=table[:, :seen],
            done=table[:, seen : seen + actions + 1],
            recurrent=weights.recurrent.sum(axis=1),
            readout=slopes.readout.sum(axis=1)[..., :actions],
            readout_bias=slopes.readout_bias.sum(axis=1)[..., :actions],
        )
    )
    return gradient, ()
