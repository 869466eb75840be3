"""A run's directory: made once, by one process, and read only when it is one."""

import errno
import fcntl
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runs import probe
from urex import UserError
from urex.runs import directory as directories
from urex.runs import durable
from urex.runs.directory import Directory, create, locked, next_free, read_trial


def change(path: Path, **fields: Any) -> None:
    """Write other fields into the run's `config.json`."""
    config = path / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | fields))


def test_what_is_read_is_the_trial_that_was_written(tmp_path: Path) -> None:
    for i, settings in enumerate([{}, {"until_solved": True, "centred": True}, {"objective": "ment", "tau": 0.0}]):
        trial = probe.trial(**settings)
        assert create(tmp_path / str(i), trial) == Directory(tmp_path / str(i))
        assert read_trial(tmp_path / str(i)) == (Directory(tmp_path / str(i)), trial)


def test_config_json_leaves_nothing_open(tmp_path: Path) -> None:
    create(tmp_path / "run", probe.trial())
    fields = json.loads((tmp_path / "run" / "config.json").read_text())
    assert fields.items() >= {"schema": 1, "task": probe.NAME, "objective": "urex", "tau": 0.1, "seed": 4}.items()
    assert {name for name, value in fields.items() if value is None} == {"max_length", "time_limit"}
    assert fields["versions"].keys() >= {"python", "urex", "jax"}


def test_directories_above_it_are_made(tmp_path: Path) -> None:
    create(tmp_path / "a" / "b" / "run", probe.trial())
    assert read_trial(tmp_path / "a" / "b" / "run")[1] == probe.trial()


def test_a_directory_with_other_files_may_become_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    create(tmp_path, probe.trial())
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_run_that_is_there_is_left_alone(tmp_path: Path) -> None:
    create(tmp_path / "run", probe.trial())
    before = (tmp_path / "run" / "config.json").read_bytes()
    with pytest.raises(UserError, match=r"there is a run in it already; go on with it by `urex train --resume .*run`"):
        create(tmp_path / "run", probe.trial(seed=2))
    assert (tmp_path / "run" / "config.json").read_bytes() == before


@pytest.mark.parametrize("part", ["metrics.jsonl", "result.json", "checkpoint"])
def test_what_a_run_would_overwrite_is_left_alone(tmp_path: Path, part: str) -> None:
    (tmp_path / part).write_text("mine")
    with pytest.raises(UserError, match=f"there is {part} in it; give another directory"):
        create(tmp_path, probe.trial())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {part: "mine"}


def test_a_run_that_another_process_makes_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(path: Path) -> None:
        monkeypatch.undo()
        create(path, probe.trial(seed=2))

    monkeypatch.setattr(durable, "make_directory", meanwhile)
    with pytest.raises(UserError, match="there is a run in it already"):
        create(tmp_path / "run", probe.trial())
    assert read_trial(tmp_path / "run")[1] == probe.trial(seed=2)


def test_an_objective_without_a_name_cannot_be_kept(tmp_path: Path) -> None:
    def mine(log_prob: Any, reward: Any, tau: Any) -> Any:
        return reward

    with pytest.raises(UserError, match=r"objective <function .*: a run on disk names its objective; register it with"):
        create(tmp_path / "run", probe.trial(objective=mine))
    assert not (tmp_path / "run").exists()


# ---- names that are free


def test_each_gets_a_number_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "copy-2").touch()
    taken = together(*[lambda: next_free(tmp_path / "runs", "copy")] * 8)
    assert sorted(path.name for path in taken) == sorted(f"copy-{i}" for i in (1, 3, 4, 5, 6, 7, 8, 9))
    assert next_free(tmp_path / "runs", "reverse").name == "reverse-1"
    assert create(taken[0], probe.trial()) == Directory(taken[0])


