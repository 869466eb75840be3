"""The curriculum wrappers: perfect play moves up as the pure curriculum says, failing play does not."""

import gymnasium
import numpy as np
import pytest

from urex import UserError
from urex.interop.gymnasium import CurriculumWrapper, VectorCurriculumWrapper


def play(env: gymnasium.Env, *, well: bool, **reset: object) -> dict:
    """An episode of Copy; the info of its last step."""
    symbol, info = env.reset(**reset)  # pyright: ignore[reportArgumentType]
    over = False
    while not over:
        symbol, _, over, _, info = env.step((1, 1, symbol if well else (symbol + 1) % 5))
    return info


def test_perfect_play_moves_up_after_a_window_and_longer_tapes_follow() -> None:
    env = CurriculumWrapper(gymnasium.make("urex/Copy-v0"), window=5)
    levels = [play(env, well=True, **({"seed": 0} if i == 0 else {}))["level"] for i in range(15)]
    assert levels == [2] * 4 + [3] * 5 + [4] * 5 + [5]
    lengths = {len(env.reset()[1]["target"]) for _ in range(40)}
    assert lengths == {5, 6, 7}


def test_a_failure_blocks_until_the_window_has_passed_it() -> None:
    env = CurriculumWrapper(gymnasium.make("urex/Copy-v0"), window=3)
    played = [True, False, True, True, False, True, True, True]
    assert [play(env, well=well)["level"] for well in played] == [2] * 7 + [3]


def test_an_episode_that_is_left_does_not_count() -> None:
    env = CurriculumWrapper(gymnasium.make("urex/Copy-v0"), window=2)
    play(env, well=True, seed=0)
    env.reset()
    env.step((1, 0, 0))
    assert play(env, well=True)["level"] == 3


def test_steps_after_the_end_do_not_count_again() -> None:
    env = CurriculumWrapper(gymnasium.make("urex/Copy-v0").unwrapped, window=3)
    play(env, well=True, seed=0)
    for _ in range(10):
        env.step((1, 1, 0))
    assert play(env, well=True)["level"] == 2
    assert play(env, well=True)["level"] == 3


def test_an_episode_that_was_asked_for_does_not_count() -> None:
    env = CurriculumWrapper(gymnasium.make("urex/Copy-v0"), window=2)
    play(env, well=True, seed=0)
    for _ in range(5):
        assert play(env, well=True, options={"tape": [1]})["level"] == 2
    assert play(env, well=True)["level"] == 3


def test_asked_for_episodes_of_a_vector_do_not_count() -> None:
    envs = VectorCurriculumWrapper(gymnasium.make_vec("urex/Copy-v0", num_envs=2, autoreset_mode="SAME_STEP"), window=2)
    symbols, _ = envs.reset(seed=0, options={"length": 3})
    ended, levels = 0, []
    while ended < 4:
        ones = np.ones(2, np.int64)
        symbols, _, terminations, _, infos = envs.step((ones, ones, symbols % 5))
        ended += int(terminations.sum())
        levels.append((ended, infos["level"]))
    assert levels[2] == (2, 2)
    assert levels[-1][1] == 3


def test_the_published_window_can_be_asked_for() -> None:
    env = CurriculumWrapper(gymnasium.make("urex/Copy-v0"), window=None)
    assert [play(env, well=True)["level"] for _ in range(10)] == [2] * 9 + [3]


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
def test_the_environments_of_a_vector_share_one_curriculum(mode: str) -> None:
    """Four play perfectly: a window of 5 fills in the order of the environments, whatever the mode."""
    envs = VectorCurriculumWrapper(gymnasium.make_vec("urex/Copy-v0", num_envs=4, autoreset_mode=mode), window=5)
    symbols, infos = envs.reset(seed=0)
    assert infos["level"] == 2
    ended = earned = 0
    for _ in range(80):
        ones = np.ones(4, np.int64)
        symbols, rewards, terminations, _, infos = envs.step((ones, ones, symbols % 5))
        assert (rewards >= 0).all()
        ended += int(terminations.sum())
        # a promotion takes five episodes; the level never runs ahead of what has been earned
        assert earned <= infos["level"] - 2 <= ended // 5
        earned = infos["level"] - 2
        if mode == "DISABLED" and terminations.any():
            symbols, infos = envs.reset(options={"reset_mask": terminations})
    assert earned == ended // 5 >= 3


def test_failing_environments_hold_the_others_back() -> None:
    envs = VectorCurriculumWrapper(gymnasium.make_vec("urex/Copy-v0", num_envs=2, autoreset_mode="SAME_STEP"), window=3)
    symbols, infos = envs.reset(seed=0)
    for _ in range(60):
        ones = np.ones(2, np.int64)
        wrong = np.array([symbols[0], (symbols[1] + 1) % 5])
        symbols, _, _, _, infos = envs.step((ones, ones, wrong % 5))
    assert infos["level"] == 2


def test_another_environment_is_refused() -> None:
    with pytest.raises(UserError, match="curriculum around CartPoleEnv: it needs the environment of a urex task"):
        CurriculumWrapper(gymnasium.make("CartPole-v1"))
    with pytest.raises(UserError, match="it needs the environment of a urex task"):
        VectorCurriculumWrapper(gymnasium.make_vec("CartPole-v1", num_envs=2))
