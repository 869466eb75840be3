"""BinarySearch: find a hidden number in a sorted array with three registers and a comparison."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from urex.errors import UserError, whole_number
from urex.tasks.draws import integers
from urex.tasks.levels import Levels
from urex.tasks.task import Action, SizedTask, absorb

INC, DIV, AVG, CMP = range(4)
NOTHING, SMALLER, EQUAL, LARGER = range(4)
"""What CMP tells of the number looked for, against the cell; NOTHING after the other operations."""

FIRST_RANGE = (2, 32)
"""Array sizes of level 0; both ends double from level to level."""
OPTIMAL_REWARD = (7.60716, 8.43460, 9.01666, 9.40228, 9.64623)
"""The mean reward at each level of halving the range with every probe, at two steps a probe."""
PROMOTION_FRACTION = 0.9
"""The share of the optimal reward that a window must average for promotion."""
_FOUND = -1.0 + 1e-7
"""A shortfall above this means that the number was found: not finding it is a shortfall of -1, and finding
it with the last step that pays is one of -1 + 5e-7 in an array of a million."""


class SearchInstance(eqx.Module):
    """An array of n numbers in ascending order; the one looked for is at `position`."""

    n: Int[Array, ""]
    position: Int[Array, ""]


class SearchState(eqx.Module):
    """The registers, and what the last comparison told."""

    registers: tuple[Int[Array, ""], Int[Array, ""], Int[Array, ""]]
    signal: Int[Array, ""]
    time: Int[Array, ""]
    over: Bool[Array, ""]


class BinarySearch(SizedTask):
    """Find a number in a sorted array.

    The agent finds it by calling CMP on a register that holds its position. The registers start at
    (n, 0, 0). An action is an operation and a register i: INC adds 1 to it, DIV halves it, AVG sets
    it to the mean of the other two, CMP compares the number looked for with the cell it points at.
    DIV and AVG round down; a register at or past n compares as larger than every number. Finding the
    number at step t pays 10 (1 - t / (2n + 1)); step 2n + 1 ends the episode with nothing.
    """

    max_length: int = eqx.field(static=True)
    observations: int = eqx.field(static=True)
    actions: tuple[int, ...] = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    levels: Levels = eqx.field(static=True)
    reward_threshold: float = eqx.field(static=True)

    def __init__(self, max_length: int = 512):
        if whole_number("max_length", max_length) < FIRST_RANGE[1]:
            raise UserError(
                f"max_length {max_length}: it must be at least {FIRST_RANGE[1]}, the largest n of the first level"
            )
        levels_that_fit = (max_length // FIRST_RANGE[1]).bit_length()
        self.max_length = max_length
        self.observations = 4
        self.actions = (4, 3)
        self.max_steps = 2 * max_length + 1
        self.levels = Levels(
            first=0,
            top=min(len(OPTIMAL_REWARD), levels_that_fit) - 1,
            worst=_FOUND,
            mean=PROMOTION_FRACTION - 1.0,
            window=100,
            several=False,  # a window is held against the best that its own range allows
        )
        self.reward_threshold = 9.0

    def sample(self, key: PRNGKeyArray, level: Int[Array, ""]) -> SearchInstance:
        n_key, position_key = jax.random.split(key)
        low, high = (end << level for end in FIRST_RANGE)
        return self.sample_length(position_key, low + integers(n_key, (), high + 1 - low))

    def sample_length(self, key: PRNGKeyArray, length: Int[Array, ""]) -> SearchInstance:
        return SearchInstance(n=length, position=integers(key, (), length))

    def start(self, instance: SearchInstance) -> SearchState:
        zero = jnp.zeros((), jnp.int32)
        return SearchState(registers=(instance.n, zero, zero), signal=zero, time=zero, over=jnp.zeros((), bool))

    def observe(self, instance: SearchInstance, state: SearchState) -> Int[Array, ""]:
        del instance  # unused: all that the agent learns of it is the signal of its comparisons
        return state.signal

    def step(
        self, instance: SearchInstance, state: SearchState, action: Action
    ) -> tuple[SearchState, Float[Array, ""], Bool[Array, ""]]:
        operation, register = action
        r0, r1, r2 = state.registers
        value = jnp.where(register == 0, r0, jnp.where(register == 1, r1, r2))
        others = r0 + r1 + r2 - value
        # not `jnp.select`, which kernels cannot compile
        halved = jnp.where(operation == DIV, value // 2, jnp.where(operation == AVG, others // 2, value))
        changed = jnp.where(operation == INC, value + 1, halved)
        compared = jnp.where(instance.position < value, SMALLER, jnp.where(instance.position > value, LARGER, EQUAL))
        time = state.time + 1
        signal = jnp.where(operation == CMP, compared, NOTHING)
        found = signal == EQUAL
        after = SearchState(
            registers=(
                jnp.where(register == 0, changed, r0),
                jnp.where(register == 1, changed, r1),
                jnp.where(register == 2, changed, r2),
            ),
            signal=signal,
            time=time,
            over=found | (time > 2 * instance.n),
        )
        reward = jnp.where(found, 10.0 * (1.0 - time / (2 * instance.n + 1)), 0.0)
        return absorb(state.over, state, (after, reward, after.over))

    def shortfall(
        self, instance: SearchInstance, level: Int[Array, ""], total_reward: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Relative to the mean of perfect search at this level: -1 if the number was not found."""
        del instance  # unused: the rule is about the mean over the level's range of n
        return total_reward / jnp.asarray(OPTIMAL_REWARD)[level] - 1.0

    def check_length(self, length: int) -> None:
        if not 1 <= length <= self.max_length:
            raise UserError(
                f"n {length}: it must be 1 to {self.max_length}; larger arrays need a task with a larger max_length"
            )
