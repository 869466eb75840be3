"""The examples run, and say what they claim."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from gymnasium.utils.env_checker import check_env

from tests.episode import Played
from tests.tasks import test_conformance as conformance
from urex import tasks
from urex.interop.gymnasium import TaskEnv

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def parity() -> tasks.Task:
    """The example's task, registered as its user would."""
    return tasks.get("examples.parity:parity")


def test_parity_pays_for_the_right_answer_at_the_end_and_for_nothing_else(parity: tasks.Task) -> None:
    for seed in range(8):
        instance = parity.sample(jax.random.key(seed), jnp.int32(5))
        odd = int(jnp.sum(instance == 1)) % 2
        for answer, paid in ((1 + odd, 1.0), (2 - odd, 0.0)):
            episode = Played(parity, instance)
            for _ in range(5):
                assert episode.observation in (0, 1)
                episode.step(0)
            assert episode.observation == 2
            episode.step(answer)
            assert (episode.done, episode.total_reward) == (True, paid)
            assert float(parity.shortfall(instance, jnp.int32(5), jnp.float32(paid))) == paid - 1


def test_parity_does_what_every_task_must(parity: tasks.Task) -> None:
    conformance.test_it_can_be_a_static_argument(parity)
    conformance.test_observations_stay_in_their_range_and_episodes_in_their_steps(parity)
    conformance.test_after_the_end_nothing_moves_and_nothing_is_paid(parity)
    conformance.test_the_same_key_gives_the_same_instance_and_another_key_another(parity)


@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes.*")  # it was not made by its id
def test_parity_is_a_gymnasium_environment(parity: tasks.Task) -> None:
    env = TaskEnv(parity, render_mode="ansi")
    check_env(env)
    env.reset(seed=0, options={"level": 2})
    assert env.render() == "Parity\n  observation  " + str(int(env.reset(seed=0, options={"level": 2})[0])) + (
        "\n  action       none yet\n  score        reward +0, total +0"
    )


def test_the_worked_example_is_20_to_40_lines() -> None:
    source = (EXAMPLES / "parity.py").read_text()
    body = source.split("WAIT, EVEN, ODD")[1]
    assert 20 <= len([line for line in body.splitlines() if line.strip()]) <= 40


@pytest.mark.parametrize("arguments", [[], ["urex/ReversedAddition-v0", "--seed", "3"], ["urex/BinarySearch-v0"]])
def test_the_random_episode_is_shown_to_its_end(arguments: list[str]) -> None:
    command = [sys.executable, str(EXAMPLES / "random_episode.py"), *arguments]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.rstrip().endswith("episode over")
    assert "\x1b" not in shown
