"""How policies made by hand do at given lengths: known beforehand, or played again step by step."""

from collections.abc import Generator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.episode import Played
from tests.evaluation import reactive
from urex import UserError, tasks
from urex.evaluation import LengthResult, MakeTask, evaluate_lengths
from urex.evaluation.capacities import capacity_for
from urex.evaluation.lengths import draw_instances, play_lengths
from urex.policies import categorical, greedy, init
from urex.tasks import Levels, SizedTask, absorb

KEY = jax.random.key(3)
drawn = jax.jit(draw_instances, static_argnums=(0, 3))


def making(name: str, **options: Any) -> MakeTask:
    """The task at any capacity."""
    return lambda max_length: tasks.get(name, max_length=max_length, **options)


@pytest.mark.parametrize(
    ("name", "rule", "steps", "symbols"),
    [
        ("copy", reactive.copy, lambda n: n, lambda n: n),
        ("duplicated-input", reactive.duplicated_input, lambda n: n - 1, lambda n: n // 2),
        ("reverse", reactive.reverse, lambda n: 2 * n + 1, lambda n: n),
    ],
)
def test_a_perfect_policy_is_right_at_every_length(name: str, rule: reactive.Rule, steps: Any, symbols: Any) -> None:
    make, lengths = making(name), [2, 30, 34, 100]
    results = evaluate_lengths(reactive.reactive(make(32), rule), make, lengths, instances=10, key=KEY)
    assert results == [LengthResult(n, 10, accuracy=1.0, reward=symbols(n), steps=steps(n)) for n in lengths]


def test_where_the_time_is_too_short_nothing_is_right() -> None:
    """Copying n cells takes n steps; of 17 cells, step 17 is past the limit of 16 and pays -1."""
    make = making("copy", time_limit="0.5w+8")
    found = evaluate_lengths(reactive.reactive(make(32), reactive.copy), make, [16, 17], instances=10, key=KEY)
    assert found == [LengthResult(16, 10, 1.0, reward=16.0, steps=16.0), LengthResult(17, 10, 0.0, 15.0, 17.0)]


def played(task: SizedTask, instance: Any, rule: reactive.Rule) -> Played:
    """The episode of an instance under a rule, without a policy."""

    def agent(seen: int) -> Generator[reactive.SubActions, int, None]:
        previous = None
        while True:
            previous = rule(seen, previous)
            seen = yield previous

    return Played(task, instance).play(agent)


def test_a_policy_that_is_right_at_some_instances_is_right_at_their_share() -> None:
    """It writes A for E, so the outcome of each instance differs; all are played again without a policy."""
    make, length, count = making("copy"), 4, 40
    task = make(32)
    assert isinstance(task, SizedTask)
    instances = drawn(task, jnp.int32(length), KEY, count)
    again = [played(task, jax.tree.map(lambda x, i=i: x[i], instances), reactive.copy_without_e) for i in range(count)]
    right = [4 not in tape for tape in instances.cells[:, :length].tolist()]
    assert [episode.total_reward == length for episode in again] == right
    assert 0 < sum(right) < count

    (found,) = evaluate_lengths(
        reactive.reactive(task, reactive.copy_without_e), make, [length], instances=count, key=KEY
    )
    assert found.accuracy == pytest.approx(np.mean(right))
    assert found.reward == pytest.approx(np.mean([episode.total_reward for episode in again]))
    assert found.steps == pytest.approx(np.mean([episode.steps for episode in again]))


def test_a_search_counts_as_solved_if_it_found_the_number() -> None:
    """A linear search always finds it; one that never compares never does, and takes 2n + 1 steps."""
    make = making("binary-search")
    (found,) = evaluate_lengths(reactive.reactive(make(32), reactive.linear_search), make, [30], key=KEY)
    assert found.accuracy == 1.0
    assert found.reward == pytest.approx(10 * (1 - found.steps / 61), abs=1e-5)
    assert found.steps == pytest.approx(30, abs=6)

    lost = evaluate_lengths(reactive.reactive(make(32), lambda *_: (reactive.INC, 1)), make, [30, 40], key=KEY)
    assert lost == [LengthResult(30, 100, 0.0, reward=0.0, steps=61.0), LengthResult(40, 100, 0.0, 0.0, 81.0)]


@pytest.mark.parametrize("act", [greedy, categorical])
def test_a_length_has_the_same_result_whatever_others_are_asked_for(act: Any) -> None:
    make = making("copy")
    policy = init(jax.random.key(0), make(32), first_layer="one-hot", scale=jnp.float32(3))
    together = evaluate_lengths(policy, make, [30, 7, 40, 7], instances=30, key=KEY, act=act)
    assert [result.length for result in together] == [30, 7, 40, 7]
    assert together[1] == together[3]
    for result in together[1:3]:
        assert evaluate_lengths(policy, make, [result.length], instances=30, key=KEY, act=act) == [result]


class Coins(SizedTask):
    """So many times, call heads or tails; heads pay. All instances are alike, so only chance tells episodes apart."""

    max_length: int = 32
    observations = 1
    actions = (2,)
    max_steps = 32
    levels = Levels()
    reward_threshold = 1.0

    def sample(self, key: jax.Array, level: jax.Array) -> jax.Array:
        return self.sample_length(key, level)

    def sample_length(self, key: jax.Array, length: jax.Array) -> jax.Array:
        del key  # unused: there is but one instance of a length
        return length

    def check_length(self, length: int) -> None:
        assert 1 <= length <= self.max_length

    def start(self, instance: jax.Array) -> jax.Array:
        return jnp.zeros_like(instance)

    def observe(self, instance: jax.Array, state: jax.Array) -> jax.Array:
        return jnp.zeros_like(state)

    def step(self, instance: jax.Array, state: jax.Array, action: Any) -> Any:
        after = state + 1, jnp.where(action[0] == 1, 1.0, 0.0), state + 1 >= instance
        return absorb(state >= instance, state, after)

    def shortfall(self, instance: jax.Array, level: jax.Array, total_reward: jax.Array) -> jax.Array:
        return total_reward - instance


def test_chance_is_of_the_key_and_the_length_alone_or_in_a_group() -> None:
    task = Coins()
    policy = jax.tree.map(jnp.zeros_like, init(KEY, task, first_layer="one-hot", scale=jnp.float32(1)))

    def heads(key: jax.Array, *lengths: int) -> list[list[float]]:
        options = {"instances": 6, "act": categorical}
        return play_lengths(policy, task, jnp.array(lengths), key, **options).reward.tolist()

    together, other = heads(KEY, 30, 31, 32), heads(jax.random.key(4), 30, 31, 32)
    assert [heads(KEY, length)[0] for length in (30, 31, 32)] == together
    assert len({tuple(each) for each in together + other}) == 6
    assert len(set(together[0])) > 1
    assert evaluate_lengths(policy, lambda _: task, [31], instances=6, key=KEY, act=greedy)[0].reward == 0.0


def test_lengths_and_keys_have_their_own_instances_and_fewer_are_the_first_of_more() -> None:
    task = making("copy")(32)
    assert isinstance(task, SizedTask)

    def cells(length: int, key: jax.Array, count: int = 20) -> np.ndarray:
        return np.asarray(drawn(task, jnp.int32(length), key, count).cells[:, :8])

    np.testing.assert_array_equal(cells(9, KEY, 5), cells(9, KEY)[:5])
    assert len(np.unique(cells(9, KEY), axis=0)) == 20
    for other in (cells(10, KEY), cells(9, jax.random.key(4))):
        assert not (other == cells(9, KEY)).all(axis=1).any()


def test_a_program_is_compiled_for_each_capacity_not_for_each_length() -> None:
    traces = []

    def act(logits: jax.Array, uniform: jax.Array) -> jax.Array:
        traces.append(logits.shape)
        return greedy(logits, uniform)

    make = making("copy")
    policy = reactive.reactive(make(32), reactive.copy)
    counts = []
    for lengths in ([5], [6, 20, 32], [33], [128, 70, 3]):
        evaluate_lengths(policy, make, lengths, instances=3, key=KEY, act=act)
        counts.append(len(traces))
    assert counts[0] == counts[1] > 0
    assert counts[2] == counts[3] == 2 * counts[0]
    assert set(traces) == {(1, 3, 20)}


@pytest.mark.parametrize(
    ("length", "capacity"),
    [(1, 32), (32, 32), (33, 128), (512, 512), (513, 2000), (2000, 2000), (2001, 2048), (2049, 4096)],
)
def test_the_capacity_is_the_smallest_that_holds_the_length(length: int, capacity: int) -> None:
    assert capacity_for(length) == capacity


def refuse(logits: jax.Array, uniform: jax.Array) -> jax.Array:
    """A rule that tells that something ran."""
    raise AssertionError("it ran")


@pytest.mark.parametrize(
    ("lengths", "told"),
    [
        ([2, 3], "length 3: each symbol stands 2 times"),
        ([2, 0], "length 0: it must be 1 to 32"),
    ],
)
def test_a_wrong_length_is_told_before_anything_runs(lengths: list, told: str) -> None:
    make = making("duplicated-input")
    policy = reactive.reactive(make(32), reactive.duplicated_input)
    with pytest.raises(UserError, match=told):
        evaluate_lengths(policy, make, lengths, key=KEY, act=refuse)


def test_nothing_is_learnt_from_no_instances() -> None:
    make = making("copy")
    policy = reactive.reactive(make(32), reactive.copy)
    with pytest.raises(UserError, match="instances 0: it must be at least 1"):
        evaluate_lengths(policy, make, [3], instances=0, key=KEY)


def test_a_task_without_lengths_is_refused_with_the_remedy() -> None:
    parity = tasks.get("examples.parity:parity")
    policy = init(KEY, parity, first_layer="one-hot", scale=jnp.float32(1))
    with pytest.raises(UserError, match=r"Parity: its instances have no length .* derive it from urex.tasks.Sized"):
        evaluate_lengths(policy, lambda max_length: parity, [3], key=KEY)


def test_no_lengths_have_no_results() -> None:
    make = making("copy")
    assert evaluate_lengths(reactive.reactive(make(32), reactive.copy), make, [], key=KEY) == []
