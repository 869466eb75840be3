"""The forward pass of one trial, which writes on the tape what the backward pass needs.

Barriers stand after what is costly and is used twice: XLA would else compute it anew in each of its uses.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from urex.kernels.ragged.stages import Stage, live_first, pick, put_back, widths
from urex.kernels.ragged.tape import Forth, Tape, put, put_beside
from urex.policies.actions import inside, split_action
from urex.policies.policy import Folded
from urex.rollout.episodes import Outcome
from urex.tasks.task import Instance, Task


class Lanes(NamedTuple):
    """Lanes in the middle of their episodes."""

    lane: Int[Array, " width"]
    """Which of the trial's lanes each is; random numbers and cotangents go by it."""
    instance: Instance
    state: PyTree
    observation: Int[Array, " width"]
    previous: Int[Array, " width"]
    over: Bool[Array, " width"]
    h: Float[Array, "width hidden"]
    c: Float[Array, "width hidden"]
    outcome: Outcome
    """One trial's part of it: [width]."""


class Forward(NamedTuple):
    """What came of a trial."""

    outcome: Outcome
    rounds: Int[Array, ""]
    lane_steps: Int[Array, ""]
    stages: tuple[Stage, ...]


class _Carry(NamedTuple):
    """What a loop changes."""

    t: Int[Array, ""]
    row: Int[Array, ""]
    lanes: Lanes
    tape: Forth


class _Choice(NamedTuple):
    action: Int[Array, " width"]
    log_prob: Float[Array, " width"]


def forward(
    policy: Folded,
    task: Task,
    instances: Instance,
    uniforms: Float[Array, "time lanes"],
    row: Int[Array, ""],
    tape: Tape,
) -> tuple[Forward, Tape]:
    """Episodes of one trial, with their rows on the tape from `row` on."""
    now = _Carry(jnp.int32(0), row, _begin(policy, task, instances), tape.forth)
    sizes, stages, outcomes = widths(uniforms.shape[1]), [], []
    for enough in (*sizes[1:], 0):
        before, now = now, _run(policy, task, uniforms, now, enough)
        order, rank = live_first(now.lanes.over)
        stages.append(Stage(before.row, now.t - before.t, now.lanes.lane, rank))
        outcomes.append(now.lanes.outcome)
        now = now._replace(lanes=pick(now.lanes, order[:enough]))
    outcome = outcomes.pop()
    for stage, left_behind in zip(stages[-2::-1], outcomes[::-1], strict=True):
        outcome = put_back(outcome, stage.rank, left_behind)
    return Forward(outcome, now.t, now.row - row, tuple(stages)), tape._replace(forth=now.tape)


def _begin(policy: Folded, task: Task, instances: Instance) -> Lanes:
    """All lanes before their first step."""
    lanes = jax.tree.leaves(instances)[0].shape[0]
    state = jax.vmap(task.start)(instances)
    hidden, actions = policy.readout.shape
    nothing, zero = jnp.zeros((lanes, hidden)), jnp.zeros((lanes,))
    return Lanes(
        lane=jnp.arange(lanes),
        instance=instances,
        state=state,
        observation=_observe(task, instances, state),
        previous=jnp.full((lanes,), actions, jnp.int32),
        over=jnp.zeros((lanes,), bool),
        h=nothing,
        c=nothing,
        outcome=Outcome(zero, zero, zero.astype(jnp.int32)),
    )


def _observe(task: Task, instances: Instance, state: PyTree) -> Int[Array, " width"]:
    return jax.vmap(task.observe)(instances, state).astype(jnp.int32)


