"""The curriculum for agents that are trained through Gymnasium; one opts in by wrapping."""

from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from urex import curriculum
from urex.errors import UserError
from urex.interop.gymnasium.env import TaskEnv
from urex.interop.gymnasium.vector import Seeds, TaskVectorEnv
from urex.tasks.task import Instance, Task


class Progress:
    """One curriculum's state, advanced by the total rewards of finished episodes."""

    def __init__(self, task: Task, window: int | None):
        rule = curriculum.for_task(task, window)
        self._state = curriculum.init(rule)
        self._shortfalls = jax.jit(jax.vmap(task.shortfall, in_axes=(0, None, 0)))
        self._advance = jax.jit(lambda state, shortfalls: curriculum.advance(rule, state, shortfalls))

    @property
    def level(self) -> int:
        """The level that has been earned."""
        return int(self._state.level)

    def fold(self, instances: Instance, total_rewards: np.ndarray, finished: np.ndarray) -> None:
        """Count the finished ones of a batch of episodes, in order."""
        shortfalls = np.asarray(self._shortfalls(instances, self._state.level, total_rewards.astype(np.float32)))[
            finished
        ]
        while shortfalls.size:  # in powers of two, so that few sizes are ever compiled
            size = 1 << (shortfalls.size.bit_length() - 1)
            self._state = self._advance(self._state, shortfalls[:size])
            shortfalls = shortfalls[size:]


class CurriculumWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Start at the task's first level and move up as the agent earns it.

    `window` is the number of episodes that must have succeeded; None asks for the number that the
    task was published with. `info["level"]` is the level earned so far. An episode that is reset before its
    end does not count.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], window: int | None = curriculum.WINDOW):
        super().__init__(env)
        self._base = _base(env, TaskEnv)
        self._progress = Progress(self._base.task, window)
        self._base.level = self._progress.level
        self._total_reward = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options)
        self._total_reward = 0.0
        return observation, {**info, "level": self._progress.level}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        self._total_reward += float(reward)
        if terminated:
            instances = jax.tree.map(lambda leaf: leaf[None], self._base.instance)
            self._progress.fold(instances, np.array([self._total_reward]), np.array([True]))
            self._base.level = self._progress.level
        return observation, reward, terminated, truncated, {**info, "level": self._progress.level}


class VectorCurriculumWrapper(VectorWrapper[Any, Any, Any, Any, Any]):
    """The same for a vector environment; all its environments share one curriculum.

    The episodes that end in one step count in the order of the environments. A level that is
    earned holds for the episodes begun after that step.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], window: int | None = curriculum.WINDOW):
        super().__init__(env)
        self._base = _base(env, TaskVectorEnv)
        self._progress = Progress(self._base.task, window)
        self._base.level = self._progress.level
        self._total_reward = np.zeros(self._base.num_envs)

    def reset(  # pyright: ignore[reportIncompatibleMethodOverride]  takes a list of seeds as Gymnasium's own do
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        mask = (options or {}).get("reset_mask")
        observations, infos = self._base.reset(seed=seed, options=options)
        self._total_reward[slice(None) if mask is None else mask] = 0.0
        return observations, {**infos, "level": self._progress.level}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        instances = self._base.instances  # of the episodes that this step may end
        observations, rewards, terminations, truncations, infos = super().step(actions)
        self._total_reward += rewards
        if terminations.any():
            self._progress.fold(instances, self._total_reward, terminations)
            self._total_reward[terminations] = 0.0
            self._base.level = self._progress.level
        return observations, rewards, terminations, truncations, {**infos, "level": self._progress.level}


def _base(env: Any, kind: type) -> Any:
    if not isinstance(env.unwrapped, kind):
        raise UserError(
            f"curriculum around {type(env.unwrapped).__name__}: it needs the environment of a urex task,"
            " such as gymnasium.make('urex/Copy-v0')"
        )
    return env.unwrapped
