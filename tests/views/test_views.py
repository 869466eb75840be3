"""What people are shown."""

import jax
import jax.numpy as jnp
import pytest

from tests import builtin
from tests.episode import Played, on_tape
from urex import tasks, views
from urex.tasks import TapeTask
from urex.tasks.binary_search import SearchInstance


def frame(episode: Played, action: tuple[int, ...] | None = None) -> views.Frame:
    """The moment an episode is at."""
    return views.Frame(
        title="title",
        instance=jax.device_get(episode.instance),
        state=jax.device_get(episode.state),
        observation=episode.observation,
        action=action,
        reward=episode.reward,
        total_reward=episode.total_reward,
        over=episode.done,
    )


def shown(episode: Played, *action: int) -> list[str]:
    """The lines of the picture after an action, or at the start."""
    if action:
        episode.step(*action)
    return [
        line.rstrip() for line in views.draw(episode.task, frame(episode, action or None), colour=False).split("\n")
    ]


def tape_task(name: str, **options: object) -> TapeTask:
    """The task, known to be a tape task."""
    task = tasks.get(name, **options)
    assert isinstance(task, TapeTask)
    return task


def test_a_tape_with_its_head_output_target_action_and_reward() -> None:
    episode = on_tape(tape_task("copy"), [2, 0, 4])
    assert shown(episode) == [
        "title",
        "  tape    [C] A  E",
        "  output",
        "  target   C  A  E",
        "  action  none yet",
        "  score   reward +0, total +0",
    ]
    assert shown(episode, 1, 1, 2) == [
        "title",
        "  tape     C [A] E",
        "  output   C",
        "  target   C  A  E",
        "  action  right, write C",
        "  score   reward +1, total +1",
    ]
    assert shown(episode, 0, 1, 3) == [
        "title",
        "  tape    [C] A  E",
        "  output   C  D",
        "  target   C  A  E",
        "  action  left, write D",
        "  score   reward -0.5, total +0.5, episode over",
    ]


def test_a_grid_and_a_head_outside_it() -> None:
    episode = on_tape(tape_task("reversed-addition"), [[1, 2], [0, 2]])
    assert shown(episode, 3, 0, 0)[1:3] == ["  tape     1  0", "          [2] 2"]
    assert shown(episode, 3, 0, 0)[3] == "  head    outside, at column 0, row 2"


def test_a_long_tape_is_cut_around_the_head() -> None:
    episode = on_tape(tape_task("copy", max_length=200), [0] * 99 + [1] + [0] * 100)
    for _ in range(99):
        episode.step(1, 0, 0)
    tape = shown(episode)[1]
    assert "[B]" in tape
    assert tape.count("A") == 31
    assert tape.count("…") == 2


def test_a_search() -> None:
    task = tasks.BinarySearch()
    episode = Played(task, SearchInstance(n=jnp.int32(480), position=jnp.int32(100)))
    episode.step(2, 2)
    assert shown(episode, 3, 2) == [
        "title",
        "  array      480 numbers; the one looked for is at 100",
        "             |1·········x·············2·······················0|",
        "  registers   R0 480  R1 0 [R2 240]",
        "  signal     it is smaller",
        "  action     CMP(2)",
        "  score      reward +0, total +0",
    ]


def test_colour_is_there_only_if_asked_for() -> None:
    episode = on_tape(tape_task("copy"), [2, 0, 4])
    episode.step(1, 1, 2)
    plain, coloured = (views.draw(episode.task, frame(episode, (1, 1, 2)), colour=colour) for colour in (False, True))
    assert "\x1b[" not in plain
    assert "\x1b[32m C " in coloured


@pytest.mark.parametrize("name", builtin.NAMES)
def test_every_task_has_a_view_and_facts(name: str) -> None:
    task = tasks.get(name)
    instance = task.sample(jax.random.key(0), jnp.int32(task.levels.top))
    episode = Played(task, instance)
    assert len(shown(episode)) >= 6
    assert {"target", "time_limit"} <= views.instance_facts(task, instance).keys()
    state_facts = views.state_facts(task, episode.state).keys()
    assert state_facts == ({"registers"} if name == "binary-search" else {"read_head", "write_head"})
