"""The contract of a learner: a pair of pure functions, as an optimiser is in Optax."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxtyping import Array, Float, Int, Key

from urex.config import Hypers
from urex.kernels import Space, Work
from urex.policies import ActionRule
from urex.rollout import Outcome, Uniforms
from urex.tasks.task import Instance

LearnerState = Any
"""What a learner carries from update to update: a record with the field `policy`, the one to evaluate."""


class Batch(NamedTuple):
    """What one update learns from. Lanes are instance-major: K in a row have the same instance."""

    instances: Instance
    """[trials, lanes, ...]"""
    uniforms: Uniforms
    update: Int[Array, ""]
    """How many updates were made before this one."""
    space: Space = ()
    """The memory of the configuration's kernel, as the update before left it."""


class Experience(NamedTuple):
    """What came of it."""

    outcome: Outcome
    info: dict[str, Float[Array, " trials"]]
    """The learner's own measurements, by the names they are logged under."""
    work: Work
    """What was executed for it."""
    space: Space = ()
    """The kernel's memory for the next update."""


Init = Callable[[Key[Array, " trials"], Hypers], LearnerState]
"""From each trial's key and hyper-parameters to its state before the first update."""
Update = Callable[[LearnerState, Hypers, Batch], tuple[LearnerState, Experience]]
"""One update of every trial."""


class Learner(NamedTuple):
    """All that training knows of a learner."""

    init: Init
    update: Update
    act: ActionRule
    """How its policy chooses when it does not learn, from the outputs that mean what this learner made of them."""
