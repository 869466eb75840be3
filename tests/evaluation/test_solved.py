"""When an episode counts as solved, task by task."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests import builtin
from tests.episode import on_tape
from urex import tasks
from urex.evaluation import solved
from urex.tasks import TapeTask, Task
from urex.tasks.binary_search import SearchInstance


def is_solved(task: Task, instance: Any, total_reward: float) -> bool:
    return bool(solved(task, instance, jnp.float32(total_reward)))


@pytest.mark.parametrize("name", [name for name in builtin.NAMES if isinstance(tasks.get(name), TapeTask)])
def test_on_a_tape_the_whole_output_must_be_right(name: str) -> None:
    """An episode that ends short of that has lost 1.5 at least: the last symbol's 1, and 0.5 for a wrong one."""
    task = tasks.get(name)
    instance = task.sample(jax.random.key(0), jnp.int32(task.levels.top))
    symbols = int(instance.target_length)
    assert is_solved(task, instance, symbols)
    for total_reward in (symbols - 1.5, symbols - 2, 0.0, -0.5, -1.0):
        assert not is_solved(task, instance, total_reward)


def test_a_right_last_symbol_that_came_too_late_is_no_match() -> None:
    task = tasks.get("copy", time_limit="1w+0")
    assert isinstance(task, TapeTask)
    for waits, expected in ((0, True), (1, False)):
        episode = on_tape(task, [3, 1])
        for _ in range(waits):
            episode.step(0, 0, 0)
        episode.step(1, 1, 3)
        episode.step(1, 1, 1)
        assert int(episode.state.write_head) == 2
        assert is_solved(task, episode.instance, episode.total_reward) is expected


@pytest.mark.parametrize("capacity", [32, 512, 2000])
def test_a_search_is_solved_by_finding_the_number_before_the_last_step(capacity: int) -> None:
    task = tasks.get("binary-search", max_length=capacity)
    n = capacity
    instance = SearchInstance(n=jnp.int32(n), position=jnp.int32(0))
    paid = [10 * (1 - step / (2 * n + 1)) for step in (1, n, 2 * n, 2 * n + 1)]
    assert [is_solved(task, instance, reward) for reward in paid] == [True, True, True, False]


def test_a_task_of_ones_own_says_it_by_its_levels() -> None:
    parity = tasks.get("examples.parity:parity")
    instance = parity.sample(jax.random.key(0), jnp.int32(3))
    assert is_solved(parity, instance, 1.0)
    assert not is_solved(parity, instance, 0.0)
