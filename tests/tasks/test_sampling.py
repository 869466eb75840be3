"""Instances are drawn as they should be: bounds that a wrong generator does not meet."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from tests import builtin
from urex import tasks
from urex.tasks import TapeTask, Task
from urex.tasks.draws import integers

TAPES = [name for name in builtin.NAMES if name != "binary-search"]
LANES = 20_000
LIKELY = 1e-4
"""A right generator gives a smaller p-value once in 10,000 seeds; the seeds here are fixed."""


def p_uniform(values: np.ndarray, count: int) -> float:
    """The p-value of a chi-square test that the values are uniform on 0 .. count - 1."""
    return float(stats.chisquare(np.bincount(values.ravel(), minlength=count)).pvalue)


def sample(task: Task, level: int):
    """Many instances."""
    keys = jax.random.split(jax.random.key(7), LANES)
    draw = jax.jit(jax.vmap(task.sample, in_axes=(0, None)))
    return jax.tree.map(np.asarray, draw(keys, jnp.int32(level)))


@pytest.mark.parametrize("name", TAPES)
def test_symbols_are_uniform_and_independent_of_place_and_neighbour(name: str) -> None:
    task = tasks.get(name)
    assert isinstance(task, TapeTask)
    base, run, rows = task.rules.base, task.rules.run, task.rules.rows
    instances = sample(task, 30)
    used = instances.cells.reshape(LANES, task.max_length, rows)[:, :30:run]
    assert p_uniform(used, base) > LIKELY
    for place in (0, 7, used.shape[1] - 1):
        assert p_uniform(used[:, place], base) > LIKELY
    pairs = used[:, :-1:2] * base + used[:, 1::2][:, : used[:, :-1:2].shape[1]]
    assert p_uniform(pairs, base * base) > LIKELY


@pytest.mark.parametrize("name", TAPES)
@pytest.mark.parametrize("level", [2, 17, 30])
def test_lengths_are_uniform_over_the_level_and_the_two_above(name: str, level: int) -> None:
    task = tasks.get(name)
    lengths = sample(task, level).length
    if name == "duplicated-input":  # an odd draw is rounded down, so one of the two lengths is twice as likely
        low = level - level % 2
        counts = np.bincount(lengths, minlength=low + 3)
        expected = np.bincount([(level + i) // 2 * 2 for i in range(3)], minlength=low + 3) * LANES / 3
        drawn = expected > 0
        assert (counts[~drawn] == 0).all()
        assert stats.chisquare(counts[drawn], expected[drawn]).pvalue > LIKELY
    else:
        assert set(lengths) == {level, level + 1, level + 2}
        assert p_uniform(lengths - level, 3) > LIKELY


def test_reverse_starts_with_one_cell_and_duplicated_input_never_has_fewer_than_two() -> None:
    assert set(sample(tasks.get("reverse"), 1).length) == {1, 2, 3}
    assert set(sample(tasks.get("duplicated-input"), 2).length) == {2, 4}


@pytest.mark.parametrize(("level", "low", "high"), [(0, 2, 32), (1, 4, 64), (4, 32, 512)])
def test_searches_are_uniform_over_sizes_and_positions(level: int, low: int, high: int) -> None:
    instances = sample(tasks.get("binary-search"), level)
    assert instances.n.min() == low
    assert instances.n.max() == high
    assert p_uniform(instances.n - low, high - low + 1) > LIKELY
    share = (instances.position + 0.5) / instances.n
    assert ((instances.position >= 0) & (instances.position < instances.n)).all()
    assert p_uniform((share * 8).astype(int)[instances.n % 8 == 0], 8) > LIKELY


@pytest.mark.parametrize(
    "wrong",
    [
        lambda key, shape, bound: jax.random.randint(key, shape, 0, bound - 1),
        lambda key, shape, bound: jnp.where(
            jax.random.uniform(key, shape) < 0.01, 0, jax.random.randint(key, shape, 0, bound)
        ),
        lambda key, shape, bound: jnp.round(jax.random.uniform(key, shape) * (bound - 1)).astype(jnp.int32),
    ],
    ids=["one symbol missing", "one symbol in a hundred replaced", "rounded instead of floored"],
)
def test_the_bound_tells_a_wrong_generator(wrong: Callable[..., jax.Array]) -> None:
    shape = (LANES, 30)
    assert p_uniform(np.asarray(integers(jax.random.key(0), shape, 5)), 5) > LIKELY
    assert p_uniform(np.asarray(wrong(jax.random.key(0), shape, 5)), 5) < LIKELY
