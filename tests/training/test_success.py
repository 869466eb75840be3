"""When a task counts as solved, against the plain rule: a list of the latest rewards and its mean."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import tasks
from urex.training.success import NEVER, WINDOW, Success, init_success, judge

COPY = tasks.get("copy")
SEARCH = tasks.get("binary-search")


def judged(task: tasks.Task, updates: list[tuple[int, list[float]]]) -> Success:
    """After updates of so many rewards, each at a level."""
    state = init_success()
    for i, (level, rewards) in enumerate(updates, start=1):
        state = judge(task, state, jnp.int32(level), jnp.array(rewards, jnp.float32), jnp.int32(i))
    return state


def plainly(threshold: float, updates: list[list[float]]) -> int:
    """The first update within which some 100 consecutive rewards average the threshold."""
    seen: list[float] = []
    for i, rewards in enumerate(updates, start=1):
        for reward in rewards:
            seen.append(reward)
            if len(seen) >= WINDOW and np.mean(seen[-WINDOW:]) >= threshold:
                return i
    return NEVER


def test_windows_span_updates_and_need_100_episodes() -> None:
    assert int(judged(COPY, [(30, [30.0] * 99)]).solved_at_update) == NEVER
    assert int(judged(COPY, [(30, [30.0] * 99), (30, [30.0])]).solved_at_update) == 2


def test_the_threshold_itself_is_enough_and_anything_less_is_not() -> None:
    assert int(judged(COPY, [(30, [25.0] * 100)]).solved_at_update) == 1
    assert int(judged(COPY, [(30, [25.0] * 99 + [24.5])]).solved_at_update) == NEVER


def test_a_good_window_in_the_middle_of_an_update_counts() -> None:
    rewards = [0.0] * 150 + [30.0] * 100 + [0.0] * 150
    assert int(judged(COPY, [(30, rewards)]).solved_at_update) == 1


def test_once_solved_it_stays_solved_at_the_first_update() -> None:
    state = judged(COPY, [(30, [30.0] * 100), (30, [0.0] * 100), (30, [30.0] * 100)])
    assert int(state.solved_at_update) == 1
    assert bool(state.solved)
    assert float(state.best) == 30.0


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_plain_rule(seed: int) -> None:
    generator = np.random.default_rng(seed)
    updates = [list(generator.choice([0.0, 20.0, 30.0, 31.0], 40, p=[0.1, 0.1, 0.4, 0.4])) for _ in range(30)]
    state = judged(COPY, [(30, rewards) for rewards in updates])
    assert int(state.solved_at_update) == plainly(25.0, updates)


def test_binary_search_is_judged_at_its_top_range_only() -> None:
    """Small arrays are searched for more reward, so 9 would be passed there by luck."""
    top = SEARCH.levels.top
    assert int(judged(SEARCH, [(top - 1, [9.5] * 400)]).solved_at_update) == NEVER
    assert int(judged(SEARCH, [(top - 1, [9.5] * 99), (top, [9.5] * 99)]).solved_at_update) == NEVER
    assert int(judged(SEARCH, [(top, [9.5] * 99), (top, [9.5])]).solved_at_update) == 2


def test_tapes_are_judged_at_every_level() -> None:
    """As the paper does: the threshold cannot be reached with short ones."""
    assert int(judged(COPY, [(24, [26.0] * 100)]).solved_at_update) == 1


def test_trials_are_judged_alone() -> None:
    two = jax.vmap(judge, in_axes=(None, 0, 0, 0, None))(
        COPY,
        jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), init_success()),
        jnp.array([30, 30]),
        jnp.stack([jnp.full(100, 30.0), jnp.full(100, 3.0)]),
        jnp.int32(7),
    )
    assert two.solved_at_update.tolist() == [7, NEVER]
