"""What tests of runs share."""

import pytest

from tests.runs import probe
from tests.runs.outcome import Outcome, outcome
from urex import training
from urex.config import stack_hypers
from urex.runs import run_on_disk
from urex.runs.directory import create
from urex.runs.run import new_state
from urex.training import Chunk, loop

FOREVER = 1e9


@pytest.fixture(autouse=True)
def doubling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each call make twice as many updates as the one before, however slow the machine is."""
    monkeypatch.setattr(loop, "SECONDS", FOREVER)


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What the trial comes to when nothing interrupts it."""
    run = tmp_path_factory.mktemp("unbroken") / "run"
    trial = probe.trial()
    run_on_disk(create(run, trial), trial)
    return outcome(run)


@pytest.fixture(scope="session")
def chunks() -> list[Chunk]:
    """The first calls of the trial, of 1, 2 and 4 updates and as if of two seconds each; without the states."""
    trial = probe.trial()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "SECONDS", FOREVER)
        made = list(training.chunks(trial.config, stack_hypers([trial.hypers]), new_state(trial), 7))
    return [chunk._replace(seconds=2.0, state=None) for chunk in made]  # pyright: ignore[reportArgumentType]
