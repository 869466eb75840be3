"""From a recipe to a trial that is ready to be trained: checked, and with nothing left open."""

import dataclasses
import numbers
from typing import Any

from urex import devices, kernels, objectives, tasks
from urex.config import Config, Hypers, check_hypers
from urex.errors import UserError, shortened, unknown, whole_number
from urex.kernels import XLA
from urex.kernels.ragged import RAGGED
from urex.presets import DEFAULT_TEMPERATURE, INIT_SCALES, TEMPERATURES, preset_for
from urex.recipe import Recipe
from urex.tasks import Task, check_contract
from urex.training.memory import trials_that_fit

_CONFIG = {field.name: field.default for field in dataclasses.fields(Config) if field.name != "task"}
_TASK_OPTIONS = ("max_length", "time_limit")
_KINDS = {field.name: field.type for field in dataclasses.fields(Recipe)}
_RULES = {
    bool: (bool, "True or False"),
    str | None: (str, "a name"),
    float | None: (numbers.Real, "a number"),
}
"""What fields of each type may be given, and how that is told."""

_UNUSED = {
    "double-q": ("objective", "tau", "centred", "kernel", "cores"),
    "policy-gradient": ("exploration", "exploration_decay", "sync_every"),
}
"""What each learner does not look at."""


LEAST_LANES = 40
"""Fewer to a core are not worth the waiting for each other, unless it is asked for."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """A recipe with its task."""

    task: str
    recipe: Recipe
    """Everything is filled in but options of the task, and an objective that is a function."""
    config: Config
    hypers: Hypers
    num_updates: int
    seed: int


def prepare(task: str | Task, settings: dict[str, Any]) -> Trial:
    """Check the settings, which are fields of `Recipe`, and fill in what they leave open.

    An objective may also be a function, of which a recipe knows nothing.
    """
    settings = settings | _registered(settings.get("objective"))
    function = {name: value for name, value in settings.items() if name == "objective" and callable(value)}
    given = read({name: value for name, value in settings.items() if name not in function})
    name = task if isinstance(task, str) else type(task).__name__
    filled = {**defaults(name, given), **given.given()}
    recipe = dataclasses.replace(given, **filled | dict.fromkeys(function))
    filled |= function
    made = make_task(name, recipe) if isinstance(task, str) else _own(task, recipe)
    config = Config(made, **{field: filled[field] for field in _CONFIG if field not in ("kernel", "cores")})
    check_contract(made)
    if config.learner == "policy-gradient":
        kernel = kernels.choose(filled["kernel"], made, config.hidden)
        config = dataclasses.replace(config, kernel=kernel, cores=share(given.cores, config.lanes))
        if given.kernel in (None, "auto") and kernel is RAGGED and trials_that_fit(config) < 1:
            config = dataclasses.replace(config, kernel=XLA)  # it is slower, and takes a fraction of the memory
        recipe = dataclasses.replace(recipe, kernel=config.kernel.name, cores=config.cores)
    hypers = Hypers(**{field: filled[field] for field in Hypers._fields})
    check_hypers(config, hypers)
    if whole_number("num_updates", filled["num_updates"]) < 1:
        raise UserError(f"num_updates {filled['num_updates']}: it must be at least 1")
    if not 0 <= whole_number("seed", filled["seed"]) < 2**32:
        raise UserError(f"seed {filled['seed']}: it must be 0 to {2**32 - 1}")
    return Trial(name, recipe, config, hypers, filled["num_updates"], filled["seed"])


def defaults(task: str, recipe: Recipe) -> dict[str, Any]:
    """What is taken for the settings that a recipe leaves open."""
    found = {**_CONFIG, **Hypers()._asdict(), **preset_for(task)._asdict(), "seed": 0, "kernel": "auto"}
    objective = recipe.objective or found["objective"]
    tau = TEMPERATURES.get(objective, DEFAULT_TEMPERATURE)
    scale = INIT_SCALES.get(recipe.first_layer or found["first_layer"], found["init_scale"])
    return found | {"tau": tau, "init_scale": scale}


def share(cores: int | None, lanes: int) -> int:
    """Into how many equal shares, one a core, so many lanes are divided, if at most so many cores are asked for."""
    there = devices.cores()
    if cores is None:
        return max(share for share in range(1, max(1, min(there, lanes // LEAST_LANES)) + 1) if lanes % share == 0)
    if not 1 <= cores <= there:
        raise UserError(
            f"cores {cores}: it must be 1 to {there}, the devices that JAX computes on here; JAX_NUM_CPU_DEVICES sets"
            " how many of them the CPU is"
        )
    if lanes % cores:
        raise UserError(f"cores {cores}: it must divide the {lanes} episodes of an update; leave it away, or give 1")
    return cores


def extended(trial: Trial, num_updates: int) -> Trial:
    """The same trial with so many updates in all, whether it is solved before or not."""
    return prepare(trial.task, dataclasses.asdict(trial.recipe) | {"num_updates": num_updates, "until_solved": False})


def check_used(settings: dict[str, Any]) -> None:
    """Raise `UserError` if one of the settings given would make no difference to training."""
    learner = str(settings.get("learner") or _CONFIG["learner"])
    for name in _UNUSED.get(learner, ()):
        if settings.get(name) not in (None, False):
            raise UserError(f"{name} {settings[name]!r}: learner {learner!r} makes no use of it; leave it away")


def _registered(objective: Any) -> dict[str, str]:
    """The name of an objective that was given as a function, if it has one."""
    name = objectives.name_of(objective) if callable(objective) else None
    return {} if name is None else {"objective": name}


def make_task(name: str, recipe: Recipe, **instead: object) -> Task:
    """The task a recipe is for, by its name; `instead` are options that are to be others."""
    given = {option: getattr(recipe, option) for option in _TASK_OPTIONS} | instead
    return tasks.get(name, **{option: value for option, value in given.items() if value is not None})


def read(settings: dict[str, Any]) -> Recipe:
    """The recipe with these fields."""
    for name in settings:
        if name not in _KINDS:
            raise unknown("setting", name, _KINDS)
    return Recipe(**{name: _of_kind(name, value) for name, value in settings.items()})


def _of_kind(name: str, value: Any) -> Any:
    """The value as Python's own kind of number or text, which is what a file can hold."""
    kind = _KINDS[name]
    if value is None and kind is not bool:
        return None
    if kind == int | None:
        return whole_number(name, value)
    wanted, rule = _RULES[kind]
    if not isinstance(value, wanted):
        raise UserError(f"{name} {shortened(repr(value))}: it must be {rule}")
    return float(value) if wanted is numbers.Real else value  # pyright: ignore[reportArgumentType]  it is not None


def _own(task: Task, recipe: Recipe) -> Task:
    """A task given as an object, to which options come too late."""
    if not isinstance(task, Task):
        raise UserError(f"task {shortened(repr(task))}: it must be a urex.tasks.Task or the name of one")
    for option in _TASK_OPTIONS:
        if (value := getattr(recipe, option)) is not None:
            raise UserError(f"{option} {value!r}: the task is made already; make it with that, or give its name")
    return task
