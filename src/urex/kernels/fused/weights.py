"""The gradient of the LSTM's weights in one kernel, from what came back to the gates at every step."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, BFloat16, Float, Int

from urex.kernels.fused.forward import Trace, whole_trials
from urex.kernels.fused.target import Target, dot
from urex.kernels.fused.tile import Tiles


class WeightGradient(NamedTuple):
    """Parts of the gradient, to be added up."""

    table: Float[Array, "trials splits inputs gates"]
    recurrent: Float[Array, "trials splits hidden gates"]


class _Given(NamedTuple):
    """References to what a program reads."""

    gates: BFloat16[Array, "trials time lanes gates"]
    h: BFloat16[Array, "trials time lanes hidden"]
    observation: Int[Array, "trials time lanes"]
    action: Int[Array, "trials time lanes"]
    steps: Int[Array, "trials tiles"]


def weights_gradient(
    gates: BFloat16[Array, "trials time lanes gates"],
    trace: Trace,
    inputs: int,
    first_action: int,
    none: int,
    *,
    tiles: Tiles,
    target: Target,
) -> WeightGradient:
    """Sums over steps and lanes of (what went into a gate) x (what came back to it).

    Rows of the table from `first_action` on are of previous actions; `none` is the action before the first step.
    One program has one gate and every `splits`-th tile, so no two add to the same number and the sum has an order.
    """
    trials, hidden = gates.shape[0], gates.shape[-1] // 4
    splits = min(tiles.splits, trace.steps.shape[1])
    given = _Given(gates, trace.h, trace.observation, trace.action, trace.steps)

    def shape(rows: int) -> Any:
        return jax.ShapeDtypeStruct((trials, splits, rows, 4 * hidden), jnp.float32)

    def spec(rows: int) -> Any:
        return pl.BlockSpec((None, None, rows, hidden), lambda trial, part: (trial, part % splits, 0, part // splits))

    (gradient,) = pl.pallas_call(
        partial(_kernel, splits, first_action, none, tiles),
        grid=(trials, 4 * splits),
        in_specs=(whole_trials(given),),
        out_specs=(WeightGradient(spec(inputs), spec(hidden)),),
        out_shape=(WeightGradient(shape(inputs), shape(hidden)),),
        compiler_params=triton.CompilerParams(num_warps=tiles.weights.warps, num_stages=tiles.weights.stages),
        interpret=target.interpret,
        name="urex_weights",
    )(given)
    return gradient


def _kernel(splits: int, first_action: int, none: int, tiles: Tiles, given: Any, out: Any) -> None:
    """The program of one gate and one share of the tiles; `given` and `out` are references."""
    part = pl.program_id(1)
    inputs, hidden = out.table.shape
    gate = pl.ds(part // splits * hidden, hidden)
    rows = jnp.arange(inputs)

    def tile(k: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        i = part % splits + k * splits
        here = pl.ds(i * tiles.lanes, tiles.lanes)

        def step(t: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
            table, recurrent = sums
            slope = given.gates[t, here, gate]
            before = jnp.maximum(t - 1, 0)
            h_tm1 = jnp.where(t > 0, given.h[before, here, :], jnp.zeros((), jnp.bfloat16))
            previous = first_action + jnp.where(t > 0, given.action[before, here], none)
            seen = given.observation[t, here]
            hot = ((rows[:, None] == seen[None]) | (rows[:, None] == previous[None])).astype(jnp.bfloat16)
            return table + dot(hot, slope), recurrent + dot(h_tm1.T, slope)

        return jax.lax.fori_loop(0, given.steps[i], step, sums)

    count = (given.steps.shape[0] - part % splits + splits - 1) // splits
    nothing = (jnp.zeros((inputs, hidden), jnp.float32), jnp.zeros((hidden, hidden), jnp.float32))
    table, recurrent = jax.lax.fori_loop(0, count, tile, nothing)
    out.table[:, :] = table
    out.recurrent[:, :] = recurrent
