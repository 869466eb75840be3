"""What a trial is made of: `Config` shapes the compiled program, `Hypers` are numbers that go into it."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from urex import objectives
from urex.curriculum import WINDOW, Curriculum, for_task
from urex.errors import UserError, shortened, unknown, whole_number
from urex.kernels import XLA, Kernel
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
    kernel: Kernel = XLA
    """The implementation of sampling and its backward pass, for learners that leave the choice."""
    cores: int = 1
    """The devices that share the lanes of an update. Sums over lanes are then rounded in another order."""
    window: int | None = WINDOW
    """Episodes that must succeed for a promotion; None: the number the task was published with."""

    def __post_init__(self) -> None:
        for name, known in (("learner", LEARNERS), ("first_layer", FIRST_LAYERS)):
            if getattr(self, name) not in known:
                raise unknown(name.replace("_", " "), getattr(self, name), known)
        for name in ("instances", "samples", "hidden", "cores"):
            if whole_number(name, getattr(self, name)) < 1:
                raise UserError(f"{name} {getattr(self, name)}: it must be at least 1")
        if self.samples < 2 and self.learner == "policy-gradient":
            raise UserError(f"samples {self.samples}: objectives compare samples of one instance; draw at least 2")
        if self.kernel is not XLA and self.learner != "policy-gradient":
            raise UserError(f"kernel {self.kernel.name!r}: learner {self.learner!r} makes no use of it; leave it away")
        if self.lanes % self.cores or (self.cores > 1 and self.learner != "policy-gradient"):
            raise UserError(
                f"cores {self.cores}: they must divide the {self.lanes} episodes of an update, and more than 1 are for"
                " learner 'policy-gradient'"
            )
        _check_objective(self.coefficients, self.instances, self.samples)
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
        if isinstance(self.objective, str):
            return objectives.get(self.objective, centred=self.centred)
        return objectives.centred(self.objective) if self.centred else self.objective


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


_POSITIVE = ("learning_rate", "clip_norm", "init_scale", "adam_epsilon")
_SMALLEST, _LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def check_hypers(config: Config, hypers: Hypers) -> None:
    """Raise `UserError` unless one trial's numbers make sense for the configuration."""
    for name, number in hypers._asdict().items():
        if not (_SMALLEST if name in _POSITIVE else 0) <= number <= _LARGEST:  # so that it is what it is in 32 bits
            rule = "greater than 0" if name in _POSITIVE else "0 or greater"
            raise UserError(f"{name} {number:g}: it must be a finite number {rule}, in single precision")
    for name in ("exploration", "exploration_decay"):
        if getattr(hypers, name) > 1:
            raise UserError(f"{name} {getattr(hypers, name):g}: it must be between 0 and 1")
    if not 1 <= whole_number("sync_every", hypers.sync_every) < 2**31:
        raise UserError(f"sync_every {hypers.sync_every}: it must be 1 to {2**31 - 1} updates")
    if config.learner == "policy-gradient" and isinstance(config.objective, str):
        objectives.check_temperature(config.objective, float(hypers.tau))


def _check_objective(objective: Objective, instances: int, samples: int) -> None:
    """Raise `UserError` unless it makes a coefficient of every sample; nothing is run, only shapes are derived."""
    batch, tau = jax.ShapeDtypeStruct((instances, samples), jnp.float32), jax.ShapeDtypeStruct((), jnp.float32)
    try:
        made = jax.eval_shape(objective, batch, batch, tau)
    except TypeError as error:
        cause = shortened(str(error))
        raise UserError(f"objective {objective}: it must be a function of (log_prob, reward, tau) ({cause})") from None
    if getattr(made, "shape", None) != batch.shape:
        raise UserError(
            f"objective {objective}: it made {shortened(str(made))} of log-probabilities and rewards of shape"
            f" {batch.shape}; it must make a coefficient of each"
        )


def stack_hypers(trials: Sequence[Hypers]) -> Hypers:
    """The numbers of many trials as arrays."""
    columns = zip(*trials, strict=True)
    stacked = Hypers(*(jnp.asarray(column, jnp.float32) for column in columns))
    return stacked._replace(sync_every=stacked.sync_every.astype(jnp.int32))
