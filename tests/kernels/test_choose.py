"""Which kernel is chosen, and what is said when it cannot be the one that was asked for."""

import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from urex import tasks
from urex.errors import UserError
from urex.kernels import XLA, choose
from urex.kernels import fused as fused_kernels
from urex.kernels.choose import unfit, verified
from urex.kernels.fused import INTERPRETER, Tiles, fused
from urex.kernels.fused import verify as verification
from urex.kernels.ragged import RAGGED
from urex.tasks import Task

COPY: Any = tasks.get("copy", max_length=5)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were one, with the interpreter for its kernels."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    verified.cache_clear()
    monkeypatch.setattr(fused_kernels, "CANDIDATES", (Tiles(lanes=16),))
    monkeypatch.setattr(fused_kernels, "fused", lambda tiles: fused(tiles, INTERPRETER))


def verdict(monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    """What the check is to say."""

    def check(*_: Any) -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(verification, "disagreement", check)


RIGHT = verification.Disagreement(0.0, 0.0, 0.001, 0.005)
WRONG = verification.Disagreement(0.3, 0.2, 1.0, 0.97)


def test_xla_is_what_it_says() -> None:
    assert choose("xla", COPY, 128) is XLA


def test_on_a_cpu_the_ragged_loops_are_taken_whatever_the_task_and_its_policy() -> None:
    for task, hidden in ((COPY, 128), (own(Tabled), 7), (own(Remembering), 1)):
        assert choose("auto", task, hidden) is RAGGED


@pytest.mark.usefixtures("gpu")
def test_they_run_elsewhere_when_they_are_asked_for() -> None:
    assert choose("ragged", COPY, 128) is RAGGED


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("name", ["auto", "fused"])
def test_on_a_gpu_the_fused_kernels_are_taken_once_they_have_been_checked(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict(monkeypatch, RIGHT)
    chosen = choose(name, COPY, 128)
    assert chosen.name == "fused"
    verdict(monkeypatch, AssertionError("it is checked once, not at every choice"))
    assert choose(name, tasks.get("copy", max_length=5), 128) is chosen


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("found", [WRONG, RuntimeError("out of shared memory")])
def test_what_fails_the_check_is_passed_over_with_a_warning(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict(monkeypatch, found)
    with pytest.warns(UserWarning, match="passed over"):
        assert choose("auto", COPY, 128) is XLA
    with pytest.raises(UserError, match=r"kernel 'fused': .*take 'xla'"):
        choose("fused", COPY, 128)


@pytest.mark.usefixtures("gpu")
def test_the_next_configuration_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(fused_kernels, "CANDIDATES", (Tiles(lanes=16), Tiles(lanes=32)))

    def check(task: Task, hidden: int, tiles: Tiles) -> verification.Disagreement:
        del task, hidden
        tried.append(tiles.lanes)
        return WRONG if tiles.lanes == 16 else RIGHT

    monkeypatch.setattr(verification, "disagreement", check)
    assert choose("auto", COPY, 128) is fused(Tiles(lanes=32), INTERPRETER)
    assert tried == [16, 32]


def test_without_a_gpu_fused_is_refused() -> None:
    with pytest.raises(UserError, match="it runs on GPUs, and JAX's device here is 'cpu'"):
        choose("fused", COPY, 128)


def test_near_misses_are_suggested() -> None:
    with pytest.raises(UserError, match="unknown kernel 'fuzed': did you mean 'fused'"):
        choose("fuzed", COPY, 128)


class Unusual(eqx.Module):
    """An instance with a table in it."""

    table: jax.Array


class Looker(type(COPY)):
    """A task that looks at its memory as a whole."""

    def step(self, instance: Any, state: Any, action: Any) -> Any:
        return super().step(instance, state, action)


class Tabled(type(COPY)):
    """A task whose instances have a table."""

    def sample(self, key: Any, level: Any) -> Any:
        del key, level
        return Unusual(jnp.zeros((2, 3)))


class Remembering(type(COPY)):
    """A task with a row of numbers in its state."""

    def start(self, instance: Any) -> Any:
        return {"heads": super().start(instance), "seen": jnp.zeros((4,))}


def own(kind: type) -> Any:
    return kind(COPY.rules, max_length=5, time_limit="2w+4")


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("task", "hidden", "reason"),
    [
        (COPY, 100, "16, 32, 64, 128 hidden units and not for 100"),
        (own(Looker), 128, "take no `read`"),
        (own(Tabled), 128, "more than one axis"),
        (own(Remembering), 128, "state has arrays in it"),
    ],
)
def test_why_a_task_does_not_fit(task: Any, hidden: int, reason: str) -> None:
    assert reason in str(unfit(task, hidden))
    assert choose("auto", task, hidden) is XLA, "and nothing is said: another kernel is as right"


@pytest.mark.usefixtures("gpu")
def test_too_many_observations_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["urex.kernels.choose"], "LARGEST_INPUTS", 26)
    assert "27 observations and actions, and it takes at most 26" in str(unfit(COPY, 128))
