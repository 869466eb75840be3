"""The curriculum for agents that are trained through Gymnasium; one opts in by wrapping."""

from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

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
        self._several = rule.levels.several
        self._shortfalls = jax.jit(jax.vmap(task.shortfall))
        self._advance = jax.jit(lambda state, shortfalls: curriculum.advance(rule, state, shortfalls))

    @property
    def level(self) -> int:
        """The level that has been earned."""
        return int(self._state.level)

    def fold(self, instances: Instance, begun_levels: np.ndarray, total_rewards: np.ndarray, which: np.ndarray) -> None:
        """Count some of a batch of episodes, in order."""
        rewards = total_rewards.astype(np.float32)
        shortfalls = np.asarray(self._shortfalls(instances, begun_levels.astype(np.int32), rewards))[which]
        before = self.level
        while shortfalls.size and (self._several or self.level == before):
            size = 1 << (shortfalls.size.bit_length() - 1)  # a power of two, so that few sizes are ever compiled
            self._state = self._advance(self._state, shortfalls[:size])
            shortfalls = shortfalls[size:]


class CurriculumWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Start at the task's first level and move up as the agent earns it.

    `window` is the number of episodes that must have succeeded; None asks for the number that the
    task was published with. `info["level"]` is the level earned so far. An episode that is reset before its
    end does not count, nor does one that was asked for by options.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], window: int | None = curriculum.WINDOW):
        super().__init__(env)
        self._base = _base(env, TaskEnv)
        self._progress = Progress(self._base.task, window)
        self._base.level = self._progress.level

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "level": self._progress.level}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        counts = not self._base.over and self._base.begun_level is not None
        observation, reward, terminated, truncated, info = super().step(action)
        if terminated and counts:
            instances = jax.tree.map(lambda leaf: leaf[None], self._base.instance)
            one = np.array([self._base.begun_level]), np.array([self._base.total_reward]), np.array([True])
            self._progress.fold(instances, *one)
            self._base.level = self._progress.level
        return observation, reward, terminated, truncated, {**info, "level": self._progress.level}


ASKED_FOR = -1
"""In place of the level of an episode that options asked for."""


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
        self._begun_levels = np.full(self._base.num_envs, self._progress.level)
        self._total_reward = np.zeros(self._base.num_envs)

    def reset(  # pyright: ignore[reportIncompatibleMethodOverride]  takes a list of seeds as Gymnasium's own do
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        asked = dict(options or {})
        observations, infos = self._base.reset(seed=seed, options=options)
        mask = asked.pop("reset_mask", None)
        which = slice(None) if mask is None else np.asarray(mask)
        self._total_reward[which] = 0.0
        self._begun_levels[which] = ASKED_FOR if asked else self._progress.level
        return observations, {**infos, "level": self._progress.level}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        instances = self._base.instances  # of the episodes that this step may end
        level_before = self._progress.level
        observations, rewards, terminations, truncations, infos = super().step(actions)
        self._total_reward += rewards
        if terminations.any():
            counted = terminations & (self._begun_levels != ASKED_FOR)
            self._progress.fold(instances, self._begun_levels, self._total_reward, counted)
            self._total_reward[terminations] = 0.0
            at_once = self._base.autoreset_mode is AutoresetMode.SAME_STEP
            self._begun_levels[terminations] = level_before if at_once else self._progress.level
            self._base.level = self._progress.level
        return observations, rewards, terminations, truncations, {**infos, "level": self._progress.level}


def _base(env: Any, kind: type) -> Any:
    if not isinstance(env.unwrapped, kind):
        raise UserError(
            f"curriculum around {type(env.unwrapped).__name__}: it needs the environment of a urex task,"
            " such as gymnasium.make('urex/Copy-v0')"
        )
    return env.unwrapped
