"""The curriculum: the originals' levels, reset by reset, and the laws of folding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import recorded
from urex import UserError, curriculum, tasks
from urex.curriculum import Curriculum
from urex.tasks import Levels


def levels_after_each(rule: Curriculum, shortfalls: np.ndarray) -> np.ndarray:
    """The level after each shortfall, folded in one at a time."""

    def fold(state: curriculum.CurriculumState, shortfall: jax.Array):
        state = curriculum.advance(rule, state, shortfall[None])
        return state, state.level

    run = jax.jit(lambda values: jax.lax.scan(fold, curriculum.init(rule), values)[1])
    return np.asarray(run(jnp.asarray(shortfalls, jnp.float32)))


def test_every_recorded_reset_gives_the_recorded_level() -> None:
    compared = 0
    for sequence in recorded.resets():
        rule = curriculum.for_task(tasks.get(recorded.NAMES[sequence["env"]]), window=sequence["last"])
        resets = np.array([reset[:3] for reset in sequence["resets"]])
        got = levels_after_each(rule, resets[:, 0] - resets[:, 1])
        np.testing.assert_array_equal(got, resets[:, 2], err_msg=f"{sequence['env']} {sequence['pattern']}")
        compared += len(resets)
    assert compared == 36054


def test_environments_that_share_a_curriculum_give_the_recorded_levels() -> None:
    for run in recorded.shared_resets():
        rule = curriculum.for_task(tasks.get(recorded.NAMES[run["env"]]), window=run["last"])
        resets = np.array([reset[:3] for round_ in run["rounds"] for reset in round_])
        got = levels_after_each(rule, resets[:, 0] - resets[:, 1])
        np.testing.assert_array_equal(got, resets[:, 2], err_msg=f"{run['env']} {run['pattern']}")


def reference(rule: Curriculum, shortfalls: list[float]) -> int:
    """The originals' rule, written as they have it: a list, trimmed, judged, cleared."""
    level, recent = rule.levels.first, []
    for shortfall in shortfalls:
        recent = [*recent, shortfall][-rule.window :]
        full = len(recent) == rule.window
        good = min(recent) >= rule.levels.worst and np.mean(np.asarray(recent, np.float32)) >= rule.levels.mean
        if full and good and level < rule.levels.top:
            level, recent = level + 1, []
    return level


outcomes = st.lists(st.sampled_from([0.0, -0.25, -0.5, -2.0]), min_size=1, max_size=60)
rules = st.builds(
    Curriculum,
    levels=st.builds(
        Levels,
        first=st.just(1),
        top=st.integers(1, 6),
        worst=st.sampled_from([-1.0, -0.3]),
        mean=st.sampled_from([-np.inf, -0.25, -0.125]),
    ),
    window=st.integers(1, 6),
)


@given(rules, outcomes)
def test_a_batch_folds_as_the_reference_does(rule: Curriculum, shortfalls: list[float]) -> None:
    state = curriculum.advance(rule, curriculum.init(rule), jnp.asarray(shortfalls))
    assert int(state.level) == reference(rule, shortfalls)


@settings(max_examples=40)
@given(rules, outcomes, st.integers(0, 60))
def test_splitting_a_batch_changes_nothing(rule: Curriculum, shortfalls: list[float], cut: int) -> None:
    whole = curriculum.advance(rule, curriculum.init(rule), jnp.asarray(shortfalls))
    state = curriculum.init(rule)
    for part in (shortfalls[:cut], shortfalls[cut:]):
        if part:
            state = curriculum.advance(rule, state, jnp.asarray(part))
    jax.tree.map(np.testing.assert_array_equal, state, whole)


def test_a_batch_of_400_perfect_episodes_earns_four_levels_at_the_default_window() -> None:
    rule = curriculum.for_task(tasks.get("copy"))
    state = curriculum.advance(rule, curriculum.init(rule), jnp.zeros(400))
    assert (int(state.level), int(state.run)) == (2 + 4, 0)


def test_one_failure_blocks_until_the_window_has_passed_it() -> None:
    rule = curriculum.for_task(tasks.get("copy"), window=10)
    shortfalls = jnp.asarray([0.0] * 9 + [-1.5] + [0.0] * 9)
    state = curriculum.advance(rule, curriculum.init(rule), shortfalls)
    assert int(state.level) == 2
    assert int(curriculum.advance(rule, state, jnp.zeros(1)).level) == 3


@pytest.mark.parametrize(
    ("rewards", "promoted"), [([7.0] * 100, True), ([6.8] * 100, False), ([8.0] * 99 + [0.0], False)]
)
def test_binary_search_is_promoted_near_the_optimum_when_every_search_succeeded(
    rewards: list[float], promoted: bool
) -> None:
    """At the first range 0.9 of the optimum is 6.846; one search that found nothing blocks any mean."""
    task = tasks.get("binary-search")
    rule = curriculum.for_task(task)
    instance = task.sample(jax.random.key(0), jnp.int32(0))
    shortfalls = jax.vmap(lambda reward: task.shortfall(instance, jnp.int32(0), reward))(jnp.asarray(rewards))
    state = curriculum.advance(rule, curriculum.init(rule), shortfalls)
    assert int(state.level) == int(promoted)


def test_the_published_windows_are_an_option() -> None:
    assert curriculum.for_task(tasks.get("copy"), window=None).window == 10
    assert curriculum.for_task(tasks.get("reverse"), window=None).window == 50
    assert curriculum.for_task(tasks.get("reverse")).window == 100


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="curriculum window 0: it must be at least 1"):
        curriculum.for_task(tasks.get("copy"), window=0)


def test_binary_search_earns_each_range_by_episodes_of_that_range() -> None:
    """A batch of perfect search of small arrays says nothing of large ones, so it is worth one promotion."""
    rule = curriculum.for_task(tasks.get("binary-search"))
    state = curriculum.advance(rule, curriculum.init(rule), jnp.zeros(400))
    assert (int(state.level), int(state.run)) == (1, 0)
    state = curriculum.advance(rule, state, jnp.zeros(99))
    assert (int(state.level), int(state.run)) == (1, 99)
    state = curriculum.advance(rule, state, jnp.zeros(1))
    assert (int(state.level), int(state.run)) == (2, 0)


def test_of_a_batch_that_promotes_in_binary_search_the_rest_is_left_out() -> None:
    rule = curriculum.for_task(tasks.get("binary-search"))
    state = curriculum.advance(rule, curriculum.init(rule), jnp.zeros(150))
    assert (int(state.level), int(state.run)) == (1, 0)
