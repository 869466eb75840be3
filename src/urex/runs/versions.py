"""What a result was made with."""

import importlib.metadata
import platform

import jax

PACKAGES = ("urex", "jax", "jaxlib", "equinox", "optax", "numpy")


def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # urex run from its source, uninstalled
            found[package] = "unknown"
    return found


def device() -> str:
    """The device that JAX computes on."""
    first = jax.devices()[0]
    return f"{first.platform}: {first.device_kind}"
