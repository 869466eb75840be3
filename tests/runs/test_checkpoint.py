"""Checkpoints: a run goes on to the bit from the last one that is whole, whatever happened to the files."""

import errno
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.runs.disk import Disk
from tests.runs.test_arrays import assert_same_bits
from tests.runs.test_manifest import sealed
from urex import UserError, curriculum, policies, tasks
from urex.runs import DamagedCheckpoint, durable
from urex.runs.checkpoint import Checkpoint, load, save

OPTIMISER = optax.adam(1e-2)
KINDS = (".safetensors", ".json")


def small(update: int, run: int = 0) -> dict[str, np.ndarray]:
    """A tree that tells which it is; cheap, since none of it is JAX's."""
    return {"update": np.asarray(update), "noise": np.random.default_rng([run, update]).random(20)}


def save_small(directory: Path, *updates: int, keep: int = 3) -> None:
    for update in updates:
        save(directory, update, small(update), {"env_steps": 10 * update}, keep=keep)


def load_small(directory: Path) -> Checkpoint | None:
    """The checkpoint, having looked that it is what was saved for its update."""
    found = load(directory, small(0))
    if found is not None:
        assert_same_bits(found.tree, small(found.update, run=found.facts.get("run", 0)))
        assert found.facts["env_steps"] == 10 * found.update
    return found


def saved(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def both(*stems: str) -> list[str]:
    return sorted(stem + kind for stem in stems for kind in KINDS)


def learner_state() -> dict[str, Any]:
    """Of everything that a trainer has: parameters, moments, counts, levels, keys."""
    task = tasks.get("copy")
    policy = policies.init(jax.random.key(1), task, hidden=4, first_layer="embedding", scale=jnp.float32(0.1))
    return {
        "policy": policy,
        "optimiser": OPTIMISER.init(policy),  # pyright: ignore[reportArgumentType]
        "curriculum": curriculum.init(curriculum.for_task(task, window=10)),
        "retired": jnp.array([True, False]),
        "seeds": jnp.arange(2, dtype=jnp.uint32),
        "key": jax.random.key(3),
    }


@jax.jit
def update(state: dict[str, Any]) -> dict[str, Any]:
    """One step of something like training."""
    key, noise_key = jax.random.split(state["key"])
    gradient = jax.tree.map(lambda leaf: jax.random.normal(noise_key, leaf.shape), state["policy"])
    step, optimiser = OPTIMISER.update(gradient, state["optimiser"], state["policy"])
    return {**state, "key": key, "optimiser": optimiser, "policy": optax.apply_updates(state["policy"], step)}


def test_a_run_goes_on_to_the_bit(tmp_path: Path) -> None:
    state = update(update(learner_state()))
    facts = {"env_steps": 3, "config": {"task": "copy", "tau": 0.1}, "none": None, "levels": [2, 3]}
    path = save(tmp_path / "checkpoint", 2, state, facts)
    found = load(tmp_path / "checkpoint", jax.eval_shape(learner_state))
    assert found is not None
    assert (found.update, found.facts, found.path) == (2, facts, path)
    assert path.name == "0000000002.safetensors"
    assert_same_bits(found.tree, state)
    assert_same_bits(update(update(found.tree)), update(update(state)))


def test_the_newest_is_loaded_and_the_last_few_are_kept(tmp_path: Path) -> None:
    save_small(tmp_path, 0, 500, 9_999, 10_000)
    assert saved(tmp_path) == both("0000000500", "0000009999", "0000010000")
    found = load_small(tmp_path)
    assert found is not None
    assert found.update == 10_000


@pytest.mark.parametrize("keep", [1, 2, 5])
def test_as_many_are_kept_as_asked(tmp_path: Path, keep: int) -> None:
    save_small(tmp_path, *range(1, 8), keep=keep)
    assert saved(tmp_path) == both(*(f"{update:010d}" for update in range(8 - keep, 8)))


def test_to_keep_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="keep 0: it must be at least 1"):
        save_small(tmp_path, 1, keep=0)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_where_nothing_was_saved_there_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.json").touch()
    assert load(tmp_path / name, small(0)) is None


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    others = ["notes.json", "500.safetensors", "0000000500.txt", "0000000500.json.old", ".0000000500.json"]
    for name in others:
        (tmp_path / name).touch()
    save_small(tmp_path, 1, 2, 3, keep=1)
    assert saved(tmp_path) == sorted([*others, *both("0000000003")])


