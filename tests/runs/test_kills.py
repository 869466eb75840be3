"""Runs that are killed, by the system and not in a play: what they come to is what an unbroken run comes to."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs import probe
from tests.runs.killed import MARK
from tests.runs.outcome import Outcome, outcome
from urex.cli import main

ROOT = Path(__file__).parents[2]
FAST = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in probe.SETTINGS.items())
SLOW = "--num-updates 300 --instances 20 --samples 10 --hidden 64 --learning-rate 0.0003"
"""An update takes some milliseconds, so that calls have a middle; levels rise, and it is solved, before its half."""

WRITING = [("SIGKILL", "writing", operation) for operation in range(1, 11)]
COMPUTING = [("SIGKILL", "computing", call) for call in (3, 4, 5, 3, 4, 5, 3, 4, 5, 3)]
BETWEEN = [
    ("SIGKILL", "urex.runs.directory:Directory", 1),
    ("SIGKILL", "urex.runs.run:new_state", 1),
    ("SIGKILL", "urex.training:compiled", 1),
    ("SIGKILL", "urex.runs.recorder:OnDisk.append", 1),
    ("SIGKILL", "urex.runs.recorder:OnDisk.append", 5),
    ("SIGKILL", "urex.runs.metrics_log:number", 40),
    ("SIGKILL", "urex.runs.recorder:Totals.after", 3),
    ("SIGKILL", "urex.runs.recorder:OnDisk.save", 4),
    ("SIGKILL", "urex.cli.progress:Lines.show", 4),
    ("SIGKILL", "urex.runs.run:result_of", 1),
]
TERMINATED = [
    ("SIGTERM", "urex.training:compiled", 1),
    ("SIGTERM", "urex.runs.recorder:load", 1),
    ("SIGTERM", "urex.runs.recorder:OnDisk.append", 4),
    ("SIGTERM", "writing", 2),
    ("SIGTERM", "writing", 5),
    ("SIGTERM", "writing", 9),
    ("SIGTERM", "computing", 3),
    ("SIGTERM", "computing", 4),
    ("SIGTERM", "computing", 5),
    ("SIGTERM", "urex.cli.progress:Lines.show", 3),
]
Moment = tuple[str, str, int]
NEVER: Moment = ("SIGKILL", "never", 0)
Urex = Callable[..., subprocess.CompletedProcess]


@pytest.fixture(scope="session")
def urex(tmp_path_factory: pytest.TempPathFactory) -> Urex:
    """The program in a process of its own. All of them use what the first one compiled."""
    cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path_factory.mktemp("compiled"))}
    cache |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}

    def run(moment: Moment, *words: object) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "tests.runs.killed", *map(str, moment), *map(str, words)]
        return subprocess.run(
            command, cwd=ROOT, env=os.environ | cache, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture(scope="session")
def unbroken_slow(urex: Urex, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What the slow trial comes to when nothing interrupts it."""
    run = tmp_path_factory.mktemp("slow") / "run"
    ended = urex(NEVER, *begun(run, SLOW))
    assert ended.returncode == 0, ended.stderr
    return outcome(run)


def begun(run: Path, settings: str) -> list[object]:
    """The words that begin it."""
    return ["train", probe.NAME, *settings.split(), "--checkpoint-every", 0, "--out", run]


def resumed(run: Path) -> list[object]:
    """The words that go on with it."""
    return ["train", "--resume", run, "--checkpoint-every", 0]


def interrupt(urex: Urex, run: Path, settings: str, moments: list[Moment]) -> None:
    """Begin the run, and go on with it, once for every moment."""
    for moment in moments:
        there = (run / "config.json").exists()
        ended = urex(moment, *(resumed(run) if there else begun(run, settings)))
        told = f"{moment}: {ended.returncode}\n{ended.stderr}"
        assert ended.stderr.count(MARK) == 1, told
        assert not (run / "result.json").exists(), told
        if moment[0] == "SIGKILL":
            assert ended.returncode == -9, told
        else:
            assert ended.returncode == 128 + 15, told
            assert f"go on with: urex train --resume {run}" in " ".join(ended.stderr.split()), told


def test_kills_change_nothing(urex: Urex, tmp_path: Path, unbroken: Outcome) -> None:
    run = tmp_path / "run"
    interrupt(urex, run, FAST, [("SIGKILL", "writing", 4), ("SIGTERM", "urex.runs.recorder:OnDisk.append", 2)])
    assert main([str(word) for word in resumed(run)]) == 0
    assert outcome(run) == unbroken


@pytest.mark.slow
@pytest.mark.parametrize("moments", [WRITING, COMPUTING, BETWEEN, TERMINATED])
def test_ten_kills_change_nothing(
    urex: Urex, tmp_path: Path, unbroken_slow: Outcome, moments: list[Moment], capsys: pytest.CaptureFixture[str]
) -> None:
    assert 20 < unbroken_slow.result["solved_at_update"] < 150
    run = tmp_path / "run"
    interrupt(urex, run, SLOW, moments)
    assert urex(NEVER, *resumed(run)).returncode == 0
    same = outcome(run) == unbroken_slow
    with capsys.disabled():
        print(f"\n{len(moments)} of {moments[0][0]}: {'identical' if same else 'NOT identical'}")
    assert same
