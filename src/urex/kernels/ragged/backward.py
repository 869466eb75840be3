"""The backward pass of one trial: the stages in reverse, each step by its rows on the tape."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from urex.kernels.ragged.forward import is_action, weigh
from urex.kernels.ragged.stages import Stage, put_back
from urex.kernels.ragged.tape import Back, Forth, Tape, put, put_beside, take
from urex.policies.policy import Folded

_Carry = tuple[Array, Array, Back]
"""What comes back to h and to c, and the gradients so far."""


def backward(
    policy: Folded, stages: tuple[Stage, ...], begin: Int[Array, ""], tape: Tape, cotangent: Float[Array, " lanes"]
) -> tuple[Tape, Int[Array, ""]]:
    """The gradient of the gates and of the outputs in every row, and the number of rows.

    `begin` is the first row of the trial's stretch.
    """
    width, hidden = stages[-1].lane.shape[0], policy.recurrent.shape[0]
    dh = dc = jnp.zeros((width, hidden))
    back = tape.back
    for stage in reversed(stages):
        if stage.lane.shape[0] != dh.shape[0]:
            nothing = jnp.zeros((stage.lane.shape[0], hidden))
            dh, dc = put_back((dh, dc), stage.rank, (nothing, nothing))
        dh, dc, back = _unrun(policy, stage, begin, tape.forth, cotangent[stage.lane], (dh, dc, back))
    rows = sum((stage.steps * stage.lane.shape[0] for stage in stages), jnp.int32(0))
    return Tape(tape.forth, back), rows


def _unrun(
    policy: Folded, stage: Stage, begin: Int[Array, ""], tape: Forth, weight: Float[Array, " width"], start: _Carry
) -> _Carry:
    """Back through a stage's loop. With dh and dc what comes back to h_t and c_t, see `lstm.retreat`."""
    width = weight.shape[0]
    recurrent_back, readout_back = policy.recurrent.T, policy.readout.T

    def step(i: Int[Array, ""], carry: _Carry) -> _Carry:
        dh, dc, back = carry
        row = stage.row + (stage.steps - 1 - i) * width
        at = jax.tree.map(lambda buffer: take(buffer, row, width), tape)
        doutputs = _outputs_gradient(at, weight)
        dh = dh + doutputs @ readout_back
        dc = dc + dh * at.c_h
        i_c, f_c, g_c, o_h = jnp.split(at.slopes, 4, axis=1)
        stored = put_beside(back.dgates, (dc * i_c, dc * f_c, dc * g_c, dh * o_h), row - begin)
        dh = take(stored, row - begin, width) @ recurrent_back
        return dh, dc * at.c_c, Back(stored, put(back.doutputs, doutputs, row - begin))

    return jax.lax.fori_loop(0, stage.steps, step, start)


def _outputs_gradient(at: Forth, weight: Float[Array, " width"]) -> Float[Array, "width actions"]:
    """Of weight * log pi(a_t): the weight times (1 at the action, less each action's probability)."""
    weights, _, total = weigh(at.outputs)
    scale = jnp.where(at.taken, weight, 0.0)[:, None]
    return scale * (is_action(at.outputs, at.action) - weights / total[:, None])
