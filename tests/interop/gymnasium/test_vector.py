"""The vector environment against single ones, in every autoreset mode, and what it says of wrong input."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.interop.test_registration import IDS
from urex import UserError, tasks
from urex.interop.gymnasium import TaskEnv, TaskVectorEnv
from urex.interop.gymnasium.lanes import CHUNK

COUNT = 5
STEPS = 60
SEED = 11


def singles(name: str) -> list[gymnasium.Env]:
    """The same environments, one by one."""
    return [gymnasium.make(name) for _ in range(COUNT)]


def started(name: str, mode: AutoresetMode, **options: Any) -> tuple[TaskVectorEnv, list, np.ndarray, dict]:
    """A vector environment and single ones, reset alike; what the reset returned, and random actions."""
    envs = gymnasium.make_vec(name, num_envs=COUNT, autoreset_mode=mode, **options)
    assert isinstance(envs, TaskVectorEnv)
    envs.action_space.seed(SEED)
    return envs, singles(name), *envs.reset(seed=SEED)


def of(infos: dict[str, Any], i: int) -> dict[str, Any]:
    """The info of one environment, as a single one gives it."""
    there = [name for name in infos if f"_{name}" in infos and not name.startswith("final_")]
    mine = {name: infos[name][i] for name in there if infos[f"_{name}"][i]}
    if "target_length" in mine:
        length = mine.pop("target_length")
        assert (mine["target"][length:] == -1).all()
        mine["target"] = mine["target"][:length]
    return {name: np.asarray(value).tolist() for name, value in mine.items()}


def plain(info: dict[str, Any]) -> dict[str, Any]:
    """The info of a single environment with lists for arrays."""
    return {name: np.asarray(value).tolist() for name, value in info.items()}


@pytest.mark.parametrize("name", IDS)
def test_next_step(name: str) -> None:
    envs, ones, observations, infos = started(name, AutoresetMode.NEXT_STEP)
    for i, env in enumerate(ones):
        observation, info = env.reset(seed=SEED + i)
        assert (observations[i], of(infos, i)) == (observation, plain(info))
    over = [False] * COUNT
    ended = 0
    for _ in range(STEPS):
        actions = envs.action_space.sample()
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert not truncations.any()
        for i, env in enumerate(ones):
            if over[i]:
                observation, info = env.reset()
                reward, over[i] = 0.0, False
            else:
                observation, reward, over[i], _, info = env.step(tuple(part[i] for part in actions))
            assert (observations[i], rewards[i], terminations[i]) == (observation, reward, over[i])
            assert of(infos, i) == plain(info)
            ended += over[i]
    assert ended or name == "urex/BinarySearch-v0"


@pytest.mark.parametrize("name", IDS)
def test_same_step(name: str) -> None:
    envs, ones, _, _ = started(name, AutoresetMode.SAME_STEP)
    for i, env in enumerate(ones):
        env.reset(seed=SEED + i)
    for _ in range(STEPS):
        actions = envs.action_space.sample()
        observations, rewards, terminations, _, infos = envs.step(actions)
        assert ("final_obs" in infos) is bool(terminations.any())
        for i, env in enumerate(ones):
            observation, reward, over, _, info = env.step(tuple(part[i] for part in actions))
            assert (rewards[i], terminations[i]) == (reward, over)
            if terminations.any():
                assert infos["_final_obs"][i] == infos["_final_info"][i] == over
            if over:
                assert infos["final_obs"][i] == observation
                assert of(infos["final_info"], i) == plain(info)
                observation, info = env.reset()
            assert observations[i] == observation
            assert of(infos, i) == plain(info)


def test_disabled() -> None:
    envs, ones, _, _ = started("urex/Copy-v0", AutoresetMode.DISABLED)
    for i, env in enumerate(ones):
        env.reset(seed=SEED + i)
    resets = 0
    for _ in range(STEPS):
        actions = envs.action_space.sample()
        observations, rewards, terminations, _, infos = envs.step(actions)
        stepped = [env.step(tuple(part[i] for part in actions)) for i, env in enumerate(ones)]
        assert observations.tolist() == [step[0] for step in stepped]
        assert rewards.tolist() == [step[1] for step in stepped]
        assert terminations.tolist() == [step[2] for step in stepped]
        if terminations.any():
            observations, infos = envs.reset(options={"reset_mask": terminations})
            assert infos["_target"].tolist() == terminations.tolist()
            for i, env in enumerate(ones):
                if terminations[i]:
                    observation, info = env.reset()
                    assert (observations[i], of(infos, i)) == (observation, plain(info))
                    resets += 1
                else:
                    assert observations[i] == stepped[i][0]
    assert resets > COUNT


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_gymnasiums_own_vector_environment_tells_the_same(mode: AutoresetMode) -> None:
    """All but `target`, whose ragged form Gymnasium has no arrays for."""
    envs = gymnasium.make_vec("urex/Copy-v0", num_envs=COUNT, autoreset_mode=mode)
    theirs = gymnasium.make_vec(
        "urex/Copy-v0", num_envs=COUNT, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}
    )
    envs.action_space.seed(SEED)
    assert envs.reset(seed=SEED)[0].tolist() == theirs.reset(seed=SEED)[0].tolist()
    for _ in range(STEPS):
        actions = envs.action_space.sample()
        (*ours, our_infos), (*their, their_infos) = envs.step(actions), theirs.step(actions)
        for a, b in zip(ours, their, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        assert our_infos.keys() - {"target_length", "_target_length"} == their_infos.keys()
        for name in ("time_limit", "read_head", "write_head", "_write_head"):
            np.testing.assert_array_equal(our_infos[name], their_infos[name])
        if "final_obs" in their_infos:
            assert our_infos["final_obs"].tolist() == their_infos["final_obs"].tolist()
            ours_final, their_final = our_infos["final_info"], their_infos["final_info"]
            over = their_infos["_final_info"]
            np.testing.assert_array_equal(ours_final["write_head"][over], their_final["write_head"][over])
            np.testing.assert_array_equal(ours_final["_write_head"], their_final["_write_head"])


def test_seeds_repeat_and_their_absence_does_not() -> None:
    def targets(seed: Any) -> list:
        return gymnasium.make_vec("urex/Copy-v0", num_envs=3).reset(seed=seed)[1]["target"].tolist()

    assert targets(5) == targets(5) == targets([5, 6, 7])
    assert targets(5) != targets(6)
    assert targets(None) != targets(None)
    assert targets([5, None, 7])[::2] == targets(5)[::2]


def test_options_hold_for_the_environments_that_are_reset() -> None:
    envs = gymnasium.make_vec("urex/Copy-v0", num_envs=3, autoreset_mode="Disabled", level=2)
    envs.reset(seed=0)
    mask = np.array([False, True, False])
    _, infos = envs.reset(options={"tape": [3, 1, 4], "reset_mask": mask})
    assert infos["target"][1][:4].tolist() == [3, 1, 4, -1]
    assert infos["target_length"][1] == 3
    assert infos["_target"].tolist() == mask.tolist()
    _, infos = envs.reset(options={"length": 20})
    assert infos["target_length"].tolist() == [20] * 3
    assert infos["target"].shape == (3, 32)


def test_arrays_are_the_callers_to_keep() -> None:
    """What was returned does not change as the environments go on."""
    envs = gymnasium.make_vec("urex/Copy-v0", num_envs=3)
    kept = envs.reset(seed=0)
    copies = kept[0].copy(), {name: value.copy() for name, value in kept[1].items()}
    for _ in range(5):
        observations, _, terminations, _, infos = envs.step(envs.action_space.sample())
        observations[:] = 3
        terminations[:] = True
        infos["target"][:] = 9
    np.testing.assert_equal(kept, copies)


def test_every_environment_is_drawn() -> None:
    envs = TaskVectorEnv(tasks.get("copy"), 2, render_mode="ansi")
    envs.reset(seed=0, options={"tape": [2, 0]})
    envs.step((np.array([1, 1]), np.array([1, 0]), np.array([2, 0])))
    pictures = envs.render()
    assert pictures is not None
    first, second = pictures
    assert first.splitlines()[-2:] == ["  action  right, write C", "  score   reward +1, total +1"]
    assert second.splitlines()[0] == "environment 1"
    assert second.splitlines()[-2:] == ["  action  right", "  score   reward +0, total +0"]
    assert TaskVectorEnv(tasks.get("copy"), 2).render() is None


def test_a_size_of_thousands() -> None:
    envs = gymnasium.make_vec("urex/Copy-v0", num_envs=4096)
    envs.action_space.seed(0)
    observations, _ = envs.reset(seed=0)
    ended = 0
    for _ in range(30):
        observations, _, terminations, _, _ = envs.step(envs.action_space.sample())
        ended += int(terminations.sum())
    assert observations.shape == (4096,)
    assert ended > 4096


def test_wrong_input_is_told_in_a_sentence() -> None:
    envs = TaskVectorEnv(tasks.get("copy"), 2, autoreset_mode="Disabled", render_mode="ansi")

    def told(call: Any) -> str:
        with pytest.raises(UserError) as error:
            call()
        return str(error.value)

    actions = (np.array([1, 1]), np.array([1, 1]), np.array([2, 2]))
    assert told(lambda: envs.step(actions)).startswith("step before reset: there are no episodes yet; call")
    assert told(envs.render).startswith("render before reset: there are no episodes yet; call")
    half = np.array([True, False])
    assert told(lambda: envs.reset(options={"reset_mask": half})) == (
        "reset_mask before the first reset: all must be reset first; leave the mask out"
    )
    envs.reset(seed=0, options={"tape": [0]})
    assert told(lambda: envs.step(actions[:2])).endswith(
        "it must be integers of shape (3, 2), one row for each sub-action, of sizes 2, 2, 5"
    )
    assert "sub-actions run from 0 to below their sizes" in told(lambda: envs.step((*actions[:2], np.array([5, 0]))))
    assert told(lambda: envs.reset(seed=[1, 2, 3])) == (
        "seed of length 3: give one integer, or a list with one for each of the 2 environments"
    )
    for mask in (np.array([True]), np.array([0, 1]), np.array([False, False])):
        assert told(lambda mask=mask: envs.reset(options={"reset_mask": mask})).endswith(
            "it must be 2 booleans, at least one of them true"
        )
    assert told(lambda: envs.reset(options={"tapes": [0]})).startswith(
        "unknown option 'tapes': did you mean 'tape'? known are length, level, reset_mask, tape"
    )
    envs.step(actions)
    assert told(lambda: envs.step(actions)) == (
        "step of environment 0: its episode is over and autoreset is disabled;"
        ' begin another with `envs.reset(options={"reset_mask": terminations})`'
    )
    assert told(lambda: TaskVectorEnv(tasks.get("copy"), 0)) == "num_envs 0: it must be at least 1"
    assert told(lambda: TaskVectorEnv(tasks.get("copy"), 1, autoreset_mode="next")).startswith(
        "unknown autoreset mode 'next': did you mean 'NEXT_STEP'?"
    )


def test_it_does_what_a_single_one_does_for_a_task_without_a_view() -> None:
    parity = tasks.get("examples.parity:parity")
    envs, env = TaskVectorEnv(parity, 1), TaskEnv(parity)
    observations, infos = envs.reset(seed=3)
    assert (observations[0], infos) == env.reset(seed=3)
    for _ in range(31):
        assert envs.step((np.array([0]),))[0][0] == env.step((0,))[0]


def test_more_environments_than_are_begun_at_a_time() -> None:
    """The last chunk is not whole; every environment still goes through its own episodes."""
    count = CHUNK + 44
    envs = gymnasium.make_vec("urex/Copy-v0", num_envs=count, autoreset_mode="SAME_STEP")
    _, infos = envs.reset(seed=0)
    watched = {i: gymnasium.make("urex/Copy-v0") for i in (0, CHUNK - 1, CHUNK, count - 1)}
    for i, env in watched.items():
        assert of(infos, i) == plain(env.reset(seed=i)[1])
    wrong = np.array([i % 2 for i in range(count)])  # every second one writes past its target's first symbol
    for _ in range(3):
        actions = (np.ones(count, int), wrong, (infos["target"][:, 0] + 1) % 5)
        _, _, terminations, _, infos = envs.step(actions)
        assert terminations.tolist() == [bool(one) for one in wrong]
        for i, env in watched.items():
            info = env.reset()[1] if wrong[i] else env.step((1, 0, 0))[4]
            assert of(infos, i) == plain(info)
