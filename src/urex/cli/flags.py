"""Flags that several commands share, and how flags are told in help."""

import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from urex.errors import UserError
from urex.recipe import Recipe

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from urex.streams import Stream

NUMBER, REAL, NUMBERS = "N", "X", "N ..."
"""What stands for the value of a flag: a whole number, any number, whole numbers."""


def optional(metavar: str | None = None, **more: Any) -> object:
    """How a flag or word is told whose help says itself what happens without it."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint="", **more)


Run = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN", help="The directory of a run.")]
Number = Annotated[int, tyro.conf.arg(metavar=NUMBER)]
Real = Annotated[float, tyro.conf.arg(metavar=REAL)]
OptionalNumber = Annotated[int | None, optional(NUMBER)]
Switch = Annotated[bool, optional()]
Json = Annotated[bool, optional(name="json", help="Print one JSON document to stdout.")]

_METAVARS = {int | None: NUMBER, float | None: REAL, str | None: "NAME", bool: None}


def _as_flags(recipe: type[Recipe]) -> type[Recipe]:
    """The same record with fields that are told by their docstrings alone, which say what is the default."""
    fields = []
    for field in dataclasses.fields(recipe):
        metavar = "LIMIT" if field.name == "time_limit" else _METAVARS[field.type]  # pyright: ignore
        fields.append((field.name, Annotated[field.type, optional(metavar)], field.default))
    return dataclasses.make_dataclass("Settings", fields, bases=(recipe,), frozen=True)


if TYPE_CHECKING:
    Settings = Recipe
else:
    Settings = _as_flags(Recipe)


LONGEST = 1_000_000
"""More would not fit in memory."""


def check_length(flag: str, length: int) -> None:
    """Raise `UserError` unless there may be instances of this length."""
    if not 1 <= length <= LONGEST:
        raise UserError(f"{flag} {length}: it must be 1 to {LONGEST}")


def key_for(seed: int, stream: "Stream") -> "PRNGKeyArray":
    """The key that `--seed` stands for, for one purpose."""
    from urex.streams import key_of

    if not 0 <= seed < 2**32:
        raise UserError(f"--seed {seed}: it must be 0 to {2**32 - 1}")
    return key_of(seed, stream)


def add_working_directory() -> None:
    """Let a module beside the user's work be found; last, so that none of it hides a library's."""
    sys.path.append(os.getcwd())
