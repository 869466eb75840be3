"""Sampling in one kernel: LSTM, choice of action and environment, from an episode's first step to its last.

One program takes one tile of one trial's lanes, and ends when the last of its episodes does.
"""

from functools import partial
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, BFloat16, Float, Int

from urex.kernels.fused.packing import Packed, in_kernel, reader
from urex.kernels.fused.target import Target, apart, dot
from urex.kernels.fused.tile import Tiles
from urex.policies.actions import HALF_STEP, inside, split_action
from urex.tasks.task import Instance, Task


class Trace(NamedTuple):
    """What the forward pass leaves for the backward pass. Past an episode's end it means nothing."""

    gates: BFloat16[Array, "trials time lanes gates"]
    """After their activation."""
    c: BFloat16[Array, "trials time lanes hidden"]
    h: BFloat16[Array, "trials time lanes hidden"]
    """After each step."""
    score: BFloat16[Array, "trials time lanes choices"]
    """d log pi(a_t) / d outputs: 1 at the action chosen, less each action's probability."""
    observation: Int[Array, "trials time lanes"]
    action: Int[Array, "trials time lanes"]
    total_reward: Float[Array, "trials lanes"]
    log_prob: Float[Array, "trials lanes"]
    length: Int[Array, "trials lanes"]
    steps: Int[Array, "trials tiles"]
    """How many steps each tile took: as many as its longest episode has."""


class _Carry(NamedTuple):
    """A tile in the middle of its episodes."""

    t: Int[Array, ""]
    alive: Int[Array, " tile"]
    state: Any
    observation: Int[Array, " tile"]
    action: Int[Array, " tile"]
    h: BFloat16[Array, "tile hidden"]
    c: Float[Array, "tile hidden"]
    total_reward: Float[Array, " tile"]
    log_prob: Float[Array, " tile"]
    length: Int[Array, " tile"]


