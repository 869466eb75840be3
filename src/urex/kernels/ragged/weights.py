"""The gradient of the weights, of all rows of a trial alike, whatever stage they are of."""

from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from urex.kernels.ragged.tape import CHUNK, Back, Tape, put, take
from urex.policies.policy import Folded


class _Rows(NamedTuple):
    """What the weights' gradient is made of."""

    dgates: Float[Array, "rows gates"]
    doutputs: Float[Array, "rows actions"]
    h_tm1: Float[Array, "rows hidden"]
    h_t: Float[Array, "rows hidden"]
    observation: Int[Array, " rows"]
    previous: Int[Array, " rows"]


def weights_gradient(policy: Folded, tape: Tape, begin: Int[Array, ""], rows: Int[Array, ""]) -> tuple[Folded, Tape]:
    """Of a trial's rows, in chunks; its stretch begins at `begin`. What lies past them in the last chunk is made 0."""
    forth, back = tape
    states, gradients = _cleared((forth.h_tm1, forth.h_t), begin + rows), _cleared(back, rows)

    def add(n: Int[Array, ""], gradient: Folded) -> Folded:
        beside = [take(buffer, n * CHUNK, CHUNK) for buffer in gradients]
        inputs = [take(buffer, begin + n * CHUNK, CHUNK) for buffer in (*states, forth.observation, forth.previous)]
        return jax.tree.map(jnp.add, gradient, _of_chunk(policy, _Rows(*beside, *inputs)))

    gradient = jax.lax.fori_loop(0, -(-rows // CHUNK), add, jax.tree.map(jnp.zeros_like, policy))
    return gradient, Tape(forth._replace(h_tm1=states[0], h_t=states[1]), Back(*gradients))


def _cleared(buffers: Iterable[Float[Array, "rows _"]], row: Int[Array, ""]) -> list[Array]:
    """With a chunk of zeros from `row` on: whatever lies there, even what is not a number, adds nothing."""
    return [put(buffer, jnp.zeros((CHUNK, buffer.shape[1]), buffer.dtype), row) for buffer in buffers]


def _of_chunk(policy: Folded, chunk: _Rows) -> Folded:
    """One product for both tables: a row's observation and its previous action are two ones in the same one-hot."""
    seen, done = policy.seen.shape[0], policy.done.shape[0]
    column = jnp.arange(seen + done)[:, None]
    hot = (column == chunk.observation[None]) | (column == chunk.previous[None] + seen)
    looked_up = hot.astype(chunk.dgates.dtype) @ chunk.dgates
    return Folded(
        seen=looked_up[:seen],
        done=looked_up[seen:],
        recurrent=chunk.h_tm1.T @ chunk.dgates,
        readout=(chunk.doutputs.T @ chunk.h_t).T,
        readout_bias=chunk.doutputs.sum(axis=0),
    )
