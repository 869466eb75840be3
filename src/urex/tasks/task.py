"""The contract of a task: a problem whose verifier scores a whole sequence of actions."""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from urex.tasks.levels import Levels

Instance = Any
"""What the agent is not told, the paper's latent h: a pytree of arrays."""
State = Any
"""What changes while an episode runs: a pytree of arrays."""
Action = tuple[Int[Array, ""], ...]
"""One integer for each sub-action, in the order of `Task.actions`."""
Step = tuple[State, Float[Array, ""], Bool[Array, ""]]
"""What `Task.step` returns: the next state, the reward of this step, whether the episode is over."""
Read = Callable[[Int[Array, " cells"], Int[Array, ""]], Int[Array, ""]]
"""How a task reads one cell of an instance's memory: `gather`, or a kernel's load, where gathers cannot be."""

T = TypeVar("T")


def gather(memory: Int[Array, " cells"], index: Int[Array, ""]) -> Int[Array, ""]:
    """`memory[index]`, with an index past either end clipped to the nearest cell."""
    return memory.at[index].get(mode="clip")


class Task(eqx.Module):
    """A problem as pure functions of one instance; batches are made by `jax.vmap`.

    With the latent h an instance, the paper's s_1 = g(h) is `observe` of `start`, and its
    s_{t+1} = f(s_t, a_t | h) is `observe` of `step`. The total reward r(a | h) is the sum of the
    rewards of the steps. After the step that says an episode is over, `step` must return the
    same state, reward 0 and done (`absorb` does it).

    A task with a memory too large to look at whole should read it only by a function `read(memory, index)`
    that `observe` and `step` take as a keyword, `gather` unless another is given: some kernels have no
    gathers. It is then run by all kernels, others by those that compile anything.

    A task holds no arrays, only what is fixed before a program is compiled, so it can be a static
    argument: two tasks with equal fields are the same task.
    """

    if TYPE_CHECKING:  # a subclass may give these as class attributes, so its `__init__` need not take them
        observations: int = eqx.field(init=False)
        """Observations are the integers 0 .. observations - 1."""
        actions: tuple[int, ...] = eqx.field(init=False)
        """The size of each sub-action; an action is one choice from each."""
        max_steps: int = eqx.field(init=False)
        """No episode takes more steps than this."""
        levels: Levels = eqx.field(init=False)
        """The curriculum's levels, and what an episode must reach to count towards the next."""
        reward_threshold: float = eqx.field(init=False)
        """The task counts as solved at this total reward, averaged over 100 episodes."""
    else:
        observations: eqx.AbstractVar[int]
        actions: eqx.AbstractVar[tuple[int, ...]]
        max_steps: eqx.AbstractVar[int]
        levels: eqx.AbstractVar[Levels]
        reward_threshold: eqx.AbstractVar[float]

    @abstractmethod
    def sample(self, key: PRNGKeyArray, level: Int[Array, ""]) -> Instance:
        """Draw an instance of the given level."""

    @abstractmethod
    def start(self, instance: Instance) -> State:
        """The state before the first action, the paper's g."""

    @abstractmethod
    def observe(self, instance: Instance, state: State) -> Int[Array, ""]:
        """What the agent sees."""

    @abstractmethod
    def step(self, instance: Instance, state: State, action: Action) -> Step:
        """Take one action, the paper's f."""

    @abstractmethod
    def shortfall(self, instance: Instance, level: Int[Array, ""], total_reward: Float[Array, ""]) -> Float[Array, ""]:
        """How far an episode's total reward is from the best; 0 is perfect, less is worse."""


class SizedTask(Task):
    """A task whose instances have a size: cells of a tape, columns of a sum, numbers in an array."""

    if TYPE_CHECKING:
        max_length: int = eqx.field(init=False)
    else:
        max_length: eqx.AbstractVar[int]
    """The largest size that an instance can have; shapes depend on it and on nothing else."""

    @abstractmethod
    def check_length(self, length: int) -> None:
        """Raise `UserError` unless there are instances of exactly this size."""

    @abstractmethod
    def sample_length(self, key: PRNGKeyArray, length: Int[Array, ""]) -> Instance:
        """Draw an instance of exactly this size."""


def absorb(
    over: Bool[Array, ""], before: T, step: tuple[T, Float[Array, ""], Bool[Array, ""]]
) -> tuple[T, Float[Array, ""], Bool[Array, ""]]:
    """The step as it is, or, where the episode was already over, no change and no reward."""
    after, reward, done = step
    kept = jax.tree.map(lambda b, a: jnp.where(over, b, a), before, after)
    return kept, jnp.where(over, 0.0, reward), over | done
