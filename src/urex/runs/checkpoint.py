"""Checkpoints: a run at one update, with everything that it needs to go on to the bit.

A checkpoint is two files: `0000000500.safetensors` holds the arrays, and `0000000500.json`, its manifest, is
written when they are durable and removed before they are. So a checkpoint is there if its manifest is, and at no
moment is the last one touched before the next one is there.
"""

import errno
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.numpy
from jaxtyping import PyTree

from urex.errors import UserError, whole_number
from urex.runs import durable, manifest
from urex.runs.arrays import flatten, unflatten
from urex.runs.durable import Damage
from urex.runs.manifest import Json

KEEP = 3
"""Checkpoints that are kept, in case the newest are damaged."""

_STEM = re.compile(r"(\d{10})(?:_(\d+))?")


class Checkpoint(NamedTuple):
    """What was saved, and the file that holds the arrays."""

    update: int
    tree: PyTree
    facts: dict[str, Any]
    path: Path


class DamagedCheckpoint(UserWarning):
    """A checkpoint was not as it was written, and an earlier one is used in its place."""


class _Name(NamedTuple):
    """What the two files of a checkpoint are called; a later one compares as larger."""

    update: int
    revision: int = 1
    """Counts the checkpoints of one update, since a new one must not overwrite the old before it is there."""

    def stem(self) -> str:
        return f"{self.update:010d}" + (f"_{self.revision}" if self.revision > 1 else "")

    def arrays(self) -> str:
        return self.stem() + ".safetensors"

    def manifest(self) -> str:
        return self.stem() + ".json"


def save(directory: Path, update: int, tree: PyTree, facts: Mapping[str, Json], *, keep: int = KEEP) -> Path:
    """Make this the newest checkpoint, and keep so many in all; the file of its arrays.

    Checkpoints of later updates are removed: the run has gone back behind them.
    """
    if whole_number("keep", keep) < 1:
        raise UserError(f"keep {keep}: it must be at least 1 checkpoint, the one that is written")
    assert 0 <= update < 10**10, "names would not sort by update"
    data = safetensors.numpy.save(flatten(tree))
    try:
        durable.make_directory(directory)
        _remove_unfinished(directory)
        name = _next_name(directory, update)
        description = manifest.encode(manifest.describe(update, name.arrays(), data, facts))
        durable.write(directory / name.arrays(), data)
        durable.write(directory / name.manifest(), description)
        _prune(directory, name, keep)
    except OSError as error:
        raise _not_saved(directory, update, error) from error
    return directory / name.arrays()


def load(directory: Path, template: PyTree) -> Checkpoint | None:
    """The newest checkpoint that is whole, or None if none was ever saved.

    The template is a tree like the one saved, or its `jax.eval_shape`.
    """
    try:
        complete, names = _names(directory, ".json"), _names(directory, ".safetensors")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"checkpoints {directory}: they could not be listed ({error.strerror}); mend that") from None
    damages: list[str] = []
    for name in sorted(complete | names, reverse=True):
        try:
            found = _load(directory, name, template)
        except Damage as damage:
            damages.append(str(damage))
        else:
            _warn(damages, f"going on from update {found.update}")
            return found
    if complete or len(names) > 1:
        raise UserError(
            f"checkpoints {directory}: none of the {len(damages)} is whole ({damages[0]});"
            " put a copy of one there, or start anew in another directory"
        )
    _warn(damages, "the first save was cut short, starting anew")
    return None


def _load(directory: Path, name: _Name, template: PyTree) -> Checkpoint:
    """The checkpoint of this name; `Damage` if it is not whole."""
    path = directory / name.arrays()
    description = manifest.read(directory / name.manifest())
    data = durable.read(path)
    manifest.check(description, path, data)
    try:
        tree = unflatten(template, safetensors.numpy.load(data))
    except UserError as error:
        raise UserError(f"checkpoint {path}: {error}") from None
    return Checkpoint(description.update, tree, description.facts, path)


def _warn(damages: list[str], outcome: str) -> None:
    for damage in damages:
        warnings.warn(f"{damage}; {outcome}", DamagedCheckpoint, stacklevel=3)


def _names(directory: Path, suffix: str) -> set[_Name]:
    """The checkpoints of which this file is there."""
    stems = (_STEM.fullmatch(file.stem) for file in directory.iterdir() if file.suffix == suffix)
    return {_Name(int(stem[1]), int(stem[2] or 1)) for stem in stems if stem}


def _next_name(directory: Path, update: int) -> _Name:
    """One that overwrites no checkpoint."""
    taken = (name.revision for name in _names(directory, ".json") if name.update == update)
    return _Name(update, max(taken, default=0) + 1)


def _remove_unfinished(directory: Path) -> None:
    """Remove what a kill left of a save, or of a removal."""
    durable.remove_temporaries(directory)
    for name in _names(directory, ".safetensors") - _names(directory, ".json"):
        (directory / name.arrays()).unlink(missing_ok=True)


def _prune(directory: Path, newest: _Name, keep: int) -> None:
    """Remove all but the newest and those before it that are to be kept."""
    complete = _names(directory, ".json")
    earlier = sorted((name for name in complete if name.update < newest.update), reverse=True)
    for name in complete - {newest, *earlier[: keep - 1]}:
        (directory / name.manifest()).unlink(missing_ok=True)
        (directory / name.arrays()).unlink(missing_ok=True)
    durable.sync_directory(directory)


def _not_saved(directory: Path, update: int, error: OSError) -> UserError:
    remedy = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "see to it that one can write there"
    return UserError(
        f"checkpoint of update {update} in {directory}: saving it failed ({error.strerror}); the checkpoints before it"
        f" are whole; {remedy}, and go on with `urex train --resume {directory.parent}`"
    )
