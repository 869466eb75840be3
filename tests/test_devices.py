"""How many cores are used, and that what is settled already is left alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from urex import devices


@pytest.mark.parametrize(
    ("before", "environment", "count"),
    [
        ("", {}, "3"),
        ("jax.numpy.zeros(1)", {}, "1"),
        ("", {"JAX_NUM_CPU_DEVICES": "1"}, "1"),
        ("", {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}, "2"),
    ],
    ids=["", "in use", "told", "told by flags"],
)
def test_cores_are_devices_unless_jax_is_in_use_or_was_told(
    before: str, environment: dict[str, str], count: str
) -> None:
    source = f"import jax; {before}\nfrom urex.devices import use_cores; use_cores(3); print(jax.device_count())"
    env = {name: value for name, value in os.environ.items() if name not in ("JAX_NUM_CPU_DEVICES", "XLA_FLAGS")}
    env |= {"JAX_PLATFORMS": "cpu", **environment}
    told = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, check=True)
    assert told.stdout == f"{count}\n"


@pytest.mark.parametrize(
    ("quota", "expected"), [("100000 100000", 1), ("50000 100000", 1), ("350000 100000", 3), ("max 100000", 9)]
)
def test_a_share_of_the_machine_is_all_there_is(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(quota + "\n")
    monkeypatch.setattr(devices, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(9)), raising=False)
    assert devices.there() == expected


def test_cores_are_those_of_the_cpu_that_jax_computes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert devices.cores() == 2
    monkeypatch.setattr("jax.default_backend", lambda: "gpu")
    assert devices.cores() == 1
