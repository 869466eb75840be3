"""What people are shown of a whole episode."""

import re
from collections.abc import Callable
from itertools import chain, pairwise, repeat
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests import agents
from tests.episode import Played, on_tape
from tests.tasks.test_binary_search import THE_PAPERS_TRACE, search
from urex import tasks, views
from urex.evaluation import Trace
from urex.tasks import SizedTask, TapeTask


def traced(episode: Played, agent: Callable[[int], agents.Agent]) -> Trace:
    """The episode of an agent that is sure of all it does to one part in 8."""
    states, seen, done, rewards = [episode.state], [episode.observation], [], []
    acting = agent(episode.observation)
    action = next(acting)
    while not episode.done:
        episode.step(*action)
        states.append(episode.state)
        seen.append(episode.observation)
        done.append(action)
        rewards.append(episode.reward)
        if not episode.done:
            action = acting.send(episode.observation)
    states = jax.tree.map(lambda *x: np.stack(x), *jax.device_get(states))
    probability = np.full(len(done), 0.875, np.float32)
    instance = jax.device_get(episode.instance)
    return Trace(instance, states, np.array(seen), np.array(done), probability, np.array(rewards, np.float32))


def drawn(episode: Played, agent: Callable[[int], agents.Agent], *, colour: bool = False) -> list[str]:
    """The lines of an agent's episode."""
    return views.draw_trace(episode.task, traced(episode, agent), colour=colour).split("\n")


def script(*actions: tuple[int, ...]) -> Callable[[int], Any]:
    """An agent that heeds nothing: the actions one after another, the last again and again."""
    return lambda seen: (action for action in chain(actions, repeat(actions[-1])))


def tape_task(name: str, **options: object) -> TapeTask:
    task = tasks.get(name, **options)
    assert isinstance(task, TapeTask)
    return task


def test_a_tape_with_the_head_s_path_below_it_and_a_wrong_symbol_at_the_end() -> None:
    lines = drawn(
        on_tape(tape_task("copy"), [2, 0, 4, 1]), script((1, 1, 2), (1, 0, 0), (0, 1, 0), (0, 0, 0), (0, 1, 0))
    )
    assert lines == [
        "step   sees                action           prob  reward  output",
        "               C A E B",
        "   1      C    ●           right, write C  0.875      +1  C",
        "   2      A      ●         right           0.875          C",
        "   3      E        ●       left, write A   0.875      +1  CA",
        "   4      A      ●         left            0.875          CA",
        "   5      C    ●           left, write A   0.875    -0.5  CAA",
        "",
        "output   C A A",
        "target   C A E B",
        "wrong symbol: A was written where E was wanted; 5 steps, total reward 1.5",
    ]


def test_a_grid_s_path_names_the_row() -> None:
    assert drawn(on_tape(tape_task("reversed-addition"), [[1, 2], [0, 2]]), agents.addition(2)) == [
        "step   sees            action           prob  reward  output",
        "          a    1 0",
        "          b    2 2",
        "   1      1    a       down            0.875",
        "   2      2    b       right, write 0  0.875      +1  0",
        "   3      2      b     up              0.875          0",
        "   4      0      a     right, write 0  0.875      +1  00",
        "   5  blank        a   right, write 1  0.875      +1  001",
        "",
        "output   0 0 1",
        "target   0 0 1",
        "solved; 5 steps, total reward 3",
    ]


def test_a_head_outside_is_at_the_edge_and_an_arrow_farther_out() -> None:
    left, right, up, down = ((move, 0, 0) for move in range(4))
    task = tape_task("reversed-addition3", time_limit="2w+5")
    lines = drawn(on_tape(task, [[1, 0, 0]]), script(left, left, right, right, up, right, right, down))
    assert [line[:20].rstrip() for line in lines[4:12]] == [
        "   1      1    a",
        "   2  blank  a",
        "   3  blank  <",
        "   4  blank  a",
        "   5      1    a",
        "   6  blank    ^",
        "   7  blank      ^",
        "   8  blank      >",
    ]
    assert lines[-1] == "out of time after 7 steps, 0 of 1 symbols written; 8 steps, total reward -1"
    below = drawn(on_tape(task, [[1, 0, 0]]), script(down))
    assert [line[13:].split()[0] for line in below[4:8]] == ["a", "b", "c", "v"]


