"""The tasks on a one-row tape: Copy, DuplicatedInput, RepeatCopy and Reverse."""

import jax.numpy as jnp
from jaxtyping import Array, Int

from urex.tasks.tape import Rules, TapeTask, Target

Tape = Int[Array, "width 1"]


def _same(tape: Tape, length: Int[Array, ""]) -> Target:
    return tape[:, 0], length


def _every_second(tape: Tape, length: Int[Array, ""]) -> Target:
    return tape[::2, 0], length // 2


def _there_back_there(tape: Tape, length: Int[Array, ""]) -> Target:
    position = jnp.arange(3 * tape.shape[0])
    lap = position // length
    across = position % length
    return tape[jnp.where(lap == 1, length - 1 - across, across), 0], 3 * length


def _backwards(tape: Tape, length: Int[Array, ""]) -> Target:
    return tape[length - 1 - jnp.arange(tape.shape[0]), 0], length


COPY = Rules(base=5, target=_same, first_level=2, promotion_window=10, promotion_shortfall=-1.0, reward_threshold=25.0)
DUPLICATED_INPUT = COPY._replace(target=_every_second, run=2, reward_threshold=9.0)
REPEAT_COPY = COPY._replace(
    target=_there_back_there, promotion_window=50, promotion_shortfall=-0.1, reward_threshold=75.0
)
REVERSE = COPY._replace(base=2, target=_backwards, first_level=1, promotion_window=50, promotion_shortfall=-0.1)


def copy(max_length: int = 32, time_limit: str = "2w+4") -> TapeTask:
    """Write the tape."""
    return TapeTask(COPY, max_length=max_length, time_limit=time_limit)


def duplicated_input(max_length: int = 32, time_limit: str = "1.5w+4") -> TapeTask:
    """Every symbol stands twice; write each once."""
    return TapeTask(DUPLICATED_INPUT, max_length=max_length, time_limit=time_limit)


def repeat_copy(max_length: int = 32, time_limit: str = "4w+4") -> TapeTask:
    """Write the tape, then backwards, then again."""
    return TapeTask(REPEAT_COPY, max_length=max_length, time_limit=time_limit)


def reverse(max_length: int = 32, time_limit: str = "2w+4") -> TapeTask:
    """Write the tape backwards."""
    return TapeTask(REVERSE, max_length=max_length, time_limit=time_limit)
