"""The environments are known to Gymnasium by name, and its own checker finds nothing to say."""

import subprocess
import sys

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from urex import tasks
from urex.interop.registration import ENVIRONMENTS, register_environments

IDS = (
    "urex/Copy-v0",
    "urex/DuplicatedInput-v0",
    "urex/RepeatCopy-v0",
    "urex/Reverse-v0",
    "urex/ReversedAddition-v0",
    "urex/ReversedAddition3-v0",
    "urex/BinarySearch-v0",
)


def test_the_names_that_scripts_rely_on() -> None:
    assert tuple(ENVIRONMENTS) == IDS


@pytest.mark.parametrize("name", IDS)
def test_the_entry_points_are_strings_and_nothing_truncates(name: str) -> None:
    spec = gymnasium.spec(name)
    assert isinstance(spec.entry_point, str)
    assert isinstance(spec.vector_entry_point, str)
    assert spec.max_episode_steps is None
    assert spec.reward_threshold == tasks.get(ENVIRONMENTS[name][0]).reward_threshold


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_gymnasiums_checker_passes_without_a_warning(name: str, render_mode: str | None) -> None:
    """Warnings are errors in all tests; the id makes it try every render mode."""
    check_env(gymnasium.make(name, render_mode=render_mode).unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_make_vec_makes_the_native_environment(name: str) -> None:
    envs = gymnasium.make_vec(name, num_envs=3, autoreset_mode="SameStep")
    assert type(envs.unwrapped).__name__ == "TaskVectorEnv"
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space


def test_an_environment_can_be_made_again_from_its_spec() -> None:
    env = gymnasium.make("urex/Copy-v0", max_length=100, level=7)
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))  # pyright: ignore
    assert env.reset(seed=4)[1] == again.reset(seed=4)[1]


def test_registering_twice_says_nothing() -> None:
    register_environments()


def test_a_process_that_only_knows_the_module_can_make_them() -> None:
    """Gymnasium's `module:id` form, as worker processes use it."""
    source = "import gymnasium; print(gymnasium.make('urex:urex/Copy-v0').reset(seed=0)[0])"
    run = subprocess.run([sys.executable, "-W", "error", "-c", source], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
