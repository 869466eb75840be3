"""From what people ask for to a trial: every setting arrives, and nothing is left open."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from tests.runs.probe import Echo
from urex import UserError, devices, objectives, tasks
from urex.config import Config, Hypers
from urex.recipe import Recipe
from urex.tasks import Task
from urex.trial import check_used, extended, make_task, prepare, read, share

GIVEN: dict[str, Any] = {
    "objective": "ment",
    "tau": 0.02,
    "learning_rate": 0.03,
    "clip_norm": 7.0,
    "num_updates": 9,
    "seed": 5,
    "until_solved": True,
    "instances": 3,
    "samples": 4,
    "max_length": 9,
    "time_limit": "3w+5",
    "window": 11,
    "centred": True,
    "hidden": 6,
    "first_layer": "one-hot",
    "init_scale": 0.7,
    "adam_epsilon": 1e-4,
    "kernel": "xla",
    "cores": 3,
    "learner": "double-q",
    "exploration": 0.4,
    "exploration_decay": 0.9,
    "sync_every": 13,
}


def test_every_setting_of_a_recipe_arrives() -> None:
    assert GIVEN.keys() == {field.name for field in dataclasses.fields(Recipe)}
    trial = prepare("copy", GIVEN)
    assert trial.recipe == Recipe(**GIVEN)
    assert trial.config == Config(
        task=tasks.get("copy", max_length=9, time_limit="3w+5"),
        learner="double-q",
        objective="ment",
        centred=True,
        instances=3,
        samples=4,
        first_layer="one-hot",
        hidden=6,
        window=11,
    )
    assert trial.hypers == Hypers(
        learning_rate=0.03,
        clip_norm=7.0,
        tau=0.02,
        adam_epsilon=1e-4,
        init_scale=0.7,
        exploration=0.4,
        exploration_decay=0.9,
        sync_every=13,
    )
    assert (trial.task, trial.num_updates, trial.seed) == ("copy", 9, 5)


def test_none_of_them_is_a_default() -> None:
    """Or the test before would not show that it arrives."""
    default = dataclasses.asdict(prepare("copy", {}).recipe)
    assert [name for name, value in GIVEN.items() if default[name] == value] == []


@pytest.mark.parametrize("task", ["copy", "binary-search"])
def test_what_is_written_of_a_recipe_makes_the_same_trial(task: str) -> None:
    trial = prepare(task, {"seed": 3})
    fields = json.loads(json.dumps(dataclasses.asdict(trial.recipe)))
    assert prepare(task, fields) == trial


def test_what_is_left_open_is_the_papers() -> None:
    trial = prepare("reverse", {})
    assert (trial.config.objective, trial.hypers.tau) == ("urex", 0.1)
    assert (trial.config.instances, trial.config.samples, trial.config.hidden) == (40, 10, 128)
    assert (trial.num_updates, trial.seed, trial.hypers.clip_norm) == (5000, 0, 40.0)
    assert None not in (getattr(trial.recipe, name) for name in GIVEN.keys() - {"max_length", "time_limit"})


@pytest.mark.parametrize(
    ("objective", "tau"), [("urex", 0.1), ("raml", 0.1), ("rwr", 0.1), ("ment", 0.01), ("reinforce", 0.0)]
)
def test_each_objective_has_its_temperature(objective: str, tau: float) -> None:
    assert prepare("copy", {"objective": objective}).hypers.tau == tau
    assert prepare("copy", {"objective": objective, "tau": 0.5}).hypers.tau == 0.5


@pytest.mark.parametrize(("first_layer", "init_scale"), [("embedding", 0.3), ("one-hot", 1.0)])
def test_each_first_layer_has_its_scale(first_layer: str, init_scale: float) -> None:
    assert prepare("copy", {"first_layer": first_layer}).hypers.init_scale == init_scale
    assert prepare("copy", {"first_layer": first_layer, "init_scale": 0.5}).hypers.init_scale == 0.5


def test_numbers_may_be_numpys_and_are_kept_as_pythons() -> None:
    settings = {"seed": np.int64(3), "tau": np.float32(0.5), "learning_rate": np.float64(0.1), "clip_norm": 40}
    recipe = prepare("copy", settings).recipe
    assert json.loads(json.dumps(dataclasses.asdict(recipe))) == dataclasses.asdict(recipe)
    assert (recipe.seed, recipe.tau, recipe.clip_norm) == (3, 0.5, 40.0)
    assert {type(recipe.seed), type(recipe.tau), type(recipe.clip_norm)} == {int, float}


def test_an_objective_that_is_a_function_is_in_the_configuration_alone() -> None:
    def mine(log_prob: Any, reward: Any, tau: Any) -> Any:
        return objectives.ment(log_prob, reward, tau)

    trial = prepare("copy", {"objective": mine})
    assert trial.config.objective is mine
    assert (trial.recipe.objective, trial.hypers.tau) == (None, 0.1)


def test_a_registered_function_is_its_name() -> None:
    assert prepare("copy", {"objective": objectives.ment}) == prepare("copy", {"objective": "ment"})


@pytest.mark.parametrize(
    ("cores", "there", "lanes", "expected"),
    [
        (None, 2, 200, 2),
        (None, 1, 200, 1),
        (None, 2, 79, 1),
        (None, 8, 400, 8),
        (None, 3, 400, 2),
        (None, 8, 200, 5),
        (2, 2, 20, 2),
        (1, 2, 400, 1),
        (None, 4, 150, 3),
    ],
)
def test_cores_share_the_lanes_alike(
    cores: int | None, there: int, lanes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as are asked for or worth it, less those that would make the shares unequal."""
    monkeypatch.setattr(devices, "cores", lambda: there)
    assert share(cores, lanes) == expected


