"""Files that are whole: written beside their place, made durable, and only then moved there."""

import errno
import os
import re
from contextlib import suppress
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.\d+\.partial")


class Damage(Exception):
    """A file is missing, or is not what was written: a sentence that names it."""


def write(path: Path, data: bytes) -> None:
    """Put the bytes at `path`: a kill or a power cut at any moment leaves there the old file or the new one, whole.

    So does an error, and it leaves nothing else behind.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_directory(path.parent)
    except BaseException:
        with suppress(OSError):  # the error to tell of is the one before
            temporary.unlink()
        raise


def read(path: Path) -> bytes:
    """What the file holds; `Damage` if there is no reading it."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Damage(f"{path} is missing") from None
    except OSError as error:
        raise Damage(f"{path} could not be read ({error.strerror})") from None


def make_directory(path: Path) -> None:
    """The directory and those above it, their names made durable too."""
    if not path.is_dir():
        make_directory(path.parent)
        path.mkdir(exist_ok=True)
        sync_directory(path.parent)


def remove_temporaries(directory: Path) -> None:
    """Remove what a killed `write` left; nothing else may be writing to this directory."""
    for path in directory.iterdir():
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Make the names in it durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # what file systems answer that cannot do this to a directory
            raise
    finally:
        os.close(descriptor)
