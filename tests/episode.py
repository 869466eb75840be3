"""Plays episodes of a task by hand, one compiled step at a time."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from urex.tasks import TapeTask, Task
from urex.tasks.parse import parse_tape


@cache
def _programs(task: Task) -> tuple[Any, Any]:
    def step(instance: Any, state: Any, action: Any) -> tuple[Any, Any, Any, Any]:
        state, reward, done = task.step(instance, state, tuple(action))
        return state, task.observe(instance, state), reward, done

    return jax.jit(task.start), jax.jit(step)


@cache
def compiled(method: Any) -> Any:
    """A task's method, compiled once for all tests."""
    return jax.jit(method)


class Played:
    """An episode in progress."""

    def __init__(self, task: Task, instance: Any):
        self.task, self.instance = task, instance
        start, self._step = _programs(task)
        self.state = start(instance)
        self.observation = int(task.observe(instance, self.state))
        self.steps, self.total_reward, self.reward, self.done = 0, 0.0, 0.0, False

    def step(self, *action: int) -> None:
        """Take one action."""
        self.state, observation, reward, done = self._step(self.instance, self.state, np.array(action, np.int32))
        self.observation, self.reward, self.done = int(observation), float(reward), bool(done)
        self.steps += 1
        self.total_reward += self.reward

    def play(self, agent: Any) -> "Played":
        """Let an agent act to the end: called with the first observation, it yields actions, is sent observations."""
        actions = agent(self.observation)
        action = next(actions)
        while True:
            self.step(*action)
            if self.done:
                return self
            action = actions.send(self.observation)


def on_tape(task: TapeTask, tape: list) -> Played:
    """An episode on this tape."""
    cells, length = parse_tape(task, tape)
    return Played(task, compiled(task.instance)(jnp.asarray(cells), jnp.int32(length)))