# ---- what a kill, a power cut or an error leaves


SAVES = [(1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (1, 1), (2, 2)]
"""Updates and runs: the third saves an update again, the last but one goes back behind all the others."""


def save_all(directory: Path, disk: Disk) -> None:
    for i, (update, run) in enumerate(SAVES):
        disk.stage = i
        save(directory, update, small(update, run), {"env_steps": 10 * update, "run": run}, keep=2)


def test_no_kill_and_no_power_cut_loses_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    disk = Disk(tmp_path / "run")
    with disk.watched(monkeypatch):
        save_all(tmp_path / "run" / "checkpoint", disk)
        disk.stage = len(SAVES)
    assert len(disk.moments) > 150
    for i, moment in enumerate(disk.moments):
        manifests = [name for name in moment.files if name.endswith(".json")]
        assert all(name.replace(".json", ".safetensors") in moment.files for name in manifests)
        directory = moment.restore(tmp_path / str(i)) / "checkpoint"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DamagedCheckpoint)
            found = load_small(directory)
        stage = moment.stage
        last, next_ = SAVES[stage - 1] if stage else None, SAVES[min(stage, len(SAVES) - 1)]
        assert (found and (found.update, found.facts["run"])) in (last, next_), (moment.cause, stage, saved(directory))


def test_the_run_goes_on_after_a_kill_and_nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    disk = Disk(tmp_path / "run")
    with disk.watched(monkeypatch):
        save_all(tmp_path / "run" / "checkpoint", disk)
    for i, moment in enumerate(disk.moments):
        directory = moment.restore(tmp_path / str(i)) / "checkpoint"
        save_small(directory, 7, 8, keep=2)
        assert saved(directory) == both("0000000007", "0000000008"), moment.cause


def test_no_error_loses_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever operation fails, the run is told, and goes on from the last checkpoint or the one it was writing."""
    for failing in range(100):
        root = tmp_path / str(failing)
        root.mkdir()
        disk = Disk(root, failing=failing, error=OSError(errno.EIO, os.strerror(errno.EIO)))
        try:
            with disk.watched(monkeypatch):
                save_all(root / "checkpoint", disk)
        except UserError as error:
            assert "saving it failed (Input/output error); the checkpoints before it are whole" in str(error)
            assert f"go on with `urex train --resume {root}`" in str(error)
        else:
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DamagedCheckpoint)
            found = load_small(root / "checkpoint")
        stage = disk.moments[-1].stage
        last = SAVES[stage - 1] if stage else None
        assert (found and (found.update, found.facts["run"])) in (last, SAVES[stage])
        assert not list(root.rglob("*.partial"))
    else:
        pytest.fail("there are more operations than were tried")
    assert failing > 40


KILLED = """
import os, pathlib, random, signal, sys, time, warnings
import numpy as np
from urex.runs import checkpoint

def tree(update):
    return {"update": np.asarray(update), "noise": np.random.default_rng(update).random(50_000)}

def save_until_killed(directory, update, told):
    while True:
        checkpoint.save(directory, update, tree(update), {"update": update}, keep=2)
        os.write(told, update.to_bytes(8, "big"))
        update += 1

warnings.simplefilter("ignore")
directory, random, last = pathlib.Path(sys.argv[1]), random.Random(0), 0
for _ in range(20):
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        save_until_killed(directory, last + 1, tell)
    os.close(tell)
    time.sleep(random.uniform(0.01, 0.1))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with os.fdopen(told, "rb") as stream:
        returned = int.from_bytes(stream.read()[-8:], "big") or last
    found = checkpoint.load(directory, tree(0))
    if found is None:
        assert returned == 0, returned
        continue
    assert found.update in (returned, returned + 1), (found.update, returned)
    assert found.facts == {"update": found.update}
    assert all((found.tree[name] == value).all() for name, value in tree(found.update).items())
    last = found.update
