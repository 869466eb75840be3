"""One task as a `gymnasium.Env`."""

import os
import sys
from functools import cached_property
from typing import Any

import gymnasium
import jax
import numpy as np

from urex import tasks, views
from urex.errors import UserError
from urex.interop.gymnasium import programs, spaces
from urex.interop.gymnasium.beginnings import Beginnings
from urex.interop.gymnasium.packing import read
from urex.tasks.request import check_level, request
from urex.tasks.task import Instance, Task

RENDER_MODES = ["ansi"]
METADATA = {"render_modes": RENDER_MODES, "render_fps": 4}


def make_env(task: str, *, level: int | None = None, render_mode: str | None = None, **options: Any) -> "TaskEnv":
    """The entry point: the environment of the task of this name; `options` are the task's own."""
    return TaskEnv(tasks.get(task, **options), level=level, render_mode=render_mode)


make_env.metadata = METADATA  # pyright: ignore[reportFunctionMemberAccess]  by it Gymnasium knows of "ansi_list"


class TaskEnv(gymnasium.Env[np.int64, tuple[np.int64, ...]]):
    """A task, at a fixed level: the top one unless another is given.

    Running out of time has its own reward in these tasks, so it is `terminated`; `truncated` is
    always False. `reset(options=...)` takes `level`, `length`, and for tapes `tape`, for
    BinarySearch `n` and `position`. Further resets go back to the level.
    """

    metadata = METADATA

    def __init__(self, task: Task, *, level: int | None = None, render_mode: str | None = None):
        self.task = task
        self.level = task.levels.top if level is None else level
        self.render_mode = check_render_mode(render_mode)
        self.observation_space = spaces.observation_space(task)
        self.action_space = spaces.action_space(task)
        self.total_reward = 0.0
        """The sum of the rewards of the episode under way."""
        self.begun_level: int | None = None
        """The level that the episode under way was drawn from; None if options asked for it."""
        self._layouts = layouts = programs.layouts(task)
        self._outcome_words = slice(layouts.episode.words, layouts.episode.words + layouts.outcome.words)
        self._beginnings = Beginnings(task)
        self._generator: np.random.Generator | None = None
        self._moment: programs.Words | None = None

    @property
    def level(self) -> int:
        """The level of the episodes that are started from now on."""
        return self._level

    @level.setter
    def level(self, level: int) -> None:
        self._level = check_level(self.task, level)

    @property
    def over(self) -> bool:
        """Whether there is no episode under way."""
        return self._moment is None or bool(self._outcome.over)

    @property
    def instance(self) -> Instance:
        """The instance of the episode under way."""
        return self._episode("instance").instance

    @cached_property
    def _step(self) -> programs.Step:
        return programs.stepper(self.task)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled step, so that environments can be copied and pickled."""
        return {name: value for name, value in self.__dict__.items() if name != "_step"}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        asked = request(self.task, options, self.level) if options else None  # a wrong one changes nothing
        super().reset(seed=seed)
        if self._generator is not self.np_random:  # it was seeded, or replaced
            self._generator = self.np_random
            self._beginnings.seed(self.np_random)
        words = self._beginnings.asked_for(asked) if asked else self._beginnings.of_level(self.level)
        self.begun_level = None if asked else self.level
        self._moment, facts = np.split(words, [self._outcome_words.stop])
        self._facts = trimmed(read(facts, self._layouts.facts))
        self._last, self.total_reward = None, 0.0
        self._outcome = self._read_outcome()
        return np.int64(self._outcome.observation), self._info()

    def step(self, action: Any) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        if self._moment is None:
            raise UserError("step before reset: there is no episode yet; call `env.reset()` first")
        checked = spaces.check_action(self.task, action)
        was_over = self.over
        self._moment = self._step(self._moment, checked)
        self._outcome = outcome = self._read_outcome()
        if not was_over:  # the picture of an episode that is over stays that of its last step
            self._last = (checked, outcome.reward)
        self.total_reward += outcome.reward
        return np.int64(outcome.observation), outcome.reward, self.over, False, self._info()

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The moment as text, in colour where the output is a terminal; None without a render mode."""
        if self.render_mode is None:
            return None
        instance, state = jax.device_get(self._episode("render"))
        action, reward = self._last or (None, 0.0)
        frame = views.Frame(
            title=self.spec.id if self.spec else type(self.task).__name__,
            instance=instance,
            state=state,
            observation=self._outcome.observation,
            action=None if action is None else tuple(action.tolist()),
            reward=reward,
            total_reward=self.total_reward,
            over=self.over,
        )
        return views.draw(self.task, frame, colour=colour_wanted())

    def _episode(self, wanted: str) -> programs.Episode:
        if self._moment is None:
            raise UserError(f"{wanted} before reset: there is no episode yet; call `env.reset()` first")
        return programs.opener(self.task)(self._moment)

    def _read_outcome(self) -> Any:  # programs.Outcome, of Python's own numbers
        return read(np.asarray(self._moment)[self._outcome_words], self._layouts.outcome)

    def _info(self) -> dict[str, Any]:
        facts = {**self._facts, **self._outcome.facts}
        return {name: value if isinstance(value, int | float) else value.copy() for name, value in facts.items()}


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