def _run(policy: Folded, task: Task, uniforms: Float[Array, "time lanes"], start: _Carry, enough: int) -> _Carry:
    """Go on until no more than `enough` lanes are live."""

    def goes_on(carry: _Carry) -> Bool[Array, ""]:
        return (carry.t < task.max_steps) & ((~carry.lanes.over).sum() > enough)

    def step(carry: _Carry) -> _Carry:
        t, row, lanes, tape = carry
        h, c, slopes, c_h, c_c = _advance(policy, lanes)
        outputs = h @ policy.readout + policy.readout_bias[None]
        choice = _choose(outputs, uniforms[t][lanes.lane])
        rows = Forth(
            put_beside(tape.slopes, slopes, row),
            *(
                put(buffer, new, row)
                for buffer, new in zip(
                    tape[1:],
                    (c_h, c_c, lanes.h, h, outputs, lanes.observation, lanes.previous, choice.action, ~lanes.over),
                    strict=True,
                )
            ),
        )
        return _Carry(t + 1, row + lanes.lane.shape[0], _move(task, lanes, choice, h, c), rows)

    return jax.lax.while_loop(goes_on, step, start)


def _advance(policy: Folded, lanes: Lanes) -> tuple[Array, Array, tuple[Array, ...], Array, Array]:
    """One step of the LSTM: h_t, c_t, and the derivatives for the tape: the four slopes, c_h and c_c."""
    gates = lanes.h @ policy.recurrent + policy.seen[lanes.observation] + policy.done[lanes.previous]
    i, f, g, o = jnp.split(_activate(gates), 4, axis=-1)
    c = jax.lax.optimization_barrier(f * lanes.c + i * g)
    tanh_c = jax.lax.optimization_barrier(jnp.tanh(c))
    slopes = (g * i * (1 - i), lanes.c * f * (1 - f), i * (1 - g * g), tanh_c * o * (1 - o))
    return o * tanh_c, c, slopes, o * (1 - tanh_c * tanh_c), f


def _activate(gates: Float[Array, "width gates"]) -> Float[Array, "width gates"]:
    """Tanh for the new content, the sigmoid for all else, which is a tanh too: one of them for each number."""
    part = jax.lax.broadcasted_iota(jnp.int32, gates.shape, 1) // (gates.shape[1] // 4)
    is_content = part == 2
    tanh = jnp.tanh(jnp.where(is_content, gates, 0.5 * gates))
    return jax.lax.optimization_barrier(jnp.where(is_content, tanh, 0.5 * tanh + 0.5))


def _choose(outputs: Float[Array, "width actions"], uniform: Float[Array, " width"]) -> _Choice:
    """As `policies.categorical` and `log_probability`, which would each take the exponentials."""
    weights, top, total = weigh(outputs)
    triangle = jnp.triu(jnp.ones((outputs.shape[1],) * 2, outputs.dtype))
    summed = jax.lax.optimization_barrier(jnp.matmul(weights, triangle, precision="highest"))
    action = (summed[:, :-1] <= inside(uniform)[:, None] * summed[:, -1:]).sum(axis=1, dtype=jnp.int32)
    chosen = jnp.where(is_action(outputs, action), outputs, 0.0).sum(axis=1)
    return _Choice(action, chosen - top - jnp.log(total))


def weigh(outputs: Float[Array, "width actions"]) -> tuple[Array, Float[Array, " width"], Float[Array, " width"]]:
    """What each action's probability is proportional to, exp(output - top); the top, and their sum."""
    top = outputs.max(axis=1)
    weights = jax.lax.optimization_barrier(jnp.exp(outputs - top[:, None]))
    return weights, top, weights.sum(axis=1)


def is_action(outputs: Float[Array, "width actions"], action: Int[Array, " width"]) -> Bool[Array, "width actions"]:
    """Where the chosen action's output stands."""
    return jax.lax.broadcasted_iota(jnp.int32, outputs.shape, 1) == action[:, None]


def _move(task: Task, lanes: Lanes, choice: _Choice, h: Array, c: Array) -> Lanes:
    """The lanes after their action; what is over stays as it came to."""
    state, reward, over = jax.vmap(task.step)(lanes.instance, lanes.state, split_action(choice.action, task.actions))
    live, outcome = ~lanes.over, lanes.outcome
    return lanes._replace(
        state=state,
        observation=_observe(task, lanes.instance, state),
        previous=choice.action,
        over=over,
        h=h,
        c=c,
        outcome=Outcome(
            total_reward=outcome.total_reward + jnp.where(live, reward, 0.0),
            output=outcome.output + jnp.where(live, choice.log_prob, 0.0),
            length=outcome.length + live,
        ),
    )
