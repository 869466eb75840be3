"""A disk that is watched: what it would hold had the program been killed, or the power cut, before any operation."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

Files = dict[str, bytes]


class Moment(NamedTuple):
    """What would be found below the root, and how it came about."""

    cause: str
    files: Files
    stage: int
    """How far the test had come."""

    def restore(self, root: Path) -> Path:
        """Put the files there."""
        for name, data in self.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        return root


class Disk:
    """Watches what is done below `root` by way of the module `os`, and fails at the `failing`-th operation.

    A kill leaves everything that was written. A power cut leaves of a file what was last synced; its name is the one
    that its directory was last synced with, or the present one: both happen.
    """

    def __init__(self, root: Path, *, failing: int | None = None, error: type[BaseException] | OSError = OSError):
        self.root, self.failing, self.error = root, failing, error
        self.operations: list[str] = []
        self.moments: list[Moment] = []
        self.stage = 0
        self._held: list[int] = []  # so that no inode is used again
        self._contents: dict[int, bytes] = {}
        self._names: dict[str, dict[str, int]] = {".": {}}

    def note(self) -> None:
        """Remember what could be found if it all ended here."""
        present = {str(path.relative_to(self.root)): path for path in self.root.rglob("*") if path.is_file()}
        inodes = {name: path.stat().st_ino for name, path in present.items()}
        lost = {name: inode for name, inode in self._durable_names(".").items() if not (self.root / name).is_dir()}
        found = {
            "kill": {name: path.read_bytes() for name, path in present.items()},
            "power cut, names kept": {name: self._contents.get(inode, b"") for name, inode in inodes.items()},
            "power cut, names lost": {name: self._contents.get(inode, b"") for name, inode in lost.items()},
        }
        self.moments += [Moment(cause, files, self.stage) for cause, files in found.items()]

    @contextlib.contextmanager
    def watched(self, monkeypatch: pytest.MonkeyPatch) -> Iterator["Disk"]:
        """While this holds, operations are noted, and one fails if asked."""
        with monkeypatch.context() as patch:
            for name in ("fsync", "replace", "unlink", "mkdir"):
                patch.setattr(os, name, self._watching(name, getattr(os, name)))
            yield self
        self.note()
        for descriptor in self._held:
            os.close(descriptor)
        self._held.clear()

    def _watching(self, name: str, operation):
        def watched(*arguments, **options):
            self.note()
            self.operations.append(name)
            if len(self.operations) - 1 == self.failing:
                raise self.error
            operation(*arguments, **options)
            if name == "fsync":
                self._synced(arguments[0])

        return watched

    def _synced(self, descriptor: int) -> None:
        self._held.append(os.dup(descriptor))
        status = os.fstat(descriptor)
        here = [self.root, *self.root.rglob("*")]
        path = next((path for path in here if path.stat().st_ino == status.st_ino), None)
        assert path is not None, "a file was synced that is not there"
        if stat.S_ISDIR(status.st_mode):
            self._names[str(path.relative_to(self.root))] = {
                child.name: child.stat().st_ino for child in path.iterdir()
            }
        else:
            self._contents[status.st_ino] = path.read_bytes()

    def _durable_names(self, directory: str) -> dict[str, int]:
        """Every path that could be found again, with its inode."""
        found = {}
        for name, inode in self._names.get(directory, {}).items():
            path = os.path.normpath(os.path.join(directory, name))
            found |= {path: inode, **self._durable_names(path)}
        return found
