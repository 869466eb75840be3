"""BinarySearch, against the paper's text, its trace, and perfect search."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.episode import Played
from urex import UserError, tasks
from urex.tasks.binary_search import FIRST_RANGE, OPTIMAL_REWARD, SearchInstance

INC, DIV, AVG, CMP = range(4)
TASK = tasks.BinarySearch()


def search(n: int, position: int) -> Played:
    """An episode of a particular search."""
    return Played(TASK, SearchInstance(n=jnp.int32(n), position=jnp.int32(position)))


class FromThePaper:
    """Section "Six Algorithmic Tasks", point 6, with an array in which to look things up."""

    def __init__(self, n: int, position: int):
        self.array = [10 * i + 3 for i in range(n)]
        self.x = self.array[position]
        self.registers = [n, 0, 0]
        self.t, self.done = 0, False

    def act(self, operation: str, i: int) -> tuple[str, float]:
        """The signal and the reward."""
        n, registers, signal = len(self.array), self.registers, "--"
        self.t += 1
        if operation == "INC":
            registers[i] += 1
        elif operation == "DIV":
            registers[i] = registers[i] // 2
        elif operation == "AVG":
            registers[i] = sum(registers[j] for j in range(3) if j != i) // 2
        elif registers[i] >= n or self.x < self.array[registers[i]]:
            signal = "<"
        else:
            signal = ">" if self.x > self.array[registers[i]] else "="
        if signal == "=":
            self.done = True
            return signal, 10 * (1 - self.t / (2 * n + 1))
        self.done = self.t == 2 * n + 1
        return signal, 0.0


@given(st.data())
def test_it_does_what_the_paper_says(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    position = data.draw(st.integers(0, n - 1))
    episode, wanted = search(n, position), FromThePaper(n, position)
    # CMP less often, or few searches would last
    operations = st.sampled_from([INC, INC, DIV, AVG, AVG, CMP])
    while not wanted.done:
        operation, register = data.draw(operations), data.draw(st.integers(0, 2))
        episode.step(operation, register)
        signal, reward = wanted.act(("INC", "DIV", "AVG", "CMP")[operation], register)
        assert [int(value) for value in episode.state.registers] == wanted.registers
        assert ["--", "<", "=", ">"][episode.observation] == signal
        assert episode.reward == pytest.approx(reward, abs=1e-5)
        assert episode.done is wanted.done


THE_PAPERS_TRACE = """
512 0 0 -- AVG 2
512 0 256 -- CMP 2
512 0 256 < DIV 0
256 0 256 -- AVG 2
256 0 128 -- CMP 2
256 0 128 < DIV 0
128 0 128 -- AVG 2
128 0 64 -- CMP 2
128 0 64 > AVG 1
128 96 64 -- CMP 1
128 96 64 > AVG 2
128 96 112 -- CMP 2
128 96 112 < AVG 1
128 120 112 -- CMP 2
128 120 112 < DIV 1
128 60 112 -- AVG 2
128 60 94 -- CMP 2
128 60 94 > AVG 1
128 111 94 -- CMP 1
128 111 94 < INC 1
128 112 94 -- INC 2
128 112 95 -- CMP 2
128 112 95 > INC 2
128 112 96 -- CMP 2
128 112 96 > INC 2
128 112 97 -- CMP 2
128 112 97 > INC 2
128 112 98 -- CMP 2
128 112 98 > INC 2
128 112 99 -- CMP 2
128 112 99 > INC 2
128 112 100 -- CMP 2
128 112 100 = end
""".strip().splitlines()
"""The appendix's example with n = 512 and the number at position 100: registers, signal, action."""


def test_the_papers_trace_replays_row_by_row() -> None:
    episode = search(512, 100)
    for row in THE_PAPERS_TRACE:
        *registers, signal, action, which = [*row.split(), ""][:6]
        assert [int(value) for value in episode.state.registers] == [int(value) for value in registers]
        assert ["--", "<", "=", ">"][episode.observation] == signal
        assert episode.done is (action == "end")
        if not episode.done:
            episode.step(("INC", "DIV", "AVG", "CMP").index(action), int(which))
    assert episode.steps == len(THE_PAPERS_TRACE) - 1 == 32
    assert episode.total_reward == pytest.approx(10 * (1 - 32 / 1025))


