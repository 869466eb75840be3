"""What a trial is made of: `Config` shapes the compiled program, `Hypers` are numbers that go into it."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from urex import objectives
from urex.curriculum import WINDOW, Curriculum, for_task
from urex.errors import UserError, unknown, whole_number
from urex.objectives import Objective
from urex.policies import FIRST_LAYERS, HIDDEN
from urex.tasks.task import Task

LEARNERS = ("policy-gradient", "double-q")


@dataclasses.dataclass(frozen=True)
class Config:
    """All that is fixed when a program is compiled. Two trials with equal configurations share one program."""

    task: Task
    learner: str = "policy-gradient"
    objective: str | Objective = "urex"
    """A registered name, or a function of (log_prob, reward, tau)."""
    centred: bool = False
    """Whether the mean over the K samples is taken from the objective's coefficients."""
    instances: int = 40
    """N, the instances drawn for an update."""
    samples: int = 10
    """K, the episodes sampled of each."""
    first_layer: str = "embedding"
    hidden: int = HIDDEN
    window: int | None = WINDOW
    """Episodes that must succeed for a promotion; None: the number the task was published with."""

    def __post_init__(self) -> None:
        for name, known in (("learner", LEARNERS), ("first_layer", FIRST_LAYERS)):
            if getattr(self, name) not in known:
                raise unknown(name.replace("_", " "), getattr(self, name), known)
        for name in ("instances", "samples", "hidden"):
            if whole_number(name, getattr(self, name)) < 1:
                raise UserError(f"{name} {getattr(self, name)}: it must be at least 1")
        if self.samples < 2 and self.learner == "policy-gradient":
            raise UserError(f"samples {self.samples}: objectives compare samples of one instance; draw at least 2")
        self.coefficients  # noqa: B018  an unknown objective is told now
        self.curriculum  # noqa: B018  and so is a wrong window

    @property
    def lanes(self) -> int:
        """N K, the episodes of an update."""
        return self.instances * self.samples

    @property
    def curriculum(self) -> Curriculum:
        """The task's levels with the window in force."""
        return for_task(self.task, self.window)

    @property
    def coefficients(self) -> Objective:
        """The objective as a function."""
        objective = objectives.get(self.objective) if isinstance(self.objective, str) else self.objective
        return objectives.centred(objective) if self.centred else objective


Value = Any
"""A number; of many trials, an array of their numbers."""


class Hypers(NamedTuple):
    """What may differ between trials of one program. Of one trial these are numbers, of many arrays of them."""

    learning_rate: Value = 0.01
    clip_norm: Value = 40.0
    """The largest norm that a gradient is used with; longer ones are shortened to it."""
    tau: Value = 0.1
    """The temperature."""
    adam_epsilon: Value = 1e-8
    init_scale: Value = 0.3
    """What the first layer's initial parameters are scaled by."""
    exploration: Value = 0.3
    """Double Q-learning: the chance of a random action at first."""
    exploration_decay: Value = 0.98
    """Double Q-learning: what that chance is multiplied with at every update."""
    sync_every: Value = 10
    """Double Q-learning: updates from one renewal of the target network to the next."""


_POSITIVE = ("learning_rate", "clip_norm", "init_scale")


def check_hypers(config: Config, hypers: Hypers) -> None:
    """Raise `UserError` unless one trial's numbers make sense for the configuration."""
    for name, number in hypers._asdict().items():
        if not math.isfinite(number) or number < 0 or (name in _POSITIVE and number == 0):
            rule = "greater than 0" if name in _POSITIVE else "0 or greater"
            raise UserError(f"{name} {number:g}: it must be a finite number {rule}")
    for name in ("exploration", "exploration_decay"):
        if getattr(hypers, name) > 1:
            raise UserError(f"{name} {getattr(hypers, name):g}: it must be between 0 and 1")
    if whole_number("sync_every", hypers.sync_every) < 1:
        raise UserError(f"sync_every {hypers.sync_every}: it must be at least 1 update")
    if config.learner == "policy-gradient" and isinstance(config.objective, str):
        objectives.check_temperature(config.objective, float(hypers.tau))


def stack_hypers(trials: Sequence[Hypers]) -> Hypers:
    """The numbers of many trials as arrays."""
    columns = zip(*trials, strict=True)
    stacked = Hypers(*(jnp.asarray(column, jnp.float32) for column in columns))
    return stacked._replace(sync_every=stacked.sync_every.astype(jnp.int32))
