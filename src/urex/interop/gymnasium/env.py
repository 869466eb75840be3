"""One task as a `gymnasium.Env`."""

import os
import sys
from typing import Any

import gymnasium
import jax
import numpy as np
from jaxtyping import Array

from urex import tasks, views
from urex.errors import UserError
from urex.interop.gymnasium import programs, spaces
from urex.interop.gymnasium.beginnings import Beginnings
from urex.interop.gymnasium.options import check_level, request
from urex.interop.gymnasium.packing import read
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
        self._layouts = layouts = programs.layouts(task)
        self._outcome_words = slice(layouts.episode.words, layouts.episode.words + layouts.outcome.words)
        self._beginnings = Beginnings(task)
        self._moment: Array | np.ndarray | None = None
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
        return self._episode("instance").instance

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        super().reset(seed=seed)
        if self._generator is not self.np_random:  # it was seeded, or replaced
            self._generator = self.np_random
            self._beginnings.seed(self.np_random)
        if options:
            words = self._beginnings.asked_for(request(self.task, options, self.level))
        else:
            words = self._beginnings.of_level(self.level)
        self._moment, facts = np.split(words, [self._outcome_words.stop])
        self._facts = trimmed(read(facts, self._layouts.facts))
        self._action, self._total_reward = None, 0.0
        return self._show(self._moment)

    def step(self, action: Any) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        if self._moment is None:
            raise UserError("step before reset: there is no episode yet; call `env.reset()` first")
        checked = spaces.check_action(self.task, action)
        self._moment = self._step(self._moment, checked)
        observation, info = self._show(np.asarray(self._moment))
        self._action = checked
        self._total_reward += self._outcome.reward
        return observation, self._outcome.reward, bool(self._outcome.over), False, info

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The moment as text, in colour where the output is a terminal; None without a render mode."""
        if self.render_mode is None:
            return None
        instance, state = jax.device_get(self._episode("render"))
        frame = views.Frame(
            title=self.spec.id if self.spec else type(self.task).__name__,
            instance=instance,
            state=state,
            observation=self._outcome.observation,
            action=None if self._action is None else tuple(self._action.tolist()),
            reward=self._outcome.reward,
            total_reward=self._total_reward,
            over=bool(self._outcome.over),
        )
        return views.draw(self.task, frame, colour=colour_wanted())

    def _episode(self, wanted: str) -> programs.Episode:
        if self._moment is None:
            raise UserError(f"{wanted} before reset: there is no episode yet; call `env.reset()` first")
        return programs.opener(self.task)(self._moment)

    def _show(self, moment: np.ndarray) -> tuple[np.int64, dict[str, Any]]:
        self._outcome = read(moment[self._outcome_words], self._layouts.outcome)
        facts = {**self._facts, **self._outcome.facts}
        info = {name: value if isinstance(value, int | float) else value.copy() for name, value in facts.items()}
        return np.int64(self._outcome.observation), info


def trimmed(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of one instance with `x` cut to `x_length`, where it has one.

    What was cut is a list: Gymnasium's own vector environments take arrays in `info` to be of one shape.
    """
    lengths = {name for name in facts if name.endswith("_length")}
    whole = {name: value for name, value in facts.items() if name not in lengths}
    cut = {name for name in whole if f"{name}_length" in lengths}
    return whole | {name: whole[name][: facts[f"{name}_length"]].tolist() for name in cut}


def check_render_mode(render_mode: str | None) -> str | None:
    """The render mode, if there is such a one."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise UserError(f"render mode {render_mode!r}: the tasks are drawn as text only; use 'ansi' or None")
    return render_mode


def colour_wanted() -> bool:
    """Whether the output is a terminal that is not asked to be plain."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
