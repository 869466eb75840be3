"""A task that is learnt in some dozens of updates, and the trial of it that most tests of runs are of."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from urex import tasks
from urex.tasks import Levels, Task, absorb
from urex.trial import Trial, prepare

NAME = "tests.runs.probe:echo"
SETTINGS: dict[str, Any] = {
    "num_updates": 24,
    "instances": 4,
    "samples": 5,
    "hidden": 8,
    "window": 20,
    "learning_rate": 0.1,
    "init_scale": 1.0,
    "seed": 4,
}
"""Of a trial that goes up its levels one by one, and is solved some updates before its end."""


def trial(**settings: Any) -> Trial:
    """The trial, but for these settings. All of one configuration share one program."""
    return prepare(NAME, SETTINGS | settings)


class Instance(eqx.Module):
    """What is shown."""

    symbols: Int[Array, " 4"]
    length: Int[Array, ""]


class State(eqx.Module):
    """How far the episode is."""

    time: Int[Array, ""]
    over: Bool[Array, ""]


class Echo(Task):
    """Say the symbol that is shown: each pays 1, the first wrong one ends the episode. Level m has m + 1 of them."""

    observations = 3
    actions = (3,)
    max_steps = 4
    levels = Levels(first=0, top=3, worst=-4.0, mean=-0.4, judged=0)
    reward_threshold = 3.0

    def sample(self, key: PRNGKeyArray, level: Int[Array, ""]) -> Instance:
        return Instance(jax.random.randint(key, (4,), 0, 3), level + 1)

    def start(self, instance: Instance) -> State:
        del instance  # unused: all start alike
        return State(jnp.int32(0), jnp.bool_(False))

    def observe(self, instance: Instance, state: State) -> Int[Array, ""]:
        return instance.symbols.at[state.time].get(mode="clip")

    def step(self, instance: Instance, state: State, action: Any) -> tuple[State, Float[Array, ""], Bool[Array, ""]]:
        right = action[0] == self.observe(instance, state)
        time = state.time + 1
        done = ~right | (time >= instance.length)
        return absorb(state.over, state, (State(time, done), right.astype(jnp.float32), done))

    def shortfall(self, instance: Instance, level: Int[Array, ""], total_reward: Float[Array, ""]) -> Float[Array, ""]:
        del level  # unused: every symbol pays 1
        return total_reward - instance.length


tasks.register("echo", Echo)
tasks.register("again", lambda: Echo())
