"""One task as a `gymnasium.Env`."""

import os
import sys
from typing import Any

import gymnasium
import jax
import numpy as np

from urex import tasks, views
from urex.errors import UserError
from urex.interop.gymnasium import programs, spaces
from urex.interop.gymnasium.options import check_level, request
from urex.interop.gymnasium.packing import unpack
from urex.tasks.task import Instance, Task

RENDER_MODES = ["ansi"]


def make_env(task: str, *, level: int | None = None, render_mode: str | None = None, **options: Any) -> "TaskEnv":
    """The entry point: the environment of the task of this name; `options` are the task's own."""
    return TaskEnv(tasks.get(task, **options), level=level, render_mode=render_mode)


class TaskEnv(gymnasium.Env[np.int64, tuple[np.int64, ...]]):
    """A task, at a fixed level: the top one unless another is given.

    Running out of time has its own reward in these tasks, so it is `terminated`; `truncated` is
    always False. `reset(options=...)` takes `level`, `length`, and for tapes `tape`, for
    BinarySearch `n` and `position`. Further resets go back to the level.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 4}  # noqa: RUF012  Gymnasium's own declaration

    def __init__(self, task: Task, *, level: int | None = None, render_mode: str | None = None):
        self.task = task
        self.level = task.levels.top if level is None else level
        self.render_mode = check_render_mode(render_mode)
        self.observation_space = spaces.observation_space(task)
        self.action_space = spaces.action_space(task)
        self._step = programs.stepper(task)
        self._beginning_layout, self._outcome_layout = programs.layouts(task)
        self._episode: programs.Episode | None = None
        self._generator: np.random.Generator | None = None

    @property
    def level(self) -> int:
        """The level of the episodes that are started from now on."""
        return self._level

    @level.setter
    def level(self, level: int) -> None:
        self._level = check_level(self.task, level)

    @property
    def instance(self) -> Instance:
        """The instance of the episode under way."""
        if self._episode is None:
            raise UserError("instance before reset: there is no episode yet; call `env.reset()` first")
        return self._episode.instance

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        super().reset(seed=seed)
        if self._generator is not self.np_random:  # it was seeded, or replaced
            self._generator, self._number = self.np_random, 0
            self._key_data = programs.fresh_key_data(self.np_random)
        draw, argument = request(self.task, options or {}, self.level)
        start = programs.starter(self.task, draw)
        self._episode, words = start(self._key_data, np.int32(self._number), argument)
        beginning = unpack(np.asarray(words), self._beginning_layout)
        self._number += 1
        self._facts = trimmed(beginning.facts)
        self._action, self._total_reward = None, 0.0
        return self._show(beginning.outcome)

    def step(self, action: tuple[np.int64, ...]) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        if self._episode is None:
            raise UserError("step before reset: there is no episode yet; call `env.reset()` first")
        checked = spaces.check_action(self.task, action)
        self._episode, words = self._step(self._episode, checked)
        outcome = unpack(np.asarray(words), self._outcome_layout)
        self._action = tuple(checked.tolist())
        self._total_reward += float(outcome.reward)
        observation, info = self._show(outcome)
        return observation, float(outcome.reward), bool(outcome.over), False, info

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The moment as text, in colour where the output is a terminal; None without a render mode."""
        if self.render_mode is None:
            return None
        if self._episode is None:
            raise UserError("render before reset: there is no episode yet; call `env.reset()` first")
        instance, state = jax.device_get(self._episode)
        frame = views.Frame(
            title=self.spec.id if self.spec else type(self.task).__name__,
            instance=instance,
            state=state,
            observation=int(self._outcome.observation),
            action=self._action,
            reward=float(self._outcome.reward),
            total_reward=self._total_reward,
            over=bool(self._outcome.over),
        )
        return views.draw(self.task, frame, colour=colour_wanted())

    def _show(self, outcome: programs.Outcome) -> tuple[np.int64, dict[str, Any]]:
        self._outcome = outcome
        facts = {**self._facts, **outcome.facts}
        info = {name: value.copy() if value.ndim else int(value) for name, value in facts.items()}
        return np.int64(outcome.observation), info


def trimmed(facts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The facts of one instance with `x` cut to `x_length`, where it has one."""
    lengths = {name for name in facts if name.endswith("_length")}
    whole = {name: value for name, value in facts.items() if name not in lengths}
    return whole | {name: whole[name][: int(facts[f"{name}_length"])] for name in whole if f"{name}_length" in lengths}


def check_render_mode(render_mode: str | None) -> str | None:
    """The render mode, if there is such a one."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise UserError(f"render mode {render_mode!r}: the tasks are drawn as text only; use 'ansi' or None")
    return render_mode


def colour_wanted() -> bool:
    """Whether the output is a terminal that is not asked to be plain."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
