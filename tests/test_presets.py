"""The paper's settings: all of its tasks have theirs, and each makes a trial."""

import pytest

from urex import tasks
from urex.presets import OTHERS, PRESETS, preset_for
from urex.trial import prepare

UPDATES = {
    "copy": 2_000,
    "repeat-copy": 50_000,
    "duplicated-input": 500,
    "reverse": 5_000,
    "reversed-addition": 50_000,
    "binary-search": 2_000,
}
"""The paper's appendix, in its order: Copy, RepeatCopy, DuplicatedInput, Reverse, ReversedAddition, BinarySearch."""


def test_every_registered_task_of_ours_has_a_preset() -> None:
    assert {name for name in tasks.names() if name in PRESETS} == PRESETS.keys()
    assert PRESETS.keys() > UPDATES.keys()


@pytest.mark.parametrize("name", PRESETS)
def test_each_makes_a_trial(name: str) -> None:
    trial, preset = prepare(name, {}), PRESETS[name]
    assert (trial.num_updates, trial.hypers.learning_rate) == (preset.num_updates, preset.learning_rate)
    assert (trial.config.instances, trial.config.samples) == (preset.instances, preset.samples)


@pytest.mark.parametrize("name", UPDATES)
def test_sizes_are_those_of_the_appendix(name: str) -> None:
    preset = preset_for(name)
    assert (preset.num_updates, preset.samples) == (UPDATES[name], 10)
    assert preset.instances == (20 if name == "copy" else 40)
    assert preset.learning_rate in (0.1, 0.01, 0.001)


def test_a_module_before_the_name_changes_nothing_and_others_have_the_common_one() -> None:
    assert preset_for("my.module:copy") == PRESETS["copy"]
    assert preset_for("my.module:mine") == preset_for("mine") == OTHERS
