"""The manifest of a checkpoint: a JSON file that says what the arrays' file must be, and keeps the run's facts."""

import importlib.metadata
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from urex.errors import UserError
from urex.runs import durable
from urex.runs.durable import Damage

Json = dict[str, Any] | list[Any] | str | int | float | bool | None

SCHEMA = 1
"""What this program writes and reads. It changes when a checkpoint means something else."""
SEAL = "manifest_sha256"
"""The field that protects all others. It is the same in every schema, so that damage is not taken for a new one."""


class Manifest(NamedTuple):
    """What is known of a checkpoint beside its arrays."""

    schema: int
    update: int
    arrays: str
    """The name of the arrays' file, which lies beside the manifest."""
    size: int
    """Its bytes."""
    sha256: str
    """The digest of them, in hexadecimal."""
    urex: str
    """The version that wrote it."""
    facts: dict[str, Any]
    """The run's own, anything that JSON has."""


def describe(update: int, arrays: str, data: bytes, facts: Mapping[str, Json]) -> Manifest:
    """The manifest of these arrays."""
    return Manifest(SCHEMA, update, arrays, len(data), sha256(data).hexdigest(), _version(), dict(facts))


def encode(manifest: Manifest) -> bytes:
    """As JSON, sealed."""
    fields = manifest._asdict()
    return json.dumps({**fields, SEAL: _seal(fields)}, indent=2, allow_nan=False).encode() + b"\n"


def read(path: Path) -> Manifest:
    """The manifest in this file; `Damage` if it is not as it was written."""
    try:
        fields = json.loads(durable.read(path))
    except ValueError:
        raise Damage(f"{path} is no JSON") from None
    if not isinstance(fields, dict) or fields.pop(SEAL, None) != _seal(fields):
        raise Damage(f"{path} is not as it was written: its sha256 differs from the one in it")
    if fields["schema"] != SCHEMA:
        raise UserError(
            f"checkpoint {path}: it is of schema {fields['schema']}, and urex {_version()} reads schema {SCHEMA};"
            f" use urex {fields.get('urex', 'of the version')} that wrote it, or start anew in another directory"
        )
    return Manifest(**fields)


def check(manifest: Manifest, path: Path, data: bytes) -> None:
    """`Damage` unless these bytes of the arrays' file are those the manifest was made for."""
    if manifest.arrays != path.name:
        raise Damage(f"{path} is not what its manifest describes, which is {manifest.arrays}")
    if len(data) != manifest.size:
        raise Damage(f"{path} has {len(data)} bytes and not {manifest.size} as its manifest says")
    if sha256(data).hexdigest() != manifest.sha256:
        raise Damage(f"{path} is not as it was written: its sha256 differs from its manifest's")


def _seal(fields: dict[str, Any]) -> str:
    """The digest of the fields as JSON without spaces, in the order of their names."""
    return sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _version() -> str:
    try:
        return importlib.metadata.version("urex")
    except importlib.metadata.PackageNotFoundError:  # run from its source, uninstalled
        return "unknown"
