"""The recurrence of the backward pass in one kernel: from the last step of a tile's episodes to their first."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, BFloat16, Float

from urex.kernels.fused.forward import Trace, whole_trials
from urex.kernels.fused.packing import Packed
from urex.kernels.fused.target import Target, dot
from urex.kernels.fused.tile import Tiles


class Slopes(NamedTuple):
    """What came back to the gates, and the readout's gradient, tile by tile."""

    gates: BFloat16[Array, "trials time lanes gates"]
    """Of the gates' inputs; 0 where an episode of a tile is over, and without meaning where the whole tile is."""
    readout: Float[Array, "trials tiles hidden choices"]
    readout_bias: Float[Array, "trials tiles choices"]


class _Given(NamedTuple):
    """References to what a program reads."""

    recurrent: Any
    """Transposed: [gates, hidden]."""
    readout: Any
    cotangent: Any
    trace: Trace


class _Step(NamedTuple):
    """What the forward pass left of one step."""

    gates: tuple[Array, Array, Array, Array]
    c_tm1: Array
    h_t: Array
    score: Array


class _Carry(NamedTuple):
    dh: Float[Array, "tile hidden"]
    dc: Float[Array, "tile hidden"]
    c_t: Float[Array, "tile hidden"]
    step: _Step
    readout: Float[Array, "hidden choices"]
    readout_bias: Float[Array, " choices"]


def backward(
    policy: Packed, trace: Trace, cotangent: Float[Array, "trials padded_lanes"], *, tiles: Tiles, target: Target
) -> Slopes:
    """The gradient of sum(cotangent * log pi) with respect to every gate's input. It takes the gates' memory."""
    trials, _, padded, _ = trace.gates.shape
    hidden, choices = policy.readout.shape[1:]
    given = _Given(policy.recurrent.swapaxes(1, 2), policy.readout, cotangent, trace)
    place = [leaf is trace.gates for leaf in jax.tree.leaves(given)].index(True)

    def of_tile(*shape: int) -> Any:
        return jax.ShapeDtypeStruct((trials, padded // tiles.lanes, *shape), jnp.float32)

    def spec(*shape: int) -> Any:
        return pl.BlockSpec((None, None, *shape), lambda trial, tile: (trial, tile, *(0 for _ in shape)))

    gates: Any = jax.ShapeDtypeStruct(trace.gates.shape, jnp.bfloat16)
    (slopes,) = pl.pallas_call(
        partial(_kernel, tiles, target),
        grid=(trials, padded // tiles.lanes),
        in_specs=(whole_trials(given),),
        out_specs=(Slopes(whole_trials(gates), spec(hidden, choices), spec(choices)),),
        out_shape=(Slopes(gates, of_tile(hidden, choices), of_tile(choices)),),
        input_output_aliases={place: 0},
        compiler_params=triton.CompilerParams(num_warps=tiles.backward.warps, num_stages=tiles.backward.stages),
        interpret=target.interpret,
        name="urex_backward",
    )(given)
    return slopes


def _kernel(tiles: Tiles, target: Target, given: Any, out: Any) -> None:
    """The program of one tile; `given` and `out` are references."""
    tile = pl.program_id(1)
    here = pl.ds(tile * tiles.lanes, tiles.lanes)
    hidden, choices = given.readout.shape
    weight, length, steps = given.cotangent[here], given.trace.length[here], given.trace.steps[tile]
    readout = given.readout[:, :].T
    recurrent = given.recurrent[:, :] if tiles.resident else None
    columns = [pl.ds(gate * hidden, hidden) for gate in range(4)]

    def load(t: Array) -> _Step:
        trace = given.trace
        gates = tuple(trace.gates[t, here, column] for column in columns)
        return _Step(gates, trace.c[jnp.maximum(t - 1, 0), here, :], trace.h[t, here, :], trace.score[t, here, :])  # pyright: ignore[reportArgumentType]  four

    def body(k: Array, carry: _Carry) -> _Carry:
        t = steps - 1 - k
        step = carry.step
        following = load(jnp.maximum(t - 1, 0))  # asked for now, so that it is there when it is needed
        doutputs = jnp.where(t < length, weight, 0.0)[:, None] * step.score.astype(jnp.float32)
        rounded = doutputs.astype(jnp.bfloat16)
        dreadout = carry.readout + dot(step.h_t.T, rounded)
        dreadout_bias = carry.readout_bias + doutputs.sum(axis=0)
        dh = carry.dh + dot(rounded, readout)
        c_tm1 = jnp.where(t > 0, step.c_tm1.astype(jnp.float32), 0.0)
        dgates, dc = _retreat(step, dh, carry.dc, carry.c_t, c_tm1, target)
        for column, slope in zip(columns, dgates, strict=True):
            out.gates[t, here, column] = slope
        target.barrier()  # read again as one matrix of all four gates: one long product
        return _Carry(
            dh=_back(given, out.gates, t, here, columns)
            if recurrent is None
            else dot(out.gates[t, here, :], recurrent),
            dc=dc,
            c_t=c_tm1,
            step=following,
            readout=dreadout,
            readout_bias=dreadout_bias,
        )

    nothing = jnp.zeros((tiles.lanes, hidden), jnp.float32)
    last = jax.lax.fori_loop(
        0,
        steps,
        body,
        _Carry(
            dh=nothing,
            dc=nothing,
            c_t=given.trace.c[steps - 1, here, :].astype(jnp.float32),
            step=load(steps - 1),
            readout=jnp.zeros((hidden, choices), jnp.float32),
            readout_bias=jnp.zeros((choices,), jnp.float32),
        ),
    )
    out.readout[:, :] = last.readout
    out.readout_bias[:] = last.readout_bias


def _retreat(
    step: _Step, dh_t: Array, dc_t: Array, c_t: Array, c_tm1: Array, target: Target
) -> tuple[tuple[Array, Array, Array, Array], Array]:
    """The gradient of the gates' inputs and of c_{t-1}, from that of h_t and c_t."""
    i, f, g, o = (gate.astype(jnp.float32) for gate in step.gates)
    tanh_c = target.tanh(c_t)
    do = dh_t * tanh_c * o * (1 - o)
    dc_t = dc_t + dh_t * o * (1 - tanh_c * tanh_c)
    di, df, dg = dc_t * g * i * (1 - i), dc_t * c_tm1 * f * (1 - f), dc_t * i * (1 - g * g)
    rounded = tuple(slope.astype(jnp.bfloat16) for slope in (di, df, dg, do))
    return rounded, dc_t * f  # pyright: ignore[reportReturnType]  four


def _back(given: Any, dgates: Any, t: Array, here: Any, columns: list[Any]) -> Array:
    """What comes back to h_{t-1}, gate by gate: it needs less memory on the chip."""
    return sum(dot(dgates[t, here, column], given.recurrent[column, :]) for column in columns)  # pyright: ignore[reportReturnType]