checkpoint.save(directory, last + 1, tree(last + 1), {}, keep=2)
print(last, *sorted(path.name for path in directory.iterdir()))
"""


def test_a_writer_that_is_really_killed_loses_nothing(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "checkpoint")], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    last, *names = ended.stdout.split()
    assert int(last) > 20
    assert len(names) == 4


# ---- files that are damaged later


def damaged(directory: Path) -> str:
    """The one warning of a load that had to fall back from update 2 to update 1."""
    with pytest.warns(DamagedCheckpoint) as caught:
        found = load_small(directory)
    assert found is not None
    assert found.update == 1
    (warning,) = caught
    assert str(warning.message).endswith("; going on from update 1")
    return str(warning.message)


@pytest.mark.parametrize("kind", KINDS)
def test_no_flipped_bit_goes_unnoticed(tmp_path: Path, kind: str) -> None:
    save_small(tmp_path, 1, 2)
    path = tmp_path / f"0000000002{kind}"
    whole = path.read_bytes()
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        assert str(path) in damaged(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_short_is_noticed_wherever_it_is_cut(tmp_path: Path, kind: str) -> None:
    save_small(tmp_path, 1, 2)
    path = tmp_path / f"0000000002{kind}"
    whole = path.read_bytes()
    for length in range(0, len(whole.strip()), 5):
        path.write_bytes(whole[:length])
        assert str(path) in damaged(tmp_path)
    path.write_bytes(b"\0" * len(whole))
    assert str(path) in damaged(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_file_is_noticed(tmp_path: Path, kind: str) -> None:
    save_small(tmp_path, 1, 2)
    (tmp_path / f"0000000002{kind}").unlink()
    assert damaged(tmp_path) == f"{tmp_path / '0000000002'}{kind} is missing; going on from update 1"


def test_a_checkpoint_under_another_updates_name_is_noticed(tmp_path: Path) -> None:
    save_small(tmp_path, 0, 1)
    for kind in KINDS:
        (tmp_path / f"0000000000{kind}").rename(tmp_path / f"0000000002{kind}")
    assert "0000000002.safetensors is not what its manifest describes" in damaged(tmp_path)


def test_every_damaged_one_is_told_of(tmp_path: Path) -> None:
    save_small(tmp_path, 1, 2, 3)
    (tmp_path / "0000000002.safetensors").write_bytes(b"")
    (tmp_path / "0000000003.json").write_bytes(b"")
    with pytest.warns(DamagedCheckpoint) as caught:
        found = load_small(tmp_path)
    assert found is not None
    assert found.update == 1
    assert [str(warning.message).split(" ")[0] for warning in caught] == [
        str(tmp_path / "0000000003.json"),
        str(tmp_path / "0000000002.safetensors"),
    ]


def test_a_damaged_one_is_replaced_when_the_run_comes_to_it_again(tmp_path: Path) -> None:
    save_small(tmp_path, 1, 2, 3)
    (tmp_path / "0000000003.safetensors").write_bytes(b"")
    save_small(tmp_path, 3)
    found = load_small(tmp_path)
    assert found is not None
    assert (found.update, found.path.name) == (3, "0000000003_2.safetensors")
    assert saved(tmp_path) == both("0000000001", "0000000002", "0000000003_2")


def test_where_none_is_whole_the_user_is_told(tmp_path: Path) -> None:
    save_small(tmp_path, 1, 2)
    for name in both("0000000001", "0000000002")[::2]:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(UserError) as caught:
        load_small(tmp_path)
    assert str(caught.value) == (
        f"checkpoints {tmp_path}: none of the 2 is whole ({tmp_path / '0000000002.json'} is no JSON);"
        " put a copy of one there, or start anew in another directory"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_only_one_damaged_is_no_new_run(tmp_path: Path, kind: str) -> None:
    save_small(tmp_path, 1)
    (tmp_path / f"0000000001{kind}").write_bytes(b"")
    with pytest.raises(UserError, match="none of the 1 is whole"):
        load_small(tmp_path)


def test_a_first_save_that_was_cut_short_is_a_new_run(tmp_path: Path) -> None:
    save_small(tmp_path, 1)
    (tmp_path / "0000000001.json").unlink()
    with pytest.warns(DamagedCheckpoint, match=r"0000000001.json is missing; the first save was cut short, starting"):
        assert load_small(tmp_path) is None
    save_small(tmp_path, 2)
    assert saved(tmp_path) == both("0000000002")


def test_manifests_that_are_all_lost_are_no_new_run(tmp_path: Path) -> None:
    save_small(tmp_path, 1, 2)
    for path in tmp_path.glob("*.json"):
        path.unlink()
    with pytest.raises(UserError, match="none of the 2 is whole"):
        load_small(tmp_path)


def test_two_first_saves_that_were_cut_short_are_a_new_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_replace = os.replace

    def replace(source: Path, target: Path) -> None:
        if target.suffix == ".json":  # so it ends between the two files
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        really_replace(source, target)

    monkeypatch.setattr(os, "replace", replace)
    for update in (1, 2):
        with pytest.raises(UserError, match="saving it failed"):
            save_small(tmp_path, update)
        with pytest.warns(DamagedCheckpoint, match="the first save was cut short"):
            assert load_small(tmp_path) is None


# ---- files that are whole and will not do


def test_another_schema_is_not_passed_over(tmp_path: Path) -> None:
    save_small(tmp_path, 1, 2)
    path = tmp_path / "0000000002.json"
    fields = json.loads(path.read_bytes())
    del fields["manifest_sha256"]
    path.write_text(sealed({**fields, "schema": 2, "urex": "9.0"}))
    with pytest.raises(UserError, match=r"0000000002.json: it is of schema 2, .* reads schema 1; use urex 9.0 that"):
        load_small(tmp_path)


def test_another_tasks_checkpoint_is_refused(tmp_path: Path) -> None:
    def policy(name: str) -> policies.Policy:
        task = tasks.get(name)
        return policies.init(jax.random.key(0), task, hidden=4, first_layer="one-hot", scale=jnp.float32(0.1))

    path = save(tmp_path, 5, {"policy": policy("copy")}, {})
    with pytest.raises(UserError) as caught:
        load(tmp_path, jax.eval_shape(lambda: {"policy": policy("reverse")}))
    assert str(caught.value).startswith(
        f"checkpoint {path}: it has 'policy.first.observation' as float32[6,16] and not float32[3,16]"
    )
    assert "belongs to another task or configuration" in str(caught.value)


# ---- disks that will not take it


class Full(io.FileIO):
    """A file on a disk with room for 100 bytes more."""

    def write(self, data: Any, /) -> int:
        super().write(memoryview(data)[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "x" / "checkpoint"
    save_small(directory, 1, 2)
    with monkeypatch.context() as patch:
        patch.setattr(durable, "open", Full, raising=False)
        with pytest.raises(UserError) as caught:
            save_small(directory, 3)
    assert str(caught.value) == (
        f"checkpoint of update 3 in {directory}: saving it failed (No space left on device); the checkpoints before it"
        f" are whole; free some space, and go on with `urex train --resume {tmp_path / 'x'}`"
    )
    assert saved(directory) == both("0000000001", "0000000002")
    save_small(directory, 3)
    found = load_small(directory)
    assert found is not None
    assert found.path.name == "0000000003.safetensors"


def test_a_place_where_nothing_can_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"saving it failed \(.*; see to it that one can write there, and go on with"):
        save_small(tmp_path / "file" / "checkpoint", 1)
    with pytest.raises(UserError, match=r"checkpoint: they could not be listed \(Not a directory\)"):
        load_small(tmp_path / "file" / "checkpoint")


def test_facts_that_json_does_not_have_leave_what_is_there(tmp_path: Path) -> None:
    save_small(tmp_path, 1)
    with pytest.raises(TypeError):
        save(tmp_path, 2, small(2), {"reward": np.float32(1.0)})  # pyright: ignore[reportArgumentType]
    assert saved(tmp_path) == both("0000000001")