def test_a_last_symbol_that_is_right_but_late_is_no_success() -> None:
    lines = drawn(
        on_tape(tape_task("copy", time_limit="1w+1"), [0, 1]), script((1, 0, 0), (1, 1, 0), (1, 0, 0), (1, 1, 1))
    )
    assert lines[-3:] == [
        "output   A B",
        "target   A B",
        "out of time after 3 steps, 2 of 2 symbols written; 4 steps, total reward 0",
    ]


def test_a_wrong_symbol_with_the_last_step_in_time_is_told_as_such() -> None:
    lines = drawn(on_tape(tape_task("copy", time_limit="1w+1"), [0, 1]), script((1, 0, 0), (1, 0, 0), (1, 1, 3)))
    assert lines[-1] == "wrong symbol: D was written where A was wanted; 3 steps, total reward -0.5"


def test_a_long_tape_is_shown_in_parts_as_the_head_gets_there() -> None:
    symbols = [0] * 19 + [1] + [0] * 19 + [1, 1] + [0] * 19
    lines = drawn(on_tape(tape_task("reverse", max_length=60), symbols), agents.reverse)
    assert [(number, line) for number, line in enumerate(lines) if "cells" in line] == [
        (1, "              AAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAB…  cells 1 to 40 of 60"),
        (42, "             …AAAAAAAAAAAAAAAAAAABBAAAAAAAAAAAAAAAAAAA   cells 21 to 60 of 60"),
        (104, "              AAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAB…  cells 1 to 40 of 60"),
    ]
    assert lines[41].startswith("  40      B                                          ●   right")
    assert lines[43].startswith("  41      B                       ●                      right")
    assert lines[-1] == "solved; 121 steps, total reward 60"


def walks(task: TapeTask, steps: int, seed: int) -> Callable[[int], Any]:
    """An agent that goes the same way for a while and does not write, so all episodes are long."""
    random = np.random.default_rng(seed)
    ways = random.integers(0, task.actions[0], steps)
    return script(
        *(
            (int(way), 0, 0)
            for way, times in zip(ways, random.integers(1, 30, steps), strict=True)
            for _ in range(times)
        )
    )


@pytest.mark.parametrize("name", ["copy", "reversed-addition3"])
def test_the_mark_is_under_the_symbol_that_is_seen(name: str) -> None:
    """Or under none, if that is the blank: on tapes of all lengths, whichever part of them is shown."""
    task, random, parts = tape_task(name, max_length=200, time_limit="2w+40"), np.random.default_rng(0), 0
    for seed, length in enumerate([1, 2, 18, 19, 20, 39, 40, 41, 60, 100, 200]):
        tape = random.integers(0, task.rules.base, (length, task.rules.rows))
        lines = drawn(
            on_tape(task, tape.tolist() if task.rules.rows > 1 else tape[:, 0].tolist()), walks(task, 60, seed)
        )
        above: list[str] = []
        for before, line in pairwise(lines):
            if not line:
                break
            if not line[:4].strip():
                above = [*(above if not before[:4].strip() else []), line]
                parts += 1
                continue
            seen, path = line[6:11].strip(), line[13:57]
            mark = re.search(r"[●abc^v<>]", path)
            assert mark is not None
            row = above[ord(mark[0]) - ord("a") if mark[0] in "abc" else 0].ljust(60)
            found = row[13 + mark.start()]
            assert found == seen if mark[0] in "●abc" and seen != "blank" else found == " " or mark[0] in "^v"
    assert parts > 15


def test_a_long_output_is_cut_where_it_ends_and_the_target_with_it() -> None:
    """Copying 200 cells with a mistake at cell 150."""
    tape = [number % 5 for number in range(200)]
    writes = [(1, 1, symbol) for symbol in tape[:149]] + [(1, 1, 2)]
    lines = drawn(on_tape(tape_task("copy", max_length=200), tape), script(*writes))
    output, target, verdict = lines[-3:]
    assert output == "output …" + ("ABCDE" * 40)[109:149] + "C"
    assert target == "target …" + ("ABCDE" * 40)[109:200]
    assert verdict == "wrong symbol: C was written where E was wanted; 150 steps, total reward 148.5"
    assert lines[-5].endswith("  …" + ("ABCDE" * 40)[139:149] + "C")


RANGES_OF_THE_PAPER = """
[0,512) [0,512) [0,256) [0,256) [0,256) [0,128) [0,128) [0,128) (64,128) (64,128) (96,128) (96,128) (96,112) (96,112)
(96,112) (96,112) (96,112) (96,112) (96,112) (96,111) (96,111) (96,111) (96,111) (96,111) (96,111) (96,111) (97,111)
(97,111) (98,111) (98,111) (99,111) (99,111)
"""
"""The last column of the appendix's example."""


