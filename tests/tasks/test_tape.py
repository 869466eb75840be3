"""The tape machine: perfect agents, heads far outside, sums with carries, and wrong input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import agents
from tests.episode import Played, compiled, on_tape
from urex import UserError, tasks
from urex.tasks import TapeTask
from urex.tasks.parse import parse_tape
from urex.tasks.task import gather


def tape_task(name: str, **options: object) -> TapeTask:
    """The task, known to be a tape task."""
    task = tasks.get(name, **options)
    assert isinstance(task, TapeTask)
    return task


def drawn(task: TapeTask, length: int, seed: int) -> Played:
    """An episode on a random tape of this length."""
    return Played(task, compiled(task.sample_length)(jax.random.key(seed), jnp.int32(length)))


PERFECT = {
    "copy": (agents.copy, lambda w, target: w),
    "duplicated-input": (agents.duplicated_input, lambda w, target: w - 1),
    "repeat-copy": (agents.repeat_copy, lambda w, target: 3 * w + 2),
    "reverse": (agents.reverse, lambda w, target: 2 * w + 1),
    "reversed-addition": (agents.addition(2), lambda w, target: 2 * w + (target - w)),
    "reversed-addition3-extended": (agents.addition(3), lambda w, target: 3 * w + (target - w)),
}


@pytest.mark.parametrize("name", PERFECT)
@pytest.mark.parametrize("length", [2, 4, 10, 30, 32])
def test_a_perfect_agent_is_paid_for_every_symbol_in_the_steps_it_needs(name: str, length: int) -> None:
    task = tape_task(name)
    agent, steps = PERFECT[name]
    for seed in range(5):
        episode = drawn(task, length, seed).play(agent)
        target = int(episode.instance.target_length)
        assert episode.total_reward == target
        assert episode.steps == steps(length, target)
        assert float(task.shortfall(episode.instance, jnp.int32(2), jnp.float32(target))) == 0.0


@pytest.mark.parametrize("name", PERFECT)
def test_the_same_code_runs_length_2000(name: str) -> None:
    task = tape_task(name, max_length=2000)
    agent, steps = PERFECT[name]
    episode = drawn(task, 2000, 0).play(agent)
    assert episode.total_reward == int(episode.instance.target_length)
    assert episode.steps == steps(2000, int(episode.instance.target_length))


@pytest.mark.parametrize(("length", "solved"), [(2, True), (3, True), (5, False), (30, False)])
def test_three_rows_cannot_be_read_in_the_published_time(length: int, solved: bool) -> None:
    task = tape_task("reversed-addition3")
    episode = on_tape(task, [[0, 1, 0]] * length).play(agents.addition(3))
    assert (episode.total_reward == length) is solved
    if not solved:
        assert episode.reward == -1.0
        assert episode.steps == 2 * length + 5


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=45))
def test_a_head_that_wanders_reads_the_cell_it_is_on_or_the_blank(moves: list[tuple[int, int]]) -> None:
    task = tape_task("reversed-addition", max_length=32)
    tape = [[x % 3, (x * 2 + 1) % 3] for x in range(20)]
    episode = on_tape(task, tape)
    x = y = 0
    for move, symbol in moves[:44]:
        episode.step(move, 0, symbol)
        x += (move == 1) - (move == 0)
        y += (move == 3) - (move == 2)
        inside = 0 <= x < len(tape) and 0 <= y < 2
        assert episode.observation == (tape[x][y] if inside else 3)
        assert (int(episode.state.column), int(episode.state.row)) == (x, y)


@pytest.mark.parametrize("move", [0, 1, 2, 3])
def test_a_head_far_outside_needs_as_many_steps_back(move: int) -> None:
    task = tape_task("reversed-addition", max_length=200, time_limit="9w+4")
    episode = on_tape(task, [[1, 1]] * 100)
    for _ in range(150):
        episode.step(move, 0, 0)
    assert episode.observation == 3
    for back in range(150):
        assert episode.observation == 3 or back >= 150 - 100
        episode.step({0: 1, 1: 0, 2: 3, 3: 2}[move], 0, 0)
    assert episode.observation == 1


@given(st.data())
def test_every_action_is_paid_as_the_rules_say(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["copy", "reverse", "repeat-copy"]))
    task = tape_task(name)
    tape = data.draw(st.lists(st.integers(0, task.rules.base - 1), min_size=1, max_size=6))
    target = {"copy": tape, "reverse": tape[::-1], "repeat-copy": tape + tape[::-1] + tape}[name]
    limit = (4 if name == "repeat-copy" else 2) * len(tape) + 4
    action = st.tuples(*(st.integers(0, size - 1) for size in task.actions))
    episode, written, right = on_tape(task, tape), 0, True
    while not episode.done:
        move, write, symbol = data.draw(action)
        episode.step(move, write, symbol)
        if write:
            right = symbol == target[written]
            written += 1
        late = episode.steps > limit
        paid = -1.0 if late else (1.0 if right else -0.5) if write else 0.0
        assert episode.reward == paid
        assert episode.done is (late or (bool(write) and (not right or written == len(target))))


@given(st.integers(2, 3), st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=32))
def test_the_target_of_an_addition_is_the_sum(rows: int, columns: list[list[int]]) -> None:
    task = tape_task("reversed-addition", rows=rows)
    tape = [column[:rows] for column in columns]
    instance = on_tape(task, tape).instance
    digits = np.asarray(instance.target)[: int(instance.target_length)].tolist()
    total = sum(sum(column) * 3**place for place, column in enumerate(tape))
    assert sum(digit * 3**place for place, digit in enumerate(digits)) == total
    assert len(digits) == len(tape) + (total >= 3 ** len(tape))


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("length", [1, 5, 32])
def test_a_carry_runs_through_every_column(rows: int, length: int) -> None:
    """22...2 + 22...2 (+ 22...2): every column carries, and the last carry is a digit of its own."""
    instance = on_tape(tape_task("reversed-addition", rows=rows), [[2] * rows] * length).instance
    digits = np.asarray(instance.target)[: int(instance.target_length)].tolist()
    assert len(digits) == length + 1
    assert sum(digit * 3**place for place, digit in enumerate(digits)) == rows * (3**length - 1)


def test_memory_is_read_only_through_the_function_passed_in() -> None:
    """A kernel cannot gather from a value, so a step must touch cells and target by `read` alone."""

    def by_product(memory, index):
        return jnp.sum(jnp.where(jnp.arange(memory.shape[0]) == index, memory, 0))

    def nothing(memory, index):
        del memory, index
        return jnp.int32(1)

    task = tape_task("copy")
    instance = on_tape(task, [2, 0, 4]).instance
    state = task.start(instance)
    action = (jnp.int32(1), jnp.int32(1), jnp.int32(2))
    for read in (gather, by_product):
        after, reward, _ = task.step(instance, state, action, read=read)
        assert float(reward) == 1.0
        assert int(task.observe(instance, after, read=read)) == 0
    after, reward, _ = task.step(instance, state, action, read=nothing)
    assert float(reward) == -0.5
    assert int(task.observe(instance, after, read=nothing)) == 1


@pytest.mark.parametrize(
    ("name", "tape", "message"),
    [
        ("copy", [0, 5], "tape symbol 5: symbols are 0 to 4; change it to one of these"),
        ("copy", [-1], "tape symbol -1: symbols are 0 to 4; change it to one of these"),
        ("copy", [[0], [1, 2]], "tape [[0], [1, 2]]: it must be a list of symbols; write it like [0, 1]"),
        ("copy", [0.5], "tape [0.5]: it must be a list of symbols; write it like [0, 1]"),
        ("copy", "AB", "tape 'AB': it must be a list of symbols; write it like [0, 1]"),
        ("copy", [], "tape []: it must be a list of symbols; write it like [0, 1]"),
        ("copy", [0] * 33, "length 33: it must be 1 to 32; give the task a larger max_length for longer ones"),
        ("duplicated-input", [0, 0, 1], "length 3: each symbol stands 2 times in a row; give a multiple of 2"),
        (
            "duplicated-input",
            [0, 0, 1, 2],
            "tape [0, 0, 1, 2]: each symbol must stand 2 times in a row, but cells 2 to 3 differ;"
            " write it like [0, 0, 1, 1]",
        ),
        (
            "reversed-addition",
            [0, 1],
            "tape [0, 1]: it must be a list of columns of 2 symbols each; write it like [[0, 0], [1, 1]]",
        ),
    ],
)
def test_a_wrong_tape_is_told_in_a_sentence(name: str, tape: object, message: str) -> None:
    with pytest.raises(UserError) as error:
        parse_tape(tape_task(name), tape)
    assert str(error.value) == message


def test_a_capacity_too_small_for_the_first_level_is_refused() -> None:
    with pytest.raises(UserError, match="max_length 3: it must be at least 4, the longest tape of the first level"):
        tasks.get("copy", max_length=3)


def test_a_small_capacity_lowers_the_top_level() -> None:
    assert tasks.get("copy", max_length=10).levels.top == 8
    assert tasks.get("copy", max_length=2000).levels.top == 30


def test_sums_have_two_or_three_rows() -> None:
    with pytest.raises(UserError, match="rows 4: sums have 2 or 3 rows"):
        tasks.get("reversed-addition", rows=4)
