"""Files that are whole, whatever happens in the middle of writing them."""

import errno
import os
import resource
import stat
from pathlib import Path

import pytest

from tests.runs.disk import Disk
from urex.runs import durable
from urex.runs.durable import Damage

OLD, NEW = b"old" * 1000, b"new" * 2000


@pytest.mark.parametrize("before", [None, OLD])
def test_a_kill_or_a_power_cut_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    disk = Disk(tmp_path)
    with disk.watched(monkeypatch):
        if before is not None:
            durable.write(tmp_path / "file", before)
        disk.moments.clear()
        durable.write(tmp_path / "file", NEW)
    *during, killed, kept, lost = disk.moments
    assert {moment.files.get("file") for moment in during} == {before, NEW}
    assert [moment.files for moment in (killed, kept, lost)] == [{"file": NEW}] * 3


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt])
@pytest.mark.parametrize("failing", range(3))
def test_an_error_leaves_one_of_them_and_nothing_besides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, error: OSError | type[BaseException]
) -> None:
    (tmp_path / "file").write_bytes(OLD)
    disk = Disk(tmp_path, failing=failing, error=error)
    with disk.watched(monkeypatch), pytest.raises((OSError, KeyboardInterrupt)):
        durable.write(tmp_path / "file", NEW)
    assert disk.operations[:3] == ["fsync", "replace", "fsync"][: failing + 1] + ["unlink"] * (failing < 2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"file": OLD if failing < 2 else NEW}


def test_a_file_that_the_system_cuts_short_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(NEW) - 1, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            durable.write(tmp_path / "file", NEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"file": OLD}


def test_temporaries_are_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = {".hidden", "file", ".file.partial", "file.12.partial", ".file.12.partial.txt", ".file.x.partial"}
    for name in others:
        (tmp_path / name).touch()
    disk = Disk(tmp_path)
    with disk.watched(monkeypatch):
        durable.write(tmp_path / "0000000500.json", NEW)
    killed = disk.moments[0].restore(tmp_path)  # before the file is synced
    assert {path.name for path in killed.iterdir()} > others | {"0000000500.json"}
    durable.remove_temporaries(killed)
    assert {path.name for path in killed.iterdir()} == others | {"0000000500.json"}


def test_a_directory_is_made_with_those_above_it_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(tmp_path)
    with disk.watched(monkeypatch):
        durable.make_directory(tmp_path / "runs" / "x" / "checkpoint")
        durable.write(tmp_path / "runs" / "x" / "checkpoint" / "file", NEW)
    assert [moment.files for moment in disk.moments[-3:]] == [{"runs/x/checkpoint/file": NEW}] * 3
    durable.make_directory(tmp_path / "runs" / "x" / "checkpoint")


def test_a_file_system_that_cannot_sync_directories_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, number: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", lambda descriptor: refuse(descriptor, errno.EINVAL))
    durable.write(tmp_path / "file", NEW)
    monkeypatch.setattr(os, "fsync", lambda descriptor: refuse(descriptor, errno.EIO))
    with pytest.raises(OSError, match="Input/output error"):
        durable.write(tmp_path / "file", OLD)


def test_what_cannot_be_read_is_damage(tmp_path: Path) -> None:
    with pytest.raises(Damage, match=r"file is missing$"):
        durable.read(tmp_path / "file")
    with pytest.raises(Damage, match=r"could not be read \(Is a directory\)$"):
        durable.read(tmp_path)
    (tmp_path / "file").write_bytes(NEW)
    assert durable.read(tmp_path / "file") == NEW
