"""A task that breaks the contract is told what is wrong, before anything is compiled."""

from typing import Any

import jax.numpy as jnp
import pytest

from tests import builtin
from urex import UserError, tasks
from urex.interop.gymnasium import TaskEnv


class Guess(tasks.Task):
    """Guess a bit; the parts below break it one way each."""

    observations = 1
    actions = (2,)
    max_steps = 1
    levels = tasks.Levels()
    reward_threshold = 1.0

    def sample(self, key: Any, level: Any) -> Any:
        del key
        return level % 2

    def start(self, instance: Any) -> Any:
        del instance
        return {"over": jnp.asarray(False)}

    def observe(self, instance: Any, state: Any) -> Any:
        del instance, state
        return jnp.int32(0)

    def step(self, instance: Any, state: Any, action: Any) -> Any:
        reward = jnp.where(action[0] == instance, 1.0, 0.0)
        return tasks.absorb(state["over"], state, ({"over": jnp.asarray(True)}, reward, jnp.asarray(True)))

    def shortfall(self, instance: Any, level: Any, total_reward: Any) -> Any:
        del instance, level
        return total_reward - 1.0


class ObservesAFloat(Guess):
    """An observation must be an integer."""

    def observe(self, instance: Any, state: Any) -> Any:
        del instance, state
        return jnp.float32(0.5)


class PaysARow(Guess):
    """A reward must be one number."""

    def step(self, instance: Any, state: Any, action: Any) -> Any:
        del instance, action
        return state, jnp.zeros(3), jnp.asarray(True)


class EndsByANumber(Guess):
    """The end must be a boolean."""

    def step(self, instance: Any, state: Any, action: Any) -> Any:
        del instance, action
        return state, jnp.float32(0), jnp.int32(1)


class ChangesItsState(Guess):
    """The state must keep its types."""

    def step(self, instance: Any, state: Any, action: Any) -> Any:
        del instance, state, action
        return {"over": jnp.int32(1)}, jnp.float32(0), jnp.asarray(True)


class LosesItsState(Guess):
    """The state must keep its structure."""

    def step(self, instance: Any, state: Any, action: Any) -> Any:
        del instance, state, action
        return (), jnp.float32(0), jnp.asarray(True)


@pytest.mark.parametrize("name", builtin.NAMES)
def test_every_registered_task_keeps_it(name: str) -> None:
    tasks.check_contract(tasks.get(name))


def made(kind: Any) -> tasks.Task:
    """The task; its class attributes are its fields, so it takes no arguments."""
    return kind()


def test_a_whole_task_keeps_it() -> None:
    tasks.check_contract(made(Guess))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (ObservesAFloat, "ObservesAFloat: observe is float32 of shape (); it must be an integer of shape ()"),
        (PaysARow, "PaysARow: step's reward is float32 of shape (3,); it must be a number of shape ()"),
        (EndsByANumber, "EndsByANumber: step's done is int32 of shape (); it must be a boolean of shape ()"),
        (
            ChangesItsState,
            "ChangesItsState: step's state['over'] is int32 of shape (), start's is bool of shape ();"
            " they must be the same",
        ),
        (LosesItsState, "LosesItsState: step's state has the structure PyTreeDef(()), start's PyTreeDef({'over': *});"),
    ],
)
def test_a_broken_one_is_told_in_a_sentence(kind: Any, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        TaskEnv(made(kind))
    assert str(error.value).startswith(sentence)