def test_cores_that_would_have_unequal_shares_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cores", lambda: 4)
    with pytest.raises(UserError, match="cores 3: it must divide the 20 episodes of an update"):
        share(3, 20)


def test_what_cores_share_is_told_by_recipe_and_configuration() -> None:
    for settings, expected in (({}, 2), ({"cores": 1}, 1), ({"instances": 5}, 1), ({"learner": "double-q"}, 1)):
        trial = prepare("copy", settings)
        assert (trial.recipe.cores, trial.config.cores) == (expected, expected)


@pytest.mark.parametrize("cores", [0, 3, -1])
def test_there_are_no_more_cores_than_devices(cores: int) -> None:
    with pytest.raises(
        UserError, match=f"cores {cores}: it must be 1 to 2, the devices that JAX computes on here; JAX"
    ):
        prepare("copy", {"cores": cores})


def test_a_trial_can_be_made_longer() -> None:
    short = prepare("copy", {"num_updates": 5, "until_solved": True, "seed": 3})
    assert extended(short, 9) == prepare("copy", {"num_updates": 9, "seed": 3})


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"learner": "double-q", "objective": "ment"}, "objective 'ment': learner 'double-q' makes no use of it"),
        ({"learner": "double-q", "tau": 0.1}, "tau 0.1: learner 'double-q' makes no use of it; leave it away"),
        ({"learner": "double-q", "centred": True}, "centred True: learner 'double-q' makes no use of it"),
        ({"exploration": 0.1}, "exploration 0.1: learner 'policy-gradient' makes no use of it"),
        ({"sync_every": 5}, "sync_every 5: learner 'policy-gradient' makes no use of it"),
    ],
)
def test_what_a_learner_makes_no_use_of_is_told(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        check_used(settings)


def test_what_is_left_open_is_used() -> None:
    check_used({})
    check_used({"learner": "double-q", "objective": None, "centred": False, "exploration": 0.1, "sync_every": 3})
    check_used({"objective": "ment", "tau": 0.0, "centred": True, "exploration": None})


def test_a_task_that_is_an_object_is_taken_as_it_is() -> None:
    task = tasks.get("copy", max_length=7)
    trial = prepare(task, {})
    assert trial.config.task is task
    assert (trial.task, trial.num_updates) == ("TapeTask", 5000)


def test_a_task_that_breaks_its_contract_is_told_of() -> None:
    class Broken(Echo):
        def observe(self, instance: Any, state: Any) -> Any:
            return super().observe(instance, state) * 1.0

    with pytest.raises(UserError, match=r"observe is float32 of shape .*; it must be an integer"):
        prepare(Broken(), {})


def test_the_task_of_a_recipe_can_be_made_with_other_options() -> None:
    recipe = Recipe(max_length=9, time_limit="3w+5")
    assert make_task("copy", recipe) == tasks.get("copy", max_length=9, time_limit="3w+5")
    assert make_task("copy", recipe, max_length=100) == tasks.get("copy", max_length=100, time_limit="3w+5")
    assert make_task("reverse", Recipe()) == tasks.get("reverse")


def test_a_task_without_an_option_is_not_given_it() -> None:
    assert isinstance(prepare("binary-search", {}).config.task, Task)
    with pytest.raises(UserError, match="unknown option of binary-search 'time_limit': known are max_length"):
        prepare("binary-search", {"time_limit": "2w+4"})


def test_a_recipe_says_what_is_given() -> None:
    assert Recipe().given() == {}
    assert Recipe(**GIVEN).given() == GIVEN
    assert Recipe(seed=0, tau=0.0).given() == {"seed": 0, "tau": 0.0}
    assert read({}) == Recipe()
    with pytest.raises(UserError, match="unknown setting 'sed': did you mean 'seed'"):
        read({"sed": 1})
