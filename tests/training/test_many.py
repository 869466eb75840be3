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


@pytest.mark.parametrize("kernel", [XLA, pytest.param(RAGGED, marks=pytest.mark.slow)], ids=lambda kernel: kernel.name)
def test_each_trial_is_as_it_would_be_alone(kernel: Kernel) -> None:
    config = Config(TASK, instances=3, samples=4, hidden=8, kernel=kernel)
    together = train_many(config, GRID, KEYS, UPDATES, devices=1)
    for trial in (0, 5):
        assert_alike(together, train_many(config, of(GRID, trial), KEYS[trial : trial + 1], UPDATES), [trial])
    recurrent = np.asarray(together.policy.recurrent)
    assert len({recurrent[trial].tobytes() for trial in range(6)}) == 6, "or they are all one trial"


@pytest.mark.parametrize(("trials", "kernel"), [(5, XLA), pytest.param(4, RAGGED, marks=pytest.mark.slow)])
def test_spread_over_two_devices_they_are_the_same(trials: int, kernel: Kernel) -> None:
    """An odd one out too: the last device gets a trial that fills it, and nothing is told of that."""
    config = Config(TASK, instances=3, samples=4, hidden=8, kernel=kernel)
    hypers, keys = jax.tree.map(lambda leaf: leaf[:trials], GRID), KEYS[:trials]
    one, two = (train_many(config, hypers, keys, UPDATES, devices=devices) for devices in (1, 2))
    assert_alike(one, two, list(range(trials)))
    (a,), (b,) = one.metrics, two.metrics
    for name in ("env_steps", "level", "reward_mean"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-5, err_msg=name)
        assert getattr(b, name).shape == (UPDATES, trials)
    assert np.array_equal(a.executed, b.executed), "the longest episode of all, on whatever device it was"


@pytest.mark.parametrize("trials", [5])
def test_what_is_used_is_told_of_all_devices(trials: int) -> None:
    """Each device's rounds times its lanes are what was executed; a trial that fills a device is of no use."""
    hypers, keys = jax.tree.map(lambda leaf: leaf[:trials], GRID), KEYS[:trials]
    (log,) = train_many(CONFIG, hypers, keys, 1, devices=2).metrics
    halves = [
        train_many(CONFIG, jax.tree.map(lambda x, s=s: x[s], hypers), keys[s], 1).metrics[0]
        for s in (slice(3), slice(3, 6))
    ]
    executed = sum(float(half.executed[0]) for half in halves) * 3 * CONFIG.lanes
    np.testing.assert_allclose(log.lane_utilisation[0], log.env_steps[0].sum() / executed, rtol=1e-5)


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


@pytest.mark.parametrize(
    ("hypers", "keys", "more", "sentence"),
    [
        (of(GRID, 0), KEYS, {}, r"learning_rate: it is of shape \(1,\), and there are 6 keys"),
        (GRID, KEYS[:0], {}, "keys: there are none"),
        (GRID._replace(tau=GRID.tau.at[3].set(0.0)), KEYS, {}, "tau 0.0: objective 'urex' divides rewards by it"),
        (GRID, KEYS, {"devices": 0}, "devices 0: it must be 1 to 2"),
        (GRID, KEYS, {"devices": 3}, "devices 3: it must be 1 to 2"),
    ],
)
def test_what_cannot_be_trained(hypers: Hypers, keys: jax.Array, more: dict[str, int], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        train_many(CONFIG, hypers, keys, UPDATES, **more)  # pyright: ignore[reportArgumentType]


def test_cores_and_devices_are_not_both_shared_out() -> None:
    shared = Config(TASK, instances=3, samples=4, hidden=8, kernel=RAGGED, cores=2)
    with pytest.raises(UserError, match="devices 2: with cores 2 the devices share each trial; give cores 1"):
        train_many(shared, GRID, KEYS, UPDATES, devices=2)
    assert_alike(
        train_many(CONFIG, of(GRID, 1), KEYS[1:2], UPDATES), train_many(shared, of(GRID, 1), KEYS[1:2], 4), [0]
    )


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
