"""Registers the Gymnasium environments by entry points that are strings, so that JAX is not imported.

It stands beside the package `urex.interop.gymnasium`, whose own import brings JAX with it.
"""

from gymnasium.envs.registration import register, registry

ENVIRONMENTS = {
    "urex/Copy-v0": ("copy", 25.0),
    "urex/DuplicatedInput-v0": ("duplicated-input", 9.0),
    "urex/RepeatCopy-v0": ("repeat-copy", 75.0),
    "urex/Reverse-v0": ("reverse", 25.0),
    "urex/ReversedAddition-v0": ("reversed-addition", 25.0),
    "urex/ReversedAddition3-v0": ("reversed-addition3", 25.0),
    "urex/BinarySearch-v0": ("binary-search", 9.0),
}
"""For each environment the task's name and its reward threshold."""


def register_environments() -> None:
    """Make every id known to Gymnasium; those that are known already are left alone."""
    for name, (task, threshold) in ENVIRONMENTS.items():
        if name not in registry:
            register(
                name,
                entry_point="urex.interop.gymnasium:make_env",
                vector_entry_point="urex.interop.gymnasium:make_vector_env",
                reward_threshold=threshold,
                kwargs={"task": task},
            )
