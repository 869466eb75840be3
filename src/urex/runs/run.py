"""A run: one trial, trained from where it stands to its end or to an interruption."""

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import jax

from urex import training
from urex.config import stack_hypers
from urex.errors import UserError
from urex.policies import Policy
from urex.runs import directory as directories
from urex.runs import recorder
from urex.runs.directory import Directory
from urex.runs.metrics_log import MetricsLog, read, rows
from urex.runs.progress import Watch, ignore, progress_of
from urex.runs.recorder import InMemory, OnDisk, Recorder, Totals
from urex.runs.result import Result, is_finished, policy_of, result_of
from urex.streams import Stream, key_of
from urex.training import TrainState
from urex.trial import Trial

CHECKPOINT_EVERY = 30.0
"""Seconds between checkpoints; the last one is written at the end of the run."""

Stop = Callable[[], bool]
"""Asked after every chunk whether to interrupt the run."""


def never() -> bool:
    """Do not interrupt it."""
    return False


def run_in_memory(trial: Trial, *, watch: Watch = ignore) -> Result:
    """Train a new trial; nothing is written."""
    return _run(trial, new_state(trial), Totals(), InMemory(), watch)


def run_on_disk(
    directory: Directory,
    trial: Trial,
    *,
    watch: Watch = ignore,
    stop: Stop = never,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> Result:
    """Train from the last checkpoint on, or from the beginning if there is none."""
    with directories.locked(directory):
        found = recorder.load(directory.checkpoints, trial, _template(trial))
        state, totals, size = found or (new_state(trial), Totals(), 0)
        if state.updates > trial.num_updates:
            raise UserError(
                f"num_updates {trial.num_updates}: the run in {directory.path} has made {state.updates} already;"
                " give at least so many"
            )
        if is_finished(trial, state) and directory.result.exists():
            return Result(policy_of(state), read(directory.metrics), directories.read_json(directory.result), True)
        _tell_of_rounding(directory, trial)
        directories.renew(directory, trial)
        with MetricsLog(directory.metrics, size) as metrics:
            result = _run(trial, state, totals, OnDisk(directory, metrics, trial), watch, stop, checkpoint_every)
        if result.finished:
            directories.write_json(directory.result, result.summary)
    return result


def _tell_of_rounding(directory: Directory, trial: Trial) -> None:
    """Warn if the run was begun on another number of cores, which are not there any more."""
    before, now = directories.cores_of(directory.path), trial.config.cores
    if before not in (None, now):
        warnings.warn(
            f"run directory {directory.path}: it was begun on {before} cores and goes on with {now}, as many as JAX has"
            " here; what comes of it is the same but for rounding",
            stacklevel=3,
        )


def load_policy(path: Path) -> tuple[Trial, Policy]:
    """The policy of a run's last checkpoint, with what it was trained for."""
    directory, trial = directories.read_trial(path, to_train=False)
    found = recorder.load(directory.checkpoints, trial, _template(trial))
    if found is None:
        raise UserError(f"run directory {path}: it has no checkpoint yet; train it by `urex train --resume {path}`")
    return trial, policy_of(found[0])


def new_state(trial: Trial) -> TrainState:
    """Before the first update: of many trials, of which there is one."""
    return training.init(trial.config, stack_hypers([trial.hypers]), key_of(trial.seed, Stream.TRAINING)[None])


def _template(trial: Trial) -> TrainState:
    return jax.eval_shape(lambda: new_state(trial))


def _run(
    trial: Trial,
    state: TrainState,
    totals: Totals,
    record: Recorder,
    watch: Watch,
    stop: Stop = never,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> Result:
    begun = time.perf_counter()
    hypers = stack_hypers([trial.hypers])
    if not is_finished(trial, state):
        state = training.compiled(trial.config, hypers, state)
    compile_s, saved_at = time.perf_counter() - begun, time.monotonic()
    until_solved = trial.recipe.until_solved
    for chunk in training.chunks(trial.config, hypers, state, trial.num_updates, until_solved=until_solved):
        state = chunk.state
        record.append(rows(chunk, *totals))
        totals = totals.after(chunk)
        watch(progress_of(trial, chunk))
        ends = is_finished(trial, state) or stop()
        if ends or time.monotonic() - saved_at >= checkpoint_every:
            record.save(state, totals)
            saved_at = time.monotonic()
        if ends:
            break
    return result_of(trial, state, record.lines(), totals, compile_s=compile_s)
