"""The lines that an agent's steps in BinarySearch are held against, from the machine itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.evaluation import reactive
from tests.tasks.test_binary_search import perfect_search
from urex import UserError, tasks
from urex.evaluation import search_lines
from urex.rollout import play
from urex.tasks.binary_search import FIRST_RANGE, OPTIMAL_REWARD, SearchInstance


def every_position(sizes: list[int]) -> SearchInstance:
    """Every search of arrays of these sizes."""
    n = np.repeat(np.array(sizes, np.int32), sizes)
    position = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    return jax.vmap(SearchInstance)(jnp.asarray(n), jnp.asarray(position))


def mean_by_size(sizes: list[int], steps: np.ndarray) -> list[float]:
    return [float(part.mean()) for part in np.split(steps, np.cumsum(sizes)[:-1])]


def test_the_linear_line_is_the_mean_of_a_policy_that_searches_so() -> None:
    sizes = [1, 2, 3, 10, 33, 64]
    task = tasks.get("binary-search", max_length=64)
    policy = reactive.reactive(task, reactive.linear_search)
    outcome = play(
        jax.tree.map(lambda x: x[None], policy),
        task,
        jax.tree.map(lambda x: x[None], every_position(sizes)),
        lambda t: jnp.zeros((1, sum(sizes))),
    )
    assert mean_by_size(sizes, np.asarray(outcome.length[0])) == search_lines(sizes).linear.tolist()


def test_the_optimal_line_is_the_mean_of_an_agent_that_halves_the_range() -> None:
    sizes = [1, 2, 3, 4, 5, 10, 31, 32, 33, 100, 500, 512, 2000]
    searches = every_position(sizes)
    steps, _ = jax.jit(jax.vmap(perfect_search))(searches.n, searches.position)
    np.testing.assert_allclose(search_lines(sizes).optimal, mean_by_size(sizes, np.asarray(steps)), rtol=1e-12)


@pytest.mark.parametrize("level", range(5))
def test_the_optimal_line_earns_the_optimal_reward_of_every_level(level: int) -> None:
    low, high = (end << level for end in FIRST_RANGE)
    lines = search_lines(range(low, high + 1))
    assert np.mean(10 * (1 - lines.optimal / (2 * lines.n + 1))) == pytest.approx(OPTIMAL_REWARD[level], abs=1e-5)


def test_few_positions_by_hand() -> None:
    """Of three, the middle takes 2 steps and the others 4; of four, one more takes 6."""
    lines = search_lines([1, 2, 3, 4])
    assert lines.n.tolist() == lines.linear.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(lines.optimal, [2, (2 + 4) / 2, (2 + 4 + 4) / 3, (2 + 4 + 4 + 6) / 4])


def test_sizes_come_in_any_order_and_number() -> None:
    assert search_lines([512, 32]).optimal.tolist() == search_lines([32, 512]).optimal.tolist()[::-1]
    assert search_lines([]).optimal.tolist() == []


@pytest.mark.parametrize("size", [0, -4])
def test_an_array_without_numbers_is_refused(size: int) -> None:
    with pytest.raises(UserError, match=f"n {size}: an array to search must have at least 1 number"):
        search_lines([5, size])
