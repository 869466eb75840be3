"""The backward pass of a rollout, written by hand: a loop of dynamic length has no reverse mode."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from urex.policies import lstm
from urex.policies.policy import Folded, Policy, fold
from urex.rollout.episodes import Episodes, Residuals
from urex.rollout.outputs import OutputRule, log_probability
from urex.rollout.sample import BLOCK
from urex.rollout.step import gates

Cotangent = Float[Array, "trials lanes"] | Float[Array, "trials time lanes"]
"""What the chosen outputs are weighed with: one number an episode, or one a step."""


class _Block(NamedTuple):
    """Some consecutive steps, with all that the backward pass needs of them."""

    observation: Int[Array, "trials steps lanes"]
    previous: Int[Array, "trials steps lanes"]
    h_tm1: Float[Array, "trials steps lanes hidden"]
    h_t: Float[Array, "trials steps lanes hidden"]
    slopes: lstm.Slopes
    doutputs: Float[Array, "trials steps lanes actions"]
    """The gradient of the policy's outputs; 0 where an episode is over."""


class _Carry(NamedTuple):
    """The gradient so far, and what comes back to the state from the steps after."""

    dh: Float[Array, "trials lanes hidden"]
    dc: Float[Array, "trials lanes hidden"]
    dgates: Float[Array, "trials steps lanes gates"]
    gradient: Folded


def pull_back(
    policy: Policy,
    episodes: Episodes,
    residuals: Residuals,
    cotangent: Cotangent,
    *,
    output: OutputRule = log_probability,
) -> Policy:
    """The gradient of sum(cotangent * output of the chosen actions), for each trial.

    With h_t, c_t the LSTM's state, dh and dc what comes back to it, it runs from the last step that
    was taken to the first, in blocks: what does not depend on dh and dc (the gates, recomputed, and their slopes), and
    the gradient of the weights, is computed for a block at once.
    """
    folded, unfold = jax.vjp(jax.vmap(fold), policy)
    blocks = -(-episodes.executed // BLOCK)

    def step_block(i: Int[Array, ""], carry: _Carry) -> _Carry:
        begin = (blocks - 1 - i) * BLOCK
        block = _block(folded, episodes, residuals, cotangent, output, begin)
        dh, dc, dgates = _retreat(folded, block, jnp.minimum(BLOCK, episodes.executed - begin), carry)
        gradient = jax.tree.map(jnp.add, carry.gradient, _weights_gradient(folded, block, dgates))
        return _Carry(dh, dc, dgates, gradient)

    nothing = jnp.zeros_like(residuals.h[:, 0])
    start = _Carry(
        dh=nothing,
        dc=nothing,
        dgates=jnp.zeros((nothing.shape[0], BLOCK, nothing.shape[1], 4 * nothing.shape[2]), nothing.dtype),
        gradient=jax.tree.map(jnp.zeros_like, folded),
    )
    (gradient,) = unfold(jax.lax.fori_loop(0, blocks, step_block, start).gradient)
    return gradient


def _block(
    folded: Folded,
    episodes: Episodes,
    residuals: Residuals,
    cotangent: Cotangent,
    output: OutputRule,
    begin: Int[Array, ""],
) -> _Block:
    """The block that begins at this step."""

    def rows(buffer: Array, start: Int[Array, ""] = begin) -> Array:
        return jax.lax.dynamic_slice_in_dim(buffer, start, BLOCK, axis=1)

    steps, h_tm1, c_tm1 = episodes.steps, rows(residuals.h), rows(residuals.c)
    time = begin + jnp.arange(BLOCK)
    previous = _previous(steps.action, begin, none=folded.done.shape[1] - 1)
    taken = time[None, :, None] < episodes.outcome.length[:, None, :]
    weight = cotangent[:, None, :] if cotangent.ndim == 2 else rows(_whole_blocks(cotangent))
    return _Block(
        observation=rows(steps.observation),
        previous=previous,
        h_tm1=h_tm1,
        h_t=rows(residuals.h, begin + 1),
        slopes=lstm.slopes(
            gates(folded, h_tm1, rows(steps.observation), previous), c_tm1, rows(residuals.c, begin + 1)
        ),
        doutputs=_outputs_gradient(output, rows(steps.outputs), rows(steps.action), taken, weight),
    )


def _previous(
    action: Int[Array, "trials time lanes"], begin: Int[Array, ""], none: int
) -> Int[Array, "trials steps lanes"]:
    """The action before each step of the block; before the first step there is none."""
    time = begin + jnp.arange(BLOCK)
    before = jnp.take(action, jnp.maximum(time - 1, 0), axis=1)
    return jnp.where(time[None, :, None] == 0, none, before)


def _whole_blocks(cotangent: Float[Array, "trials time lanes"]) -> Array:
    """With rows of 0 to the end of the last block."""
    return jnp.pad(cotangent, ((0, 0), (0, -cotangent.shape[1] % BLOCK), (0, 0)))


def _outputs_gradient(
    output: OutputRule,
    outputs: Float[Array, "trials steps lanes actions"],
    action: Int[Array, "trials steps lanes"],
    taken: Bool[Array, "trials steps lanes"],
    weight: Float[Array, "trials _ lanes"],
) -> Float[Array, "trials steps lanes actions"]:
    _, pull = jax.vjp(lambda logits: output(logits, action), outputs)
    (gradient,) = pull(jnp.where(taken, weight, 0.0))
    return gradient


def _retreat(
    folded: Folded, block: _Block, count: Int[Array, ""], carry: _Carry
) -> tuple[Array, Array, Float[Array, "trials steps lanes gates"]]:
    """The recurrence, back through the first `count` steps of a block."""
    dh_t = jnp.einsum("rsba,rha->rsbh", block.doutputs, folded.readout)

    def step(i: Int[Array, ""], inner: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        dh, dc, dgates = inner
        t = count - 1 - i
        slopes = jax.tree.map(lambda slope: slope[:, t], block.slopes)
        dgates_t, dc = lstm.retreat(slopes, dh + dh_t[:, t], dc)
        dh = jnp.einsum("rbg,rhg->rbh", dgates_t, folded.recurrent)
        return dh, dc, dgates.at[:, t].set(dgates_t)

    return jax.lax.fori_loop(0, count, step, (carry.dh, carry.dc, carry.dgates))


def _weights_gradient(folded: Folded, block: _Block, dgates: Float[Array, "trials steps lanes gates"]) -> Folded:
    """A block's share of the gradient. One-hot products, since adding row by row has no order on a GPU."""

    def rows_of(index: Int[Array, "trials steps lanes"], size: int) -> Array:
        return jnp.einsum("rsbv,rsbg->rvg", jax.nn.one_hot(index, size, dtype=dgates.dtype), dgates)

    return Folded(
        seen=rows_of(block.observation, folded.seen.shape[1]),
        done=rows_of(block.previous, folded.done.shape[1]),
        recurrent=jnp.einsum("rsbh,rsbg->rhg", block.h_tm1, dgates),
        readout=jnp.einsum("rsbh,rsba->rha", block.h_t, block.doutputs),
        readout_bias=block.doutputs.sum(axis=(1, 2)),
    )