def perfect_search(n: jax.Array, position: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Steps and reward of halving the range: the agent sees signals only, and keeps three roles.

    One register holds the upper bound, one the lower, one the probe. When the probe becomes a bound, the register
    of the bound it replaces becomes the probe.
    """
    instance = SearchInstance(n=n, position=position)

    def body(carry):
        state, upper, lower, probe, steps, total, _ = carry
        state, reward, _ = TASK.step(instance, state, (jnp.int32(AVG), probe))
        state, more, done = TASK.step(instance, state, (jnp.int32(CMP), probe))
        smaller = TASK.observe(instance, state) == 1
        bounds = jnp.where(smaller, probe, upper), jnp.where(smaller, lower, probe)
        freed = jnp.where(smaller, upper, lower)
        return state, *bounds, freed, steps + 2, total + reward + more, done

    roles = (jnp.int32(0), jnp.int32(1), jnp.int32(2))
    start = (TASK.start(instance), *roles, jnp.int32(0), jnp.float32(0), jnp.asarray(False))
    end = jax.lax.while_loop(lambda carry: ~carry[-1], body, start)
    return end[4], end[5]


def every_search(level: int) -> tuple[np.ndarray, np.ndarray]:
    """Every n of a level with every position."""
    low, high = (end << level for end in FIRST_RANGE)
    n = np.concatenate([np.full(size, size) for size in range(low, high + 1)]).astype(np.int32)
    position = np.concatenate([np.arange(size) for size in range(low, high + 1)]).astype(np.int32)
    return n, position


@pytest.mark.parametrize("level", range(5))
def test_perfect_search_finds_every_number_in_time_and_earns_the_stated_mean(level: int) -> None:
    n, position = every_search(level)
    steps, rewards = (np.asarray(part) for part in jax.jit(jax.vmap(perfect_search))(n, position))
    bound = 2 * (np.floor(np.log2(n)).astype(int) + 1)
    assert (steps <= bound).all()
    np.testing.assert_allclose(rewards, 10 * (1 - steps / (2 * n + 1)), rtol=1e-5)
    by_size = np.bincount(n, rewards) / np.maximum(np.bincount(n), 1)
    assert by_size[n.min() :].mean() == pytest.approx(OPTIMAL_REWARD[level], abs=1e-4)


def test_at_the_top_level_the_mean_is_the_one_that_the_threshold_was_set_by() -> None:
    assert pytest.approx(9.65, abs=0.005) == OPTIMAL_REWARD[4]
    assert TASK.reward_threshold == 9.0


def test_linear_search_earns_about_half() -> None:
    """The paper: a full linear search achieves an average reward of 5."""
    n = 100
    rewards = []
    for position in range(0, n, 9):
        episode = search(n, position)
        while not episode.done:
            episode.step(CMP, 1)
            if not episode.done:
                episode.step(INC, 1)
        rewards.append(episode.total_reward)
        assert episode.steps == 2 * position + 1
    assert np.mean(rewards) == pytest.approx(5, abs=0.1)


def test_registers_past_the_array_compare_as_larger() -> None:
    episode = search(3, 2)
    episode.step(CMP, 0)
    assert episode.observation == 1
    for _ in range(3):
        episode.step(INC, 0)
    episode.step(CMP, 0)
    assert int(episode.state.registers[0]) == 6
    assert episode.observation == 1


def test_finding_the_number_with_the_last_step_pays_nothing() -> None:
    episode = search(2, 0)
    for _ in range(4):
        episode.step(DIV, 1)
    episode.step(CMP, 1)
    assert (episode.done, episode.observation, episode.total_reward) == (True, 2, 0.0)


@pytest.mark.parametrize("length", [0, -3, 513])
def test_a_size_that_does_not_fit_is_told(length: int) -> None:
    with pytest.raises(UserError, match=f"n {length}: it must be 1 to 512"):
        TASK.check_length(length)


def test_a_capacity_below_the_first_range_is_refused() -> None:
    with pytest.raises(UserError, match="max_length 31: it must be at least 32"):
        tasks.get("binary-search", max_length=31)


def test_a_small_capacity_lowers_the_top_level() -> None:
    assert tasks.get("binary-search", max_length=100).levels.top == 1
    assert tasks.get("binary-search", max_length=2000).levels.top == 4
