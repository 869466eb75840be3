"""The contract of a kernel: one implementation of sampling and of its backward pass."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxtyping import Array, Float, Int

from urex.policies.policy import Policy
from urex.rollout.episodes import Outcome
from urex.rollout.randomness import Uniforms
from urex.tasks.task import Instance, Task

Space = Any
"""Memory that a kernel writes to and that goes from update to update, so that it is made only once.

A pytree of arrays, none of them without an axis.
"""


class Work(NamedTuple):
    """What was executed, whether or not it was of use."""

    rounds: Int[Array, ""]
    """The steps of the longest episode."""
    lane_steps: Float[Array, ""]
    """Steps of single lanes, counted inside the loops: those after an episode's end and of lanes that only pad too."""


class Sampled(NamedTuple):
    """Episodes sampled from a policy, one a lane."""

    outcome: Outcome
    work: Work
    residuals: Any
    """What the backward pass needs, in a form that only its own kernel knows."""


class Sizes(NamedTuple):
    """What a kernel's memory depends on."""

    trials: int
    lanes: int
    hidden: int


MakeSpace = Callable[[Task, Sizes], Space]
Sample = Callable[[Policy, Task, Instance, Uniforms, Space], Sampled]
"""One forward pass. `outcome.output` is log pi(a | h)."""
PullBack = Callable[[Policy, Task, Sampled, Float[Array, "trials lanes"]], tuple[Policy, Space]]
"""The gradient of sum(cotangent * log pi(a | h)), with the actions as constants; and the memory for the next update."""


class Kernel(NamedTuple):
    """Pure functions that compute the same, whoever implements them."""

    name: str
    space: MakeSpace
    sample: Sample
    pull_back: PullBack


def no_space(task: Task, sizes: Sizes) -> Space:
    """For kernels that keep no memory."""
    del task, sizes  # unused
    return ()