def forward(
    policy: Packed,
    task: Task,
    instances: Instance,
    uniforms: Float[Array, "trials time padded_lanes"],
    lanes: int,
    *,
    tiles: Tiles,
    target: Target,
) -> Trace:
    """Sample an episode for each of the first `lanes` lanes; the others only fill the last tile."""
    trials, steps, padded = uniforms.shape
    hidden, choices = policy.readout.shape[1:]

    def kept(dtype: Any, *shape: int) -> Any:
        return jax.ShapeDtypeStruct((trials, *shape), dtype)

    each_step, each_lane = (steps, padded), (padded,)
    shapes = Trace(
        gates=kept(jnp.bfloat16, *each_step, 4 * hidden),
        c=kept(jnp.bfloat16, *each_step, hidden),
        h=kept(jnp.bfloat16, *each_step, hidden),
        score=kept(jnp.bfloat16, *each_step, choices),
        observation=kept(jnp.int32, *each_step),
        action=kept(jnp.int32, *each_step),
        total_reward=kept(jnp.float32, *each_lane),
        log_prob=kept(jnp.float32, *each_lane),
        length=kept(jnp.int32, *each_lane),
        steps=kept(jnp.int32, padded // tiles.lanes),
    )
    limit = jnp.full((trials, 1), steps)  # loaded, since loops of a known length are unrolled
    arguments = (policy, instances, uniforms, limit)
    (trace,) = pl.pallas_call(
        partial(_kernel, task, lanes, tiles, target),
        grid=(trials, padded // tiles.lanes),
        in_specs=whole_trials(arguments),
        out_specs=(whole_trials(shapes),),
        out_shape=(shapes,),
        compiler_params=triton.CompilerParams(num_warps=tiles.forward.warps, num_stages=tiles.forward.stages),
        interpret=target.interpret,
        name="urex_forward",
    )(*arguments)
    return trace


def whole_trials(arrays: Any) -> Any:
    """Of each array all that belongs to the program's trial, which is the grid's first axis."""

    def of_trial(leaf: Any) -> pl.BlockSpec:
        return pl.BlockSpec((None, *leaf.shape[1:]), lambda trial, *_: (trial, *(0 for _ in leaf.shape[1:])))

    return jax.tree.map(of_trial, arrays)


def _kernel(
    task: Task,
    lanes: int,
    tiles: Tiles,
    target: Target,
    policy: Any,
    instances: Any,
    uniforms: Any,
    limit: Any,
    out: Any,
) -> None:
    """The program of one tile; arguments from `policy` on are references."""
    tile = pl.program_id(1)
    here = pl.ds(tile * tiles.lanes, tiles.lanes)
    lane = tile * tiles.lanes + jnp.arange(tiles.lanes)
    instance = in_kernel(instances, lane, here)
    observe = jax.vmap(partial(task.observe, **reader(task)))
    step = jax.vmap(partial(task.step, **reader(task)))
    advance_lstm = _lstm(policy, tiles, target)
    choose = choice(policy, prod(task.actions))
    steps = limit[0]

    def body(now: _Carry) -> _Carry:
        uniform = uniforms[now.t, here]
        previous = task.observations + now.action
        h, c = apart(now.t, 0, lambda: advance_lstm(now, previous, here, out))
        action, log_prob, score = choose(h, uniform)
        state, reward, over = step(instance, now.state, split_action(action, task.actions))
        out.observation[now.t, here] = now.observation
        out.action[now.t, here] = action
        out.score[now.t, here, :] = score
        return _Carry(
            t=now.t + 1,
            alive=jnp.where(over, 0, now.alive),
            state=state,
            observation=observe(instance, state).astype(jnp.int32),
            action=action,
            h=h,
            c=c,
            total_reward=now.total_reward + jnp.where(now.alive > 0, reward, 0.0),
            log_prob=now.log_prob + jnp.where(now.alive > 0, log_prob, 0.0),
            length=now.length + now.alive,
        )

    last = jax.lax.while_loop(
        lambda now: (now.t < steps) & (now.alive.max() > 0),
        body,
        _begin(task, jax.vmap(task.start)(instance), lambda state: observe(instance, state), lane < lanes, policy),
    )
    for name in ("total_reward", "log_prob", "length"):
        getattr(out, name)[here] = getattr(last, name)
    out.steps[tile] = last.t


def _begin(task: Task, state: Any, observe: Any, real: Array, policy: Any) -> _Carry:
    hidden = policy.readout.shape[0]
    nothing = jnp.zeros(real.shape, jnp.float32)
    return _Carry(
        t=jnp.int32(0),
        alive=real.astype(jnp.int32),
        state=state,
        observation=observe(state).astype(jnp.int32),
        action=jnp.full(real.shape, prod(task.actions), jnp.int32),
        h=jnp.zeros((*real.shape, hidden), jnp.bfloat16),
        c=jnp.zeros((*real.shape, hidden), jnp.float32),
        total_reward=nothing,
        log_prob=nothing,
        length=jnp.zeros(real.shape, jnp.int32),
    )


def _lstm(policy: Any, tiles: Tiles, target: Target) -> Any:
    """One step of the LSTM: c_t = f c_{t-1} + i g and h_t = o tanh(c_t), leaving all of them behind."""
    inputs, hidden = policy.table.shape[0], policy.recurrent.shape[0]
    rows = jnp.arange(inputs)
    columns = [pl.ds(gate * hidden, hidden) for gate in range(4)]
    weights = [(policy.table[:, here], policy.recurrent[:, here]) for here in columns] if tiles.resident else None

    def advance(now: _Carry, previous: Array, here: Any, out: Any) -> tuple[Array, Array]:
        # look-ups as products with one-hot rows: a gather would have to change its layout on the way
        hot = ((rows[None] == now.observation[:, None]) | (rows[None] == previous[:, None])).astype(jnp.bfloat16)

        def activate(gate: int) -> Array:
            table, recurrent = (
                weights[gate] if weights else (policy.table[:, columns[gate]], policy.recurrent[:, columns[gate]])
            )
            x = apart(now.t, gate + 1, lambda: dot(hot, table)) + dot(now.h, recurrent)
            y = target.tanh(x) if gate == 2 else target.sigmoid(x)
            out.gates[now.t, here, columns[gate]] = y.astype(jnp.bfloat16)
            return y

        content = activate(0) * activate(2)
        c = activate(1) * now.c + content
        h = (activate(3) * target.tanh(c)).astype(jnp.bfloat16)
        out.c[now.t, here, :] = c.astype(jnp.bfloat16)
        out.h[now.t, here, :] = h
        return h, c

    return advance


def choice(policy: Any, actions: int) -> Any:
    """Sample from the softmax of the outputs by inverting its distribution function."""
    readout, bias = policy.readout[:, :], policy.readout_bias[:]
    every = jnp.arange(bias.shape[0])

    def choose(h: Array, uniform: Array) -> tuple[Array, Array, Array]:
        outputs = dot(h, readout) + bias[None]
        top = outputs.max(axis=1)
        weights = jnp.exp(outputs - top[:, None])
        mass = weights.sum(axis=1)
        summed = jnp.cumsum(weights, axis=1)
        below = summed <= (inside(uniform) * summed.max(axis=1))[:, None]
        action = jnp.minimum(below.astype(jnp.int32).sum(axis=1), actions - 1)
        # sums of a scan are not rounded alike, so the draw may slip to a neighbour of no weight: the likeliest instead
        weight = jnp.where(every[None] == action[:, None], weights, 0.0).sum(axis=1)
        likeliest = jnp.where(weights == 1.0, every[None], actions).min(axis=1)
        action = jnp.where(weight < HALF_STEP * mass, likeliest, action)
        taken = every[None] == action[:, None]
        log_prob = jnp.where(taken, outputs, 0.0).sum(axis=1) - top - jnp.log(mass)
        score = taken.astype(jnp.float32) - weights / mass[:, None]
        return action, log_prob, score.astype(jnp.bfloat16)

    return choose
