"""A run's directory: `config.json`, `metrics.jsonl`, `checkpoint/` and, when it is done, `result.json`."""

import dataclasses
import errno
import fcntl
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax

from urex import devices
from urex.errors import UserError, shortened
from urex.runs import durable
from urex.runs.versions import versions
from urex.trial import Trial, prepare

SCHEMA = 1
"""What `config.json` means. It changes when a field comes to mean something else."""
CONFIG, METRICS, RESULT, CHECKPOINTS = "config.json", "metrics.jsonl", "result.json", "checkpoint"
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems answer that cannot lock."""


class Directory(NamedTuple):
    """Where the parts of a run are."""

    path: Path

    @property
    def config(self) -> Path:
        """Everything needed to repeat the run."""
        return self.path / CONFIG

    @property
    def metrics(self) -> Path:
        """One line for each update."""
        return self.path / METRICS

    @property
    def result(self) -> Path:
        """What came of it; not there before the run is done."""
        return self.path / RESULT

    @property
    def checkpoints(self) -> Path:
        """The last few checkpoints."""
        return self.path / CHECKPOINTS


def create(path: Path, trial: Trial) -> Directory:
    """A new run's directory; one that holds a run already is left alone."""
    directory = Directory(path)
    _check_named(trial)
    try:
        _check_empty(directory)
        durable.make_directory(path)
    except OSError as error:
        raise _not_written(directory.config, error) from error
    with locked(directory):
        _check_empty(directory)  # again, since another process may have been faster
        write_config(directory, trial)
    return directory


def _check_named(trial: Trial) -> None:
    """Raise `UserError` if the objective is a function, which `config.json` cannot hold."""
    if trial.recipe.objective is None:
        raise UserError(
            f"objective {shortened(repr(trial.config.objective))}: a run on disk names its objective;"
            " register it with `urex.objectives.register` and give its name, or train without `out`"
        )


def _check_empty(directory: Directory) -> None:
    """Raise `UserError` if there is a run in it, or what one would overwrite."""
    if directory.config.exists():
        raise UserError(
            f"run directory {directory.path}: there is a run in it already;"
            f" go on with it by `urex train --resume {directory.path}`, or give another directory"
        )
    for part in (directory.metrics, directory.result, directory.checkpoints):
        if part.exists():
            raise UserError(f"run directory {directory.path}: there is {part.name} in it; give another directory")


def renew(directory: Directory, trial: Trial) -> None:
    """Let the run in it be this trial, which may have more updates than it had, and not be done yet."""
    if read_trial(directory.path)[1].recipe != trial.recipe:
        write_config(directory, trial)
    try:
        durable.remove_temporaries(directory.path)
        directory.result.unlink(missing_ok=True)
        durable.sync_directory(directory.path)
    except OSError as error:
        raise _not_written(directory.result, error) from error


def write_config(directory: Directory, trial: Trial) -> None:
    """Put `config.json` there."""
    settings = dataclasses.asdict(trial.recipe)
    write_json(directory.config, {"schema": SCHEMA, "task": trial.task, **settings, "versions": versions()})


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Put a document there whole."""
    try:
        durable.write(path, json.dumps(document, indent=2, allow_nan=False).encode() + b"\n")
    except OSError as error:
        raise _not_written(path, error) from error


def read_trial(path: Path, *, to_train: bool = True) -> tuple[Directory, Trial]:
    """The run in this directory; if it is only to be looked at, with what runs everywhere."""
    directory = Directory(path)
    fields = read_json(directory.config)
    schema, task, written_with = (fields.pop(name, None) for name in ("schema", "task", "versions"))
    if schema != SCHEMA:
        version = written_with.get("urex") if isinstance(written_with, dict) else None
        raise UserError(
            f"run {directory.config}: it is of schema {schema}, and this urex reads schema {SCHEMA};"
            f" use the urex that wrote it ({version or 'of unknown version'})"
        )
    fields = _BEFORE | fields
    try:
        return directory, prepare(str(task), _as_can_be_here(fields) if to_train else fields | _ANYWHERE)
    except UserError as error:
        raise UserError(f"run {directory.config}: {error}") from None


def cores_of(path: Path) -> int | None:
    """How many cores the run in this directory was begun on; nothing of JAX is used to find out."""
    found = read_json(Directory(path).config).get("cores")
    return found if isinstance(found, int) else None


_BEFORE = {"kernel": "xla", "cores": 1}
"""What runs were made with before they said so."""
_ANYWHERE = {"kernel": "xla", "cores": None}
"""For runs whose policies are only looked at: other kernels are not everywhere, and are compiled to be checked."""


def _as_can_be_here(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of `config.json`; a kernel or a number of cores that this machine does not have is left open."""
    kernel, cores = fields.get("kernel"), fields.get("cores")
    if kernel == "fused" and jax.default_backend() != "gpu":
        warnings.warn(
            "kernel 'fused': the run was begun on a GPU, and there is none here; it goes on with another, which is the"
            " same but for rounding",
            stacklevel=4,
        )
        fields = fields | {"kernel": None}
    return fields | {"cores": None} if isinstance(cores, int) and cores > devices.cores() else fields


def read_json(path: Path) -> dict[str, Any]:
    """The document that is there."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"run directory {path.parent}: it has no {path.name}; give the directory of a run") from None
    except NotADirectoryError:
        raise UserError(f"run directory {path.parent}: it is a file; give the directory of a run") from None
    except OSError as error:
        raise UserError(f"run {path}: it could not be read ({error.strerror}); mend that") from None
    except ValueError as error:
        raise UserError(f"run {path}: it is no JSON ({shortened(str(error))}); put it back as it was") from None
    if not isinstance(document, dict):
        raise UserError(f"run {path}: it holds no JSON object; put it back as it was")
    return document


@contextmanager
def locked(directory: Directory) -> Iterator[None]:
    """Let one process alone write to the run."""
    path = directory.path / ".lock"
    try:
        file = open(path, "w")  # noqa: SIM115  it is locked for as long as it is open
    except OSError as error:
        raise _not_written(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"run directory {directory.path}: another process is training in it; wait for its end"
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise _not_written(path, error) from error
        yield


def next_free(parent: Path, name: str) -> Path:
    """The first of name-1, name-2, ... that was not there; it is made, so that no other process takes it too."""
    number = 1
    try:
        durable.make_directory(parent)
        while not _made(parent / f"{name}-{number}"):
            number += 1
    except OSError as error:
        raise _not_written(parent / f"{name}-{number}", error) from error
    return parent / f"{name}-{number}"


def _made(path: Path) -> bool:
    """Make the directory, if it is not there."""
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def _not_written(path: Path, error: OSError) -> UserError:
    remedy = "give a directory one can write to"
    if os.path.exists(path.parent / CONFIG):
        remedy = f"nothing is lost; mend that, and go on with `urex train --resume {path.parent}`"
    return UserError(f"run {path}: it could not be written ({error.strerror}); {remedy}")
