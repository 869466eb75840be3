"""Up to which length policies made by hand make no mistake."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests.evaluation import reactive
from tests.evaluation.test_lengths import making
from urex import UserError, tasks
from urex.evaluation import MakeTask, Reach, evaluate_lengths, until_failure
from urex.evaluation.until_failure import groups
from urex.policies import greedy, init
from urex.tasks import TapeTask, Task
from urex.tasks.copying import DUPLICATED_INPUT

KEY = jax.random.key(5)
TRIPLED = DUPLICATED_INPUT._replace(run=3)


def reach(make: MakeTask, rule: reactive.Rule, **options: Any) -> Reach:
    return until_failure(reactive.reactive(make(32), rule), make, key=KEY, **options)


@pytest.mark.parametrize("longest", [1, 5, 8, 32, 33, 64])
def test_a_perfect_policy_gets_as_far_as_it_is_played(longest: int) -> None:
    assert reach(making("copy"), reactive.copy, longest=longest, instances=5) == Reach(longest, None)


@pytest.mark.parametrize(("time_limit", "last"), [("0.5w+4", 8), ("0.8w+3", 15), ("0.5w+16", 32), ("0.5w+17", 34)])
def test_it_ends_at_the_first_length_for_which_the_time_is_too_short(time_limit: str, last: int) -> None:
    """Copying w cells takes w steps. A limit of w/2 + s suffices up to 2s cells, one of 4w/5 + s up to 5s."""
    made = []

    def make(max_length: int) -> Task:
        made.append(max_length)
        return tasks.get("copy", max_length=max_length, time_limit=time_limit)

    assert reach(make, reactive.copy, instances=5) == Reach(last, last + 1)
    assert max(made) <= 128, "it went on after the failure"


def test_lengths_that_the_task_does_not_have_are_passed_over() -> None:
    """Of w cells w - 1 steps are needed: within w/2 + 8 up to 18; 19 cells there are not."""
    make = making("duplicated-input", time_limit="0.5w+8")
    assert reach(make, reactive.duplicated_input, instances=5) == Reach(18, 20)
    assert reach(make, reactive.duplicated_input, instances=5, longest=17) == Reach(16, None)


def test_a_policy_that_fails_at_once_has_reached_nothing() -> None:
    assert reach(making("copy"), lambda *_: (reactive.RIGHT, 1, 0)) == Reach(0, 1)


def test_one_mistake_among_the_instances_is_a_failure_and_accuracies_agree() -> None:
    """The policy errs at an E. Whether there is one on two short tapes is a matter of luck, which the key decides."""
    make = making("copy")
    policy = reactive.reactive(make(32), reactive.copy_without_e)
    reached = set()
    for seed in range(6):
        key = jax.random.key(seed)
        longest, failed_at = until_failure(policy, make, longest=20, instances=2, key=key)
        results = evaluate_lengths(policy, make, range(1, longest + 2), instances=2, key=key)
        assert [result.accuracy == 1.0 for result in results] == [True] * longest + [False]
        assert failed_at == longest + 1
        reached.add((longest, results[-1].accuracy))
    assert len({longest for longest, _ in reached}) > 2
    assert {accuracy for _, accuracy in reached} == {0.0, 0.5}


def test_a_program_is_compiled_for_each_capacity() -> None:
    traces = []

    def act(logits: jax.Array, uniform: jax.Array) -> jax.Array:
        traces.append(logits.shape)
        return greedy(logits, uniform)

    counts = []
    for longest in (4, 29, 45, 70):
        reach(making("copy"), reactive.copy, longest=longest, instances=3, act=act)
        counts.append(len(traces))
    assert counts[0] == counts[1] > 0
    assert counts[2] == counts[3] == 2 * counts[0]


def test_lengths_are_grouped_by_capacity() -> None:
    """Here a symbol stands three times, so 30 is the longest that fits the first capacity."""
    found = groups(lambda max_length: TapeTask(TRIPLED, max_length=max_length, time_limit="2w+4"), 50)
    assert [(task.max_length, lengths) for task, lengths in found] == [
        (32, [3, 6, 9, 12, 15, 18, 21, 24]),
        (32, [27, 30]),
        (128, [33, 36, 39, 42, 45, 48]),
    ]


def test_what_cannot_be_played_is_told() -> None:
    with pytest.raises(UserError, match="longest 1: the task has no instances as short as that"):
        reach(making("duplicated-input"), reactive.duplicated_input, longest=1)
    with pytest.raises(UserError, match="instances 0: it must be at least 1"):
        reach(making("copy"), reactive.copy, instances=0)


def test_a_task_without_lengths_is_refused() -> None:
    parity = tasks.get("examples.parity:parity")
    policy = init(KEY, parity, first_layer="one-hot", scale=jnp.float32(1))
    with pytest.raises(UserError, match="task Parity: its instances have no length"):
        until_failure(policy, lambda max_length: parity, key=KEY)