def together(*functions: Callable[[], Any]) -> list[Any]:
    """What each returned or raised, all of them run at once."""
    ended: list[Any] = [None] * len(functions)

    def run(i: int) -> None:
        try:
            ended[i] = functions[i]()
        except UserError as error:
            ended[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended


def test_where_no_directory_can_be_made_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()
    with pytest.raises(UserError, match=r"runs.copy-1: it could not be written \(File exists\); give a directory one"):
        next_free(tmp_path / "runs", "copy")


# ---- what cannot be read


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"config.json: it is no JSON \(Expecting value.*\); put it back as it was"),
        ("[1]", "config.json: it holds no JSON object; put it back as it was"),
        ('"\xff"', "config.json: it is no JSON .*; put it back as it was"),
        ("{}", "it is of schema None, and this urex reads schema 1; use the urex that wrote it .of unknown version"),
        ('{"schema": 1}', "config.json: unknown task 'None': "),
        ('{"schema": 1, "task": "cpoy"}', "config.json: unknown task 'cpoy': did you mean 'copy'"),
        ('{"schema": 1, "task": "copy", "tua": 1}', "config.json: unknown setting 'tua': did you mean 'tau'"),
        ('{"schema": 1, "task": "copy", "tau": "1"}', "config.json: tau '1': it must be a number"),
        ('{"schema": 1, "task": "copy", "versions": 1, "seed": -1}', "config.json: seed -1: it must be 0 to"),
    ],
)
def test_a_config_that_makes_no_sense_is_told_of(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=told):
        read_trial(tmp_path)


def test_another_schema_is_refused_with_the_version_that_wrote_it(tmp_path: Path) -> None:
    create(tmp_path / "run", probe.trial())
    change(tmp_path / "run", schema=2, versions={"urex": "9.9"})
    with pytest.raises(UserError, match=r"of schema 2, and this urex reads schema 1; use the urex that wrote it .9\.9"):
        read_trial(tmp_path / "run")


def test_what_is_no_run_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, told in [
        (tmp_path, r"it has no config.json; give the directory of a run"),
        (tmp_path / "nowhere", r"nowhere: it has no config.json; give the directory of a run"),
        (tmp_path / "file", r"file: it is a file; give the directory of a run"),
    ]:
        with pytest.raises(UserError, match=told):
            read_trial(path)


# ---- what cannot be written


@pytest.mark.parametrize("where", ["exists", "mkdir", "open", "fsync"])
def test_where_nothing_can_be_written_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    with monkeypatch.context() as patch:
        owner = {"exists": Path, "open": directories}.get(where, os)
        patch.setattr(owner, where, refusing(errno.EACCES), raising=False)
        with pytest.raises(UserError, match=r"could not be written \(Permission denied\); give a directory one can"):
            create(tmp_path / "run", probe.trial())
    assert not (tmp_path / "run" / "config.json").exists()
    create(tmp_path / "run", probe.trial())


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(UserError, match=r"it could not be written \((File exists|Not a directory)\); give a dir"):
            create(path, probe.trial())


def test_where_a_run_is_the_remedy_is_to_go_on_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = create(tmp_path / "run", probe.trial())
    monkeypatch.setattr(os, "fsync", refusing(errno.ENOSPC))
    with pytest.raises(UserError, match=r"result.json.*No space left on device\); nothing is lost; mend that, and go"):
        directories.write_json(directory.result, {})


# ---- the lock


def test_the_lock_is_for_one_at_a_time(tmp_path: Path) -> None:
    directory = Directory(tmp_path)
    with locked(directory):
        with pytest.raises(UserError, match="another process is training in it"), locked(directory):
            pass
        with pytest.raises(UserError, match="another process is training in it"), locked(directory):
            pass
    with locked(directory):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(fcntl, "flock", refusing(number))
    with locked(Directory(tmp_path)):
        pass


def test_a_lock_that_fails_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", refusing(errno.EIO))
    with pytest.raises(UserError, match=r"could not be written \(Input/output error\)"), locked(Directory(tmp_path)):
        pass


def refusing(number: int) -> Callable[..., Any]:
    """A function of the system's that only fails."""

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return refuse
