"""The paper's settings for each of its tasks (section "Experiments")."""

from typing import NamedTuple


class Preset(NamedTuple):
    """How a task is trained unless one asks for something else."""

    num_updates: int
    instances: int = 40
    """N"""
    samples: int = 10
    """K"""
    learning_rate: float = 0.01
    """Of the paper's three, the one at which most of its trials succeed (its Tables 3 to 8)."""


ADDITION = Preset(num_updates=50_000, learning_rate=0.001)

PRESETS = {
    "copy": Preset(num_updates=2_000, instances=20),
    "duplicated-input": Preset(num_updates=500),
    "repeat-copy": Preset(num_updates=50_000),
    "reverse": Preset(num_updates=5_000),
    "reversed-addition": ADDITION,
    "reversed-addition3": ADDITION,
    "reversed-addition3-extended": ADDITION,
    "binary-search": Preset(num_updates=2_000),
}
"""The paper does not train on ReversedAddition3; here it is trained like ReversedAddition."""
OTHERS = Preset(num_updates=5_000)
"""For tasks that are not among them."""

TEMPERATURES = {"reinforce": 0.0, "ment": 0.01}
"""Where an objective's is not the default: MENT's is the best of the four in the paper's Table 1."""
DEFAULT_TEMPERATURE = 0.1
"""UREX's in the paper."""

INIT_SCALES = {"embedding": 0.3, "one-hot": 1.0}
"""Of each form of the first layer: the embedding's is a deviation, measured (`docs/defaults.md`); that
of one-hot inputs a factor of Glorot's."""


def preset_for(task: str) -> Preset:
    """The settings of a task by its name; `module:name` counts as `name`."""
    return PRESETS.get(task.rpartition(":")[2], OTHERS)
