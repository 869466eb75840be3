"""A batch of episodes of one task as a `gymnasium.vector.VectorEnv`, stepped by one compiled program."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from urex import tasks, views
from urex.errors import UserError, unknown
from urex.interop.gymnasium import lanes as pure
from urex.interop.gymnasium import spaces
from urex.interop.gymnasium.env import RENDER_MODES, check_render_mode, colour_wanted
from urex.interop.gymnasium.programs import fresh_key_data
from urex.tasks.request import check_level, request
from urex.tasks.task import Instance, Task

Seeds = int | Sequence[int | None] | None
Infos = dict[str, Any]
Stepped = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Infos]


def make_vector_env(
    task: str,
    num_envs: int = 1,
    *,
    level: int | None = None,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    render_mode: str | None = None,
    **options: Any,
) -> "TaskVectorEnv":
    """The vector entry point; `options` are the task's own."""
    made = tasks.get(task, **options)
    return TaskVectorEnv(made, num_envs, level=level, autoreset_mode=autoreset_mode, render_mode=render_mode)


class TaskVectorEnv(VectorEnv[np.ndarray, tuple[np.ndarray, ...], np.ndarray]):
    """Many environments of one task, at a fixed level: the top one unless another is given.

    Environment i, seeded with s (or all with an integer s - i), goes through the same episodes as a
    single environment seeded with s. In `info`, arrays that differ in length between environments
    are padded with -1 to the largest size and come with their length, as `target` and
    `target_length`.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int = 1,
        *,
        level: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ):
        if num_envs < 1:
            raise UserError(f"num_envs {num_envs}: it must be at least 1")
        self.task = task
        self.num_envs = num_envs
        self.level = task.levels.top if level is None else level
        self.autoreset_mode = _check_mode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": RENDER_MODES, "render_fps": 4}
        self.single_observation_space = spaces.observation_space(task)
        self.single_action_space = spaces.action_space(task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._step = pure.stepper(task, self.autoreset_mode)
        self._lanes = pure.empty_lanes(task, num_envs)
        self._key_data: np.ndarray | None = None
        self._over = np.ones(num_envs, bool)
        self._total_reward = np.zeros(num_envs)
        self._fresh = np.ones(num_envs, bool)
        self._action: np.ndarray | None = None
        self._shown: pure.Shown | None = None

    @property
    def level(self) -> int:
        """The level of the episodes that are started from now on."""
        return self._level

    @level.setter
    def level(self, level: int) -> None:
        self._level = check_level(self.task, level)

    @property
    def instances(self) -> Instance:
        """The instances of the episodes under way, every leaf with a leading axis of environments."""
        return self._lanes.episode.instance

    def reset(  # pyright: ignore[reportIncompatibleMethodOverride]  takes a list of seeds as Gymnasium's own do
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, Infos]:
        asked = options or {}
        draw, argument = request(self.task, asked, self.level, beside=("reset_mask",))
        which = self._check_mask(asked.get("reset_mask"))
        lanes = self._seeded(seed, which)
        self._lanes, shown = pure.beginner(self.task, draw)(lanes, which, argument)
        self._shown = jax.device_get(shown)
        self._over = self._over & ~which
        self._total_reward[which] = 0.0
        self._fresh = self._fresh | which
        return self._observations(), self._infos(which)

    def step(self, actions: Any) -> Stepped:
        if self._shown is None:
            raise UserError("step before reset: there are no episodes yet; call `envs.reset()` first")
        checked = spaces.check_actions(self.task, actions, (self.num_envs,))
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            raise UserError(
                f"step of environment {int(self._over.argmax())}: its episode is over and autoreset is disabled;"
                ' begin another with `envs.reset(options={"reset_mask": terminations})`'
            )
        self._lanes, on_device = self._step(self._lanes, checked, np.int32(self.level))
        self._shown = shown = jax.device_get(on_device)
        outcome = shown.outcome
        over = np.array(outcome.over)
        rewards = np.array(outcome.reward, np.float64)
        begun = {
            AutoresetMode.NEXT_STEP: self._over,
            AutoresetMode.SAME_STEP: over,
            AutoresetMode.DISABLED: np.zeros(self.num_envs, bool),
        }[self.autoreset_mode]
        self._total_reward = np.where(begun, 0.0, self._total_reward + rewards)
        self._over, self._fresh, self._action = over, begun, checked
        infos = self._infos(np.ones(self.num_envs, bool)) | self._final_infos(over)
        return self._observations(), rewards, over.copy(), np.zeros(self.num_envs, bool), infos

    def render(self) -> tuple[str, ...] | None:
        """The moments of all environments as text; None without a render mode."""
        if self.render_mode is None:
            return None
        if self._shown is None:
            raise UserError("render before reset: there are no episodes yet; call `envs.reset()` first")
        episodes = jax.device_get(self._lanes.episode)
        return tuple(self._draw(i, jax.tree.map(lambda leaf, i=i: leaf[i], episodes)) for i in range(self.num_envs))

    def _draw(self, i: int, episode: Any) -> str:
        assert self._shown is not None
        outcome = self._shown.outcome
        frame = views.Frame(
            title=f"environment {i}",
            instance=episode.instance,
            state=episode.state,
            observation=int(outcome.observation[i]),
            action=None if self._action is None or self._fresh[i] else tuple(self._action[:, i].tolist()),
            reward=float(outcome.reward[i]),
            total_reward=float(self._total_reward[i]),
            over=bool(self._over[i] and not self._fresh[i]),
        )
        return views.draw(self.task, frame, colour=colour_wanted())

    def _seeded(self, seed: Seeds, which: np.ndarray) -> pure.Lanes:
        """The lanes with the random sources that the seeds ask for, in the environments `which`."""
        seeds = [seed] * self.num_envs if seed is None else seed
        if isinstance(seeds, int | np.integer):
            super().reset(seed=int(seeds))
            seeds = [int(seeds) + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise UserError(
                f"seed of length {len(seeds)}: give one integer,"
                f" or a list with one for each of the {self.num_envs} environments"
            )
        if self._key_data is None:
            self._key_data = fresh_key_data(self.np_random, (self.num_envs,))
        number = np.array(self._lanes.number)
        for i, one in enumerate(seeds):
            if one is not None and which[i]:
                self._key_data[i] = fresh_key_data(seeding.np_random(one)[0])
                number[i] = 0
        return self._lanes._replace(key_data=self._key_data.copy(), number=number)

    def _check_mask(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(self.num_envs, bool)
        given = np.asarray(mask)
        if given.shape != (self.num_envs,) or given.dtype != np.bool_ or not given.any():
            raise UserError(
                f"reset_mask of shape {given.shape} and type {given.dtype}:"
                f" it must be {self.num_envs} booleans, at least one of them true"
            )
        if self._shown is None and not given.all():
            raise UserError("reset_mask before the first reset: all must be reset first; leave the mask out")
        return given

    def _observations(self) -> np.ndarray:
        assert self._shown is not None
        return np.array(self._shown.outcome.observation, np.int64)

    def _infos(self, which: np.ndarray) -> Infos:
        assert self._shown is not None
        return _with_masks({**self._shown.facts, **self._shown.outcome.facts}, which)

    def _final_infos(self, over: np.ndarray) -> Infos:
        """What Gymnasium's own vector environments tell of episodes that gave way in the same step."""
        assert self._shown is not None
        if self._shown.final is None or not over.any():
            return {}
        outcome, facts = self._shown.final
        final_obs = np.full(self.num_envs, None, dtype=object)
        final_obs[over] = np.array(outcome.observation, np.int64)[over]
        return {
            "final_obs": final_obs,
            "_final_obs": over.copy(),
            "final_info": _with_masks({**facts, **outcome.facts}, over),
            "_final_info": over.copy(),
        }


def _with_masks(facts: Mapping[str, Any], which: np.ndarray) -> Infos:
    """Fresh copies, each beside the mask of the environments it holds for, as Gymnasium lays them out."""
    infos: Infos = {}
    for name, value in facts.items():
        infos[name], infos[f"_{name}"] = np.array(value), which.copy()
    return infos


def _check_mode(mode: str | AutoresetMode) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    by_name = {known.value: known for known in AutoresetMode} | {known.name: known for known in AutoresetMode}
    if mode not in by_name:
        raise unknown("autoreset mode", mode, [known.name for known in AutoresetMode])
    return by_name[mode]
