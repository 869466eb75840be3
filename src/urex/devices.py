"""How many cores of the CPU JAX computes on: each is a device, and their number is settled at JAX's first use."""

import contextlib
import os
from pathlib import Path

MOST = 2
"""The cores that are used unless others are asked for; more have not been measured."""
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux keeps a container's share of the machine: microseconds of computing in so many microseconds."""


def use_cores(count: int | None = None) -> None:
    """Let JAX compute on so many cores of the CPU; by default on those there are, but no more than MOST.

    Nothing is changed if JAX is in use already, or was told a number by its own settings.
    """
    import jax

    told = jax.config.jax_num_cpu_devices >= 0  # pyright: ignore[reportAttributeAccessIssue]  -1 until it is told
    if told or "host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    with contextlib.suppress(RuntimeError):  # what JAX raises when it is too late
        jax.config.update("jax_num_cpu_devices", max(1, min(there(), MOST) if count is None else count))


def there() -> int:
    """The cores that this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = _QUOTA.read_text().split()
        count = min(count, max(1, int(quota) // int(period)))
    return count


def cores() -> int:
    """The devices of the CPU if JAX computes on it, else 1: other devices are not divided."""
    import jax

    return jax.local_device_count() if jax.default_backend() == "cpu" else 1