def test_the_papers_search_is_drawn_as_the_paper_does() -> None:
    """But for ranges that leave their first number out: they begin with the next one here."""
    ranges = RANGES_OF_THE_PAPER.split()
    operations = [row.split()[4:] for row in THE_PAPERS_TRACE[:-1]]
    actions = [(("INC", "DIV", "AVG", "CMP").index(name), int(register)) for name, register in operations]
    lines = drawn(search(512, 100), script(*actions))
    assert lines[0] == "step     R0     R1     R2  signal  action  range        prob  reward"
    for number, (line, row) in enumerate(zip(lines[1:], THE_PAPERS_TRACE, strict=False)):
        *shown, signal, name, register = [*row.split(), ""][:6]
        if name == "end":
            assert line.split() == ["end", *shown, "="]
        else:
            range_ = re.fullmatch(r"([\[(])(\d+),(\d+)\)", ranges[number])
            assert range_ is not None
            kind, low, high = range_.groups()
            wanted = [f"[{int(low) + (kind == '(')},", f"{high})"]
            assert line.split()[:8] == [str(number + 1), *shown, signal, f"{name}({register})", *wanted]
    assert lines[-1] == "found at position 100 of 512; 32 steps, total reward 9.688"


def test_a_comparison_that_tells_nothing_new_leaves_the_range_as_it_was() -> None:
    """Registers 0, 1 and 2 hold 8, 0 and 4; the number is at 2."""
    lines = drawn(search(8, 2), script((2, 2), (3, 0), (3, 1), (3, 2), (3, 0), (3, 1), (0, 2)))
    ranges = [match[0] for line in lines[1:9] if (match := re.search(r"\[.*\)", line[38:]))]
    assert ranges == ["[0, 8)", "[0, 8)", "[0, 8)", "[1, 8)", "[1, 4)", "[1, 4)", "[1, 4)", "[1, 4)"]


def test_a_search_that_fails_and_one_that_ends_too_late_to_be_paid() -> None:
    assert drawn(search(3, 1), script((0, 0)))[-1] == "not found; it was at position 1 of 3; 7 steps, total reward 0"
    late = drawn(search(2, 0), script(*[(1, 1)] * 4, (3, 1)))
    assert late[-1] == "found at position 0 of 2 with the last step, which pays nothing; 5 steps, total reward 0"


def test_a_task_without_a_view_shows_what_was_seen_and_done() -> None:
    parity = tasks.get("examples.parity:parity")
    bits = jnp.where(jnp.arange(33) < 2, jnp.array([1, 0] + [2] * 31), 2)
    for answer, told in ((2, "solved; 3 steps, total reward 1"), (1, "not solved; 3 steps, total reward 0")):
        assert drawn(Played(parity, bits), script((0,), (0,), (answer,))) == [
            "step  sees  action   prob  reward",
            "   1     1  0       0.875",
            "   2     0  0       0.875",
            f"   3     2  {answer}       0.875" + ("      +1" if answer == 2 else ""),
            "",
            told,
        ]


def test_colour_is_there_only_if_asked_for_and_changes_no_letter() -> None:
    def lines(colour: bool) -> list[str]:
        actions = ((1, 1, 2), (1, 1, 1))
        return drawn(on_tape(tape_task("copy"), [2, 0, 4]), script(*actions), colour=colour)

    coloured = "\n".join(lines(True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == "\n".join(lines(False))
    assert "\x1b[32mright, write C\x1b[0m" in coloured
    assert "\x1b[1;31mright, write B\x1b[0m" in coloured
    assert "C \x1b[1;31mB\x1b[0m" in coloured


@pytest.mark.parametrize("name", ["copy", "repeat-copy", "reversed-addition3", "binary-search"])
def test_no_line_is_wider_than_a_page(name: str) -> None:
    task = tasks.get(name, max_length=600)
    random = np.random.default_rng(0)
    for length in (36, 600):
        assert isinstance(task, SizedTask)
        instance = jax.jit(task.sample_length)(jax.random.key(length), jnp.int32(length))
        actions = [tuple(int(random.integers(size)) for size in task.actions) for _ in range(3000)]
        right = [(1, 1, int(symbol)) for symbol in getattr(instance, "target", [])[:590]]
        for chosen in ([*right, *actions], [(1, *[0] * (len(task.actions) - 1))]):
            lines = drawn(Played(task, instance), script(*chosen))
            assert max(map(len, lines)) <= 100
            assert not any(line != line.rstrip() for line in lines)
