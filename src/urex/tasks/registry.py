"""Tasks by name."""

import inspect
from collections.abc import Callable

from urex.errors import UserError, shortened, unknown
from urex.modules import import_for
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
    if not callable(factory):
        raise UserError(f"task {name!r}: {shortened(repr(factory))} cannot be called; give a function that makes it")
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
    plain = import_for(name, "task")
    if plain not in _factories:
        raise unknown("task", plain, _factories)
    return _factories[plain]


def get(name: str, /, **options: object) -> Task:
    """The task of this name; options are those of its factory, such as `max_length`.

    >>> get("reverse").actions
    (2, 2, 2)
    """
    make = factory(name)
    parameters = inspect.signature(make).parameters.values()
    known = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
    for option in options:
        if option not in known and len(known) == len(parameters):
            raise unknown(f"option of {name}", option, known)
    for each in parameters:
        required = each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
        if required and each.name not in options:
            raise UserError(f"task {name!r}: its option {each.name!r} has no default; give it, or give it one")
    task = make(**options)
    if not isinstance(task, Task):
        raise UserError(f"task {name!r}: its factory made {shortened(repr(task))}; it must make a urex.tasks.Task")
    return task


register("copy", copy)
register("duplicated-input", duplicated_input)
register("repeat-copy", repeat_copy)
register("reverse", reverse)
register("reversed-addition", reversed_addition)
register("reversed-addition3", reversed_addition3)
register("reversed-addition3-extended", reversed_addition3_extended)
register("binary-search", BinarySearch)
