"""Many trials in one program: spread over devices, in groups that fit, each as it would be alone."""

import json
import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from tests.runs.probe import Echo
from urex.config import Config, Hypers, stack_hypers
from urex.errors import UserError
from urex.kernels import XLA, Kernel
from urex.kernels.ragged import RAGGED
from urex.training import Many, memory, train_many

TASK = Echo()
CONFIG = Config(TASK, instances=3, samples=4, hidden=8)
GRID = stack_hypers([Hypers(learning_rate=rate, tau=tau) for rate in (0.03, 0.01, 0.003) for tau in (0.1, 1.0)])
KEYS = jax.random.split(jax.random.key(0), 6)
UPDATES = 4


def of(hypers: Hypers, trial: int) -> Hypers:
    return jax.tree.map(lambda leaf: leaf[trial : trial + 1], hypers)


def assert_alike(one: Many, other: Many, trials: list[int], rtol: float = 2e-3) -> None:
    """The second has those trials of the first, but for rounding."""
    for a, b in zip(jax.tree.leaves(one.policy), jax.tree.leaves(other.policy), strict=True):
        np.testing.assert_allclose(np.asarray(a)[trials], b, rtol=rtol, atol=2e-4)
    assert list(one.level[trials]) == list(other.level)
    assert list(one.solved_at_update[trials]) == list(other.solved_at_update)


@pytest.mark.parametrize("kernel", [XLA, RAGGED], ids=lambda kernel: kernel.name)
def test_each_trial_is_as_it_would_be_alone(kernel: Kernel) -> None:
    config = Config(TASK, instances=3, samples=4, hidden=8, kernel=kernel)
    together = train_many(config, GRID, KEYS, UPDATES, devices=1)
    for trial in (0, 5):
        assert_alike(together, train_many(config, of(GRID, trial), KEYS[trial : trial + 1], UPDATES), [trial])
    recurrent = np.asarray(together.policy.recurrent)
    assert len({recurrent[trial].tobytes() for trial in range(6)}) == 6, "or they are all one trial"


@pytest.mark.parametrize("trials", [6, 5])
def test_spread_over_two_devices_they_are_the_same(trials: int) -> None:
    """An odd one out too: the last device gets a trial that fills it, and nothing is told of that."""
    hypers, keys = jax.tree.map(lambda leaf: leaf[:trials], GRID), KEYS[:trials]
    one, two = (train_many(CONFIG, hypers, keys, UPDATES, devices=devices) for devices in (1, 2))
    assert_alike(one, two, list(range(trials)))
    (a,), (b,) = one.metrics, two.metrics
    for name in ("env_steps", "level", "reward_mean"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-5, err_msg=name)
        assert getattr(b, name).shape == (UPDATES, trials)
    assert np.array_equal(a.executed, b.executed), "the longest episode of all, on whatever device it was"


def test_what_is_used_is_told_of_all_devices() -> None:
    """With an even number of trials, each device's rounds times its lanes are what was executed."""
    (log,) = train_many(CONFIG, GRID, KEYS, UPDATES, devices=2).metrics
    (alone,) = train_many(CONFIG, GRID, KEYS, UPDATES, devices=1).metrics
    assert (log.lane_utilisation >= alone.lane_utilisation - 1e-6).all(), "no device waits for another's episodes"
    assert (log.lane_utilisation <= 1).all()


def test_groups_that_do_not_fit_together_come_after_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train_many(CONFIG, GRID, KEYS, UPDATES, devices=1)
    monkeypatch.setattr(memory, "device_memory", lambda: int(2.5 * memory.bytes_per_trial(CONFIG)))
    parts = train_many(CONFIG, GRID, KEYS, UPDATES, devices=1)
    assert len(parts.metrics) == 3
    assert_alike(whole, parts, list(range(6)))


@pytest.mark.parametrize(("trials", "fit", "devices", "sizes"), [(60, 60, 1, [60]), (60, 25, 1, [20] * 3)])
def test_groups_are_of_equal_size(
    trials: int, fit: int, devices: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "device_memory", lambda: fit * memory.bytes_per_trial(CONFIG))
    assert memory.group_sizes(CONFIG, trials, devices) == sizes


def test_groups_are_larger_on_more_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "device_memory", lambda: 5 * memory.bytes_per_trial(CONFIG))
    assert memory.group_sizes(CONFIG, 21, 1) == [5, 4, 4, 4, 4]
    assert memory.group_sizes(CONFIG, 21, 4) == [11, 10]


def test_when_not_even_one_fits_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "device_memory", lambda: 1 << 10)
    with pytest.raises(UserError, match=r"one trial needs about .* GiB and the device has 0.0 GiB: take fewer"):
        train_many(CONFIG, GRID, KEYS, UPDATES)


def test_memory_grows_with_what_is_kept() -> None:
    """By hand for the reference: h and c of every step of 12 lanes in 32 bits are most of it."""
    longer = Config(TASK, instances=6, samples=4, hidden=8)
    kept = 2 * TASK.max_steps * 12 * 8 * 4
    assert memory.bytes_per_trial(longer) - memory.bytes_per_trial(CONFIG) > kept


def test_it_may_end_when_all_are_solved() -> None:
    seen = []
    watch = lambda chunk: seen.append(chunk.updates)  # noqa: E731
    train_many(CONFIG, of(GRID, 0), KEYS[:1], 3000, until_solved=True, devices=1, watch=watch)
    assert seen[-1] < 3000


EIGHT = """
import json, sys
import jax, numpy as np
sys.path.insert(0, ".")
from tests.training.test_many import CONFIG, GRID, KEYS
from urex.training import train_many
assert jax.device_count() == 8
found = [train_many(CONFIG, GRID, KEYS, 3, devices=devices) for devices in (1, 8)]
print(json.dumps([np.asarray(each.policy.recurrent).tolist() for each in found]))
"""


def test_eight_devices() -> None:
    """More than there are trials: as many are used as have one."""
    done = subprocess.run(
        [sys.executable, "-c", EIGHT],
        env=os.environ | {"JAX_NUM_CPU_DEVICES": "8", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    one, eight = json.loads(done.stdout)
    np.testing.assert_allclose(one, eight, rtol=2e-3, atol=2e-4)
