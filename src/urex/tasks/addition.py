"""Addition of numbers in base 3, one in each row of a grid, least significant digit first."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from urex.errors import UserError, whole_number
from urex.tasks.tape import Rules, TapeTask, Target

BASE = 3


def _sum(grid: Int[Array, "width rows"], length: Int[Array, ""]) -> Target:
    """The digits of the sum; one more than there are columns if a carry is left over."""
    in_use = jnp.arange(grid.shape[0]) < length
    # past the end the columns are 0, so the carry comes out as the digit that follows the last column
    columns = jnp.append(jnp.where(in_use, grid.sum(axis=1, dtype=grid.dtype), 0), 0)
    carries = jnp.concatenate([jnp.zeros((1,), grid.dtype), _carries(columns)[:-1]])
    digits = (columns + carries) % BASE
    return digits, length + (digits[length] > 0)


def _carries(columns: Int[Array, " columns"]) -> Int[Array, " columns"]:
    """What each column passes on, for all columns at once.

    A column is a function from the carry that comes in, 0, 1 or 2, to the one that goes out, and composing
    functions is associative; one column after another would be a loop of small steps.
    """

    def then(first: tuple[Array, ...], second: tuple[Array, ...]) -> tuple[Array, ...]:
        return tuple(jnp.where(c == 0, second[0], jnp.where(c == 1, second[1], second[2])) for c in first)

    columns_alone = tuple((columns + carry) // BASE for carry in range(BASE))
    return jax.lax.associative_scan(then, columns_alone)[0]


ADDITION = Rules(
    base=BASE,
    target=_sum,
    first_level=2,
    promotion_window=10,
    promotion_shortfall=-1.0,
    reward_threshold=25.0,
    letters=False,
)


def reversed_addition(rows: int = 2, max_length: int = 32, time_limit: str = "2w+4") -> TapeTask:
    """Write the sum of two numbers.

    Or of three: then an honest agent must visit 3w cells, so under the published limit of 2w+4
    steps the task cannot be solved past four columns; `time_limit="3w+4"` makes it solvable.
    """
    if not 2 <= whole_number("rows", rows) <= 3:
        raise UserError(f"rows {rows}: sums have 2 or 3 rows; larger carries would need more than one digit")
    return TapeTask(ADDITION._replace(rows=rows), max_length=max_length, time_limit=time_limit)


def reversed_addition3(max_length: int = 32, time_limit: str = "2w+4") -> TapeTask:
    """Write the sum of three, in 2w+4 steps.

    That is the published limit, too short for more than four columns.
    """
    return reversed_addition(rows=3, max_length=max_length, time_limit=time_limit)


def reversed_addition3_extended(max_length: int = 32, time_limit: str = "3w+4") -> TapeTask:
    """Write the sum of three, in 3w+4 steps."""
    return reversed_addition(rows=3, max_length=max_length, time_limit=time_limit)
