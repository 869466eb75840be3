"""Tasks by name."""

import importlib
import inspect
from collections.abc import Callable

from urex.errors import UserError, unknown
from urex.tasks.addition import reversed_addition, reversed_addition3, reversed_addition3_extended
from urex.tasks.binary_search import BinarySearch
from urex.tasks.copying import copy, duplicated_input, repeat_copy, reverse
from urex.tasks.task import Task

Factory = Callable[..., Task]

_factories: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Make `factory` known under `name`; its keyword arguments become the task's options."""
    if not name or name != name.strip() or ":" in name:
        raise UserError(f"task name {name!r}: it must not be empty or hold spaces at its ends or ':'; choose another")
    if _factories.get(name, factory) is not factory:
        raise UserError(f"task name {name!r}: it is taken; choose another")
    _factories[name] = factory


def names() -> tuple[str, ...]:
    """The registered names, in the order of registration."""
    return tuple(_factories)


def factory(name: str) -> Factory:
    """The factory registered under `name`.

    `package.module:name` imports the module first, so that it can register its tasks.
    """
    module, _, plain = name.rpartition(":")
    if module:
        _import(module)
    if plain not in _factories:
        raise unknown("task", plain, _factories)
    return _factories[plain]


def get(name: str, /, **options: object) -> Task:
    """The task of this name; options are those of its factory, such as `max_length`.

    >>> get("reverse").actions
    (2, 2, 2)
    """
    make = factory(name)
    known = inspect.signature(make).parameters
    for option in options:
        if option not in known:
            raise unknown(f"option of {name}", option, known)
    return make(**options)


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"task module {module!r}: there is no module {error.name!r}; check its name and that it is on PYTHONPATH"
        ) from error


register("copy", copy)
register("duplicated-input", duplicated_input)
register("repeat-copy", repeat_copy)
register("reverse", reverse)
register("reversed-addition", reversed_addition)
register("reversed-addition3", reversed_addition3)
register("reversed-addition3-extended", reversed_addition3_extended)
register("binary-search", BinarySearch)
