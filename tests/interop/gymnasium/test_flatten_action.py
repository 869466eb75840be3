"""Joint actions: every one, once, and the same episodes as with tuples."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tests.interop.test_registration import IDS
from urex import UserError, tasks
from urex.interop.gymnasium import FlattenAction, TaskEnv, VectorFlattenAction


@pytest.mark.parametrize("name", IDS)
def test_every_action_has_one_number(name: str) -> None:
    env = FlattenAction(gymnasium.make(name))
    assert isinstance(env.action_space, gymnasium.spaces.Discrete)
    tuples = [tuple(int(part) for part in env.action(np.int64(i))) for i in range(int(env.action_space.n))]
    assert tuples == sorted(set(tuples))
    assert len(tuples) == np.prod([part.n for part in env.unwrapped.action_space])  # pyright: ignore
    assert all(action in env.unwrapped.action_space for action in tuples)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version.*")  # that is what a wrapper is for
def test_it_is_an_environment_that_can_be_made_from_its_spec() -> None:
    env = FlattenAction(gymnasium.make("urex/Copy-v0"))
    check_env(env, skip_render_check=True)
    assert env.spec is not None
    assert type(gymnasium.make(env.spec)).__name__ == "FlattenAction"


def test_a_vector_of_them_steps_as_the_tuples_do() -> None:
    flat = VectorFlattenAction(gymnasium.make_vec("urex/Copy-v0", num_envs=3))
    envs = gymnasium.make_vec("urex/Copy-v0", num_envs=3)
    flat.action_space.seed(0)
    assert flat.reset(seed=0)[0].tolist() == envs.reset(seed=0)[0].tolist()
    for _ in range(20):
        actions = flat.action_space.sample()
        symbol, rest = actions % 5, actions // 5
        ours, theirs = flat.step(actions), envs.step((rest // 2, rest % 2, symbol))
        assert [part.tolist() for part in ours[:3]] == [part.tolist() for part in theirs[:3]]


@pytest.mark.parametrize("action", [-1, 20, 0.5, (1, 2)])
def test_a_wrong_action_is_told(action: object) -> None:
    env = FlattenAction(TaskEnv(tasks.get("copy")))
    env.reset(seed=0)
    with pytest.raises(UserError, match="it must be an integer from 0 to 19"):
        env.step(action)  # pyright: ignore[reportArgumentType]


def test_a_wrong_batch_of_actions_is_told() -> None:
    envs = VectorFlattenAction(gymnasium.make_vec("urex/Copy-v0", num_envs=2))
    envs.reset(seed=0)
    for actions in (np.array([1]), np.array([1, 20]), np.array([0.5, 1])):
        with pytest.raises(UserError, match=r"it must be integers of shape \(2,\), each from 0 to 19"):
            envs.step(actions)


def test_other_spaces_are_refused() -> None:
    with pytest.raises(UserError, match="only a Tuple of Discrete spaces can be flattened to one integer"):
        FlattenAction(gymnasium.make("CartPole-v1"))
