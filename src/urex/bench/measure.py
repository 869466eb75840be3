"""Useful environment steps per second in training, compilation apart, with the curriculum and all metrics on."""

import resource
import statistics
import time
from math import prod
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from urex import training
from urex.bench.episodes import lasting
from urex.bench.limit import flop_per_step, matrix_rate
from urex.config import Config, stack_hypers
from urex.errors import UserError, unknown
from urex.training.chunk import CAPACITY, go_on, new_space
from urex.training.memory import trials_that_fit
from urex.trial import Trial

EPISODES = ("full", "early")
"""full: the policy goes on to every episode's time limit; early: as it is before training."""
NOT_AT_ALL = 1e-30
"""A learning rate with which every update is computed and no parameter moves, so that all updates are alike."""


class Throughput(NamedTuple):
    """A row of the table."""

    task: str
    level: int
    trials: int
    episodes: str
    kernel: str
    useful_env_steps_per_s: float
    """Real steps of sampled episodes whose gradient was applied."""
    executed_steps_per_s: float
    """With those after an episode's end and of lanes that only pad."""
    lane_utilisation: float
    """The former by the latter."""
    updates_per_s: float
    episode_length: float
    fraction_of_limit: float
    """Of the useful steps that the matrix rate would allow."""
    matrix_flop_per_s: float
    """Of a large product, measured in this process."""
    compile_s: float
    peak_memory_bytes: int
    """The device's, or the process's where the device has none of its own. Of the process so far."""
    measured_s: float


class _Round(NamedTuple):
    """What one call did."""

    updates: int
    useful: float
    executed: float
    seconds: float


def measure(trial: Trial, *, trials: int, level: int, episodes: str, seconds: float) -> Throughput:
    """Train so many trials at a level that stays as it is, for so long."""
    config = trial.config
    check(trial, trials=trials, level=level, episodes=episodes, seconds=seconds)
    hypers = stack_hypers([trial.hypers._replace(learning_rate=NOT_AT_ALL)] * trials)
    state = training.init(config, hypers, jax.vmap(jax.random.key)(np.arange(trials)))
    if episodes == "full":
        state = eqx.tree_at(lambda s: s.learner, state, _lasting(state.learner, config))
    begun = time.perf_counter()
    state = training.compiled(config, hypers, state)
    compile_s = time.perf_counter() - begun
    rows = _rounds(config, hypers, state, level, seconds)
    useful = statistics.median(row.useful / row.seconds for row in rows)
    used = sum(row.useful for row in rows) / sum(row.executed for row in rows)
    matrix = matrix_rate(config.kernel.name)
    return Throughput(
        task=trial.task,
        level=level,
        trials=trials,
        episodes=episodes,
        kernel=config.kernel.name,
        useful_env_steps_per_s=useful,
        executed_steps_per_s=useful / used,
        lane_utilisation=used,
        updates_per_s=statistics.median(row.updates / row.seconds for row in rows),
        episode_length=sum(row.useful for row in rows) / sum(row.updates for row in rows) / trials / config.lanes,
        fraction_of_limit=useful * flop_per_step(config, prod(config.task.actions)) / matrix,
        matrix_flop_per_s=matrix,
        compile_s=compile_s,
        peak_memory_bytes=peak_memory(),
        measured_s=sum(row.seconds for row in rows),
    )


def check(trial: Trial, *, trials: int, level: int, episodes: str, seconds: float) -> None:
    """Raise `UserError` unless this can be measured here."""
    config = trial.config
    if trials < 1:
        raise UserError(f"trials {trials}: it must be at least 1")
    first, top = config.task.levels.first, config.task.levels.top
    if not first <= level <= top:
        raise UserError(f"level {level}: this task's levels are {first} to {top}; give one of them")
    if episodes not in EPISODES:
        raise unknown("episodes", episodes, EPISODES)
    if trials > (fit := trials_that_fit(config)):
        raise UserError(f"trials {trials}: of {trial.task} about {fit} find room in the memory here; give fewer")
    if not 0 < seconds < float("inf"):
        raise UserError(f"seconds {seconds:g}: it must be more than 0")


def _lasting(learner: Any, config: Config) -> Any:
    return eqx.tree_at(lambda each: each.policy, learner, lasting(learner.policy, config.task))


def _rounds(config: Config, hypers: Any, state: Any, level: int, seconds: float) -> list[_Round]:
    """Calls of a fraction of a second each; the first one finds out how many updates that is, and does not count."""
    count, rows, space = 1, [], new_space(config, state)
    while sum(row.seconds for row in rows[1:]) < seconds or len(rows) < 4:
        held = jnp.full_like(state.curriculum.level, level)
        state = eqx.tree_at(lambda s: s.curriculum.level, state, held)
        begun = time.perf_counter()
        state, log, space = jax.block_until_ready(go_on(config, hypers, state, training.Limits(count), space))
        took = time.perf_counter() - begun
        useful = np.asarray(log.env_steps[:count], np.int64).sum(axis=1)
        executed = useful / np.asarray(log.lane_utilisation[:count], np.float64)
        rows.append(_Round(count, float(useful.sum()), float(executed.sum()), took))
        count = max(1, min(int(count * min(seconds / 8, 1.0) / took), 4 * count, CAPACITY))
    return rows[-max(3, len(rows) - 3) :]  # those before were short, and measured their own start


def peak_memory() -> int:
    """Bytes in use at the most so far: of the device, or of this process where it is the host's memory."""
    stats = jax.devices()[0].memory_stats() or {}
    return int(stats.get("peak_bytes_in_use") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
