"""The tape machine: a read head over a tape or grid of symbols, and an output written left to right.

The behaviour is that of the algorithmic environments of OpenAI Gym, step for step.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from urex.errors import UserError, whole_number
from urex.tasks.draws import integers
from urex.tasks.levels import Levels
from urex.tasks.task import Action, Read, SizedTask, absorb, gather
from urex.tasks.time_limit import TimeLimit, parse_time_limit

LEVEL_SPREAD = 3
"""An instance of level m has m, m + 1 or m + 2 cells."""
TOP_LEVEL = 30
"""The last level of the originals, whose tapes have 30 to 32 cells."""
UNWRITTEN = -1
"""What `target` holds past its end."""

Target = tuple[Int[Array, " capacity"], Int[Array, ""]]
"""The wanted output and its length; what lies past the end is never looked at."""
TargetRule = Callable[[Int[Array, "width rows"], Int[Array, ""]], Target]
"""From the tape and the number of its columns in use to the target."""


class TapeInstance(eqx.Module):
    """A tape, and what must be written for it."""

    cells: Int[Array, " cells"]
    """The symbols column by column, top row first; the blank past the end."""
    length: Int[Array, ""]
    """The number of columns in use."""
    target: Int[Array, " capacity"]
    target_length: Int[Array, ""]
    time_limit: Int[Array, ""]


class TapeState(eqx.Module):
    """Where both heads are, and how long they have been moving."""

    column: Int[Array, ""]
    row: Int[Array, ""]
    write_head: Int[Array, ""]
    time: Int[Array, ""]
    over: Bool[Array, ""]


class Rules(NamedTuple):
    """What sets one tape task apart from another: data, and the rule that gives the target."""

    base: int
    """Symbols are 0 .. base - 1; `base` itself is the blank seen outside the tape."""
    target: TargetRule
    first_level: int
    promotion_window: int
    promotion_shortfall: float
    reward_threshold: float
    rows: int = 1
    run: int = 1
    """Each symbol stands this many times in a row on the tape."""
    letters: bool = True
    """Whether people are shown letters or digits."""


class TapeTask(SizedTask):
    """Read a tape (one row) or a grid (several), write the target, one symbol at a time.

    An action is (move, write, symbol). Moves are left, right and, on a grid, up, down; the head moves at
    every step, and reads the blank outside the tape. A right symbol pays 1; a wrong one
    costs 0.5 and ends the episode, as does the last right one. The step after `time_limit` steps
    pays -1, whatever it did, and ends the episode.
    """

    rules: Rules = eqx.field(static=True)
    max_length: int = eqx.field(static=True)
    time_limit: TimeLimit = eqx.field(static=True)
    observations: int = eqx.field(static=True)
    actions: tuple[int, ...] = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    levels: Levels = eqx.field(static=True)
    reward_threshold: float = eqx.field(static=True)

    def __init__(self, rules: Rules, *, max_length: int, time_limit: str):
        smallest = rules.first_level + LEVEL_SPREAD - 1
        if whole_number("max_length", max_length) < smallest:
            raise UserError(
                f"max_length {max_length}: it must be at least {smallest}, the longest tape of the first level"
            )
        self.rules = rules
        self.max_length = max_length
        self.time_limit = parse_time_limit(time_limit, max_length)
        self.observations = rules.base + 1
        self.actions = (2 if rules.rows == 1 else 4, 2, rules.base)
        self.max_steps = self.time_limit.steps(max_length) + 1
        self.levels = Levels(
            first=rules.first_level,
            top=min(TOP_LEVEL, max_length - LEVEL_SPREAD + 1),
            worst=rules.promotion_shortfall,
            window=rules.promotion_window,
            judged=rules.first_level,  # short tapes pay too little to reach the threshold, so it needs no level
        )
        self.reward_threshold = rules.reward_threshold

    def sample(self, key: PRNGKeyArray, level: Int[Array, ""]) -> TapeInstance:
        size_key, tape_key = jax.random.split(key)
        drawn = level + integers(size_key, (), LEVEL_SPREAD)
        whole_runs = jnp.maximum(drawn // self.rules.run, 1) * self.rules.run
        return self.sample_length(tape_key, whole_runs)

    def sample_length(self, key: PRNGKeyArray, length: Int[Array, ""]) -> TapeInstance:
        shape = (-(-self.max_length // self.rules.run), self.rules.rows)
        symbols = integers(key, shape, self.rules.base)
        return self.instance(jnp.repeat(symbols, self.rules.run, axis=0)[: self.max_length], length)

    def instance(self, tape: Int[Array, "width rows"], length: Int[Array, ""]) -> TapeInstance:
        """The instance with the first `length` columns of this tape."""
        target, target_length = self.rules.target(tape, length)
        return TapeInstance(
            cells=jnp.where(jnp.arange(self.max_length)[:, None] < length, tape, self.rules.base).ravel(),
            length=length,
            target=jnp.where(jnp.arange(target.shape[0]) < target_length, target, UNWRITTEN),
            target_length=target_length,
            time_limit=self.time_limit.steps(length),
        )

    def start(self, instance: TapeInstance) -> TapeState:
        del instance  # unused: the heads start at the same cell of every tape
        zero = jnp.zeros((), jnp.int32)
        return TapeState(column=zero, row=zero, write_head=zero, time=zero, over=jnp.zeros((), bool))

    def observe(self, instance: TapeInstance, state: TapeState, *, read: Read = gather) -> Int[Array, ""]:
        column, row, rows = state.column, state.row, self.rules.rows
        inside = (column >= 0) & (column < instance.length) & (row >= 0) & (row < rows)
        cell = jnp.where(inside, column * rows + row, 0)
        return jnp.where(inside, read(instance.cells, cell), self.rules.base)

    def step(
        self, instance: TapeInstance, state: TapeState, action: Action, *, read: Read = gather
    ) -> tuple[TapeState, Float[Array, ""], Bool[Array, ""]]:
        move, write, symbol = action
        time = state.time + 1
        writes = write == 1
        # the head stands at the end of the target only when the episode is over
        wanted = read(instance.target, jnp.minimum(state.write_head, instance.target_length - 1))
        right = symbol == wanted
        write_head = state.write_head + writes
        late = time > instance.time_limit
        done = late | (writes & (~right | (write_head >= instance.target_length)))
        reward = jnp.where(late, -1.0, jnp.where(writes, jnp.where(right, 1.0, -0.5), 0.0))
        after = TapeState(
            column=state.column + (move == 1) - (move == 0),
            row=state.row + (move == 3) - (move == 2),
            write_head=write_head,
            time=time,
            over=done,
        )
        return absorb(state.over, state, (after, reward, done))

    def shortfall(
        self, instance: TapeInstance, level: Int[Array, ""], total_reward: Float[Array, ""]
    ) -> Float[Array, ""]:
        del level  # unused: every symbol of the target pays 1, at every level
        return total_reward - instance.target_length

    def check_length(self, length: int) -> None:
        if not 1 <= length <= self.max_length:
            raise UserError(
                f"length {length}: it must be 1 to {self.max_length}; give the task a larger max_length for longer ones"
            )
        if length % self.rules.run:
            raise UserError(
                f"length {length}: each symbol stands {self.rules.run} times in a row;"
                f" give a multiple of {self.rules.run}"
            )
