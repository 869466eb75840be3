"""One environment: the recorded episodes, seeds, options, `info`, the picture, and wrong input."""

import copy

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests import recorded
from urex import UserError, tasks
from urex.interop.gymnasium import TaskEnv
from urex.interop.gymnasium.beginnings import BLOCK


def head(info: dict) -> object:
    """The read head as it was recorded."""
    return np.asarray(info["read_head"]).tolist()


@pytest.mark.parametrize("original", recorded.NAMES)
def test_every_recorded_episode_replays(original: str) -> None:
    env = gymnasium.make(f"urex/{original}")
    episodes = [episode for episode in recorded.episodes() if episode["env"] == original]
    assert len(episodes) == 200
    for episode in episodes:
        observation, info = env.reset(options={"tape": episode["input"]})
        assert (observation, info["target"], info["time_limit"]) == (
            episode["first_obs"],
            episode["target"],
            episode["time_limit"],
        )
        for action, *want in episode["steps"]:
            observation, reward, terminated, truncated, info = env.step(tuple(action))
            assert [observation, reward, terminated, head(info), info["write_head"]] == want
            assert truncated is False


def begun(env: gymnasium.Env, resets: int, **first: object) -> list:
    """What so many resets tell, the first with these arguments."""
    return [env.reset(**(first if i == 0 else {}))[1]["target"] for i in range(resets)]  # pyright: ignore


def test_a_seed_repeats_and_no_seed_does_not() -> None:
    env, other = gymnasium.make("urex/Copy-v0"), gymnasium.make("urex/Copy-v0")
    assert begun(env, 3, seed=1) == begun(other, 3, seed=1) == begun(env, 3, seed=1)
    assert begun(env, 1, seed=1) != begun(env, 1, seed=2)
    assert begun(gymnasium.make("urex/Copy-v0"), 1) != begun(gymnasium.make("urex/Copy-v0"), 1)


def test_no_episode_of_a_seed_comes_twice() -> None:
    """Across the blocks that are drawn ahead."""
    count = 2 * BLOCK + 3
    targets = begun(gymnasium.make("urex/Copy-v0"), count, seed=0)
    assert len({tuple(target) for target in targets}) == count


def test_what_is_drawn_ahead_depends_on_nothing_but_the_number_of_the_episode() -> None:
    """Options and levels in between change no other episode."""
    plain, mixed = gymnasium.make("urex/Copy-v0"), gymnasium.make("urex/Copy-v0")
    wanted = begun(plain, BLOCK + 4, seed=3)
    got = begun(mixed, 1, seed=3)
    for i in range(1, BLOCK + 4):
        options = {2: {"tape": [1]}, BLOCK: {"length": 5}, BLOCK + 1: {"level": 9}}.get(i)
        got.append(mixed.reset(options=options)[1]["target"])
    assert [i for i in range(BLOCK + 4) if got[i] != wanted[i]] == [2, BLOCK, BLOCK + 1]


def test_the_options_of_a_reset_hold_for_that_reset() -> None:
    env = gymnasium.make("urex/ReversedAddition-v0", level=2)
    _, info = env.reset(seed=0, options={"tape": [[1, 2], [1, 0], [2, 2]]})
    assert info["target"] == [0, 2, 1, 1]
    _, info = env.reset(options={"length": 17})
    assert info["time_limit"] == 2 * 17 + 4
    _, info = env.reset(options={"level": 30})
    assert info["time_limit"] >= 64
    _, info = env.reset()
    assert 2 * 2 + 4 <= info["time_limit"] <= 2 * 4 + 4


def test_a_search_can_be_asked_for() -> None:
    env = gymnasium.make("urex/BinarySearch-v0")
    _, info = env.reset(seed=0, options={"n": 512, "position": 100})
    assert (info["n"], info["target"], info["time_limit"], info["registers"].tolist()) == (512, 100, 1025, [512, 0, 0])
    assert env.reset(options={"n": 40})[1]["n"] == env.reset(options={"length": 40})[1]["n"] == 40
    env.reset(options={"n": 512, "position": 256})
    env.step((2, 2))
    observation, reward, terminated, _, info = env.step((3, 2))
    assert (observation, terminated, info["registers"].tolist()) == (2, True, [512, 0, 256])
    assert reward == pytest.approx(10 * (1 - 2 / 1025))


def test_longer_tapes_need_a_larger_environment() -> None:
    env = gymnasium.make("urex/Copy-v0", max_length=2000)
    assert len(env.reset(seed=0)[1]["target"]) <= 32
    assert len(env.reset(options={"length": 2000})[1]["target"]) == 2000


def test_the_types_are_those_that_gymnasium_asks_for() -> None:
    env = gymnasium.make("urex/Copy-v0")
    observation, info = env.reset(seed=0)
    assert type(observation) is np.int64
    assert set(info) == {"target", "time_limit", "read_head", "write_head"}
    observation, reward, terminated, truncated, info = env.step((1, 0, 0))
    assert [type(x) for x in (observation, reward, terminated, truncated)] == [np.int64, float, bool, bool]
    assert type(info["read_head"]) is type(info["time_limit"]) is int


def test_info_is_the_callers_to_change() -> None:
    env = gymnasium.make("urex/BinarySearch-v0")
    _, info = env.reset(seed=0)
    info["registers"][:] = 99
    _, _, _, _, info = env.step((0, 1))
    assert info["registers"][1] == 1
    info["registers"][1] = 99
    assert env.step((0, 1))[4]["registers"][1] == 2


def test_after_the_end_nothing_more_happens() -> None:
    env = gymnasium.make("urex/Copy-v0")
    env.reset(options={"tape": [2]})
    assert env.step((1, 1, 2))[1:3] == (1.0, True)
    for action in ((1, 1, 2), (0, 0, 0)):
        observation, reward, terminated, _, info = env.step(action)
        assert (observation, reward, terminated, info["read_head"]) == (5, 0.0, True, 1)


def test_gymnasiums_own_vector_environments_take_it() -> None:
    """Episodes of different lengths in one `info`."""
    envs = gymnasium.make_vec("urex/ReversedAddition-v0", num_envs=4, vectorization_mode="sync")
    _, infos = envs.reset(seed=0)
    for _ in range(20):
        _, _, _, _, infos = envs.step(envs.action_space.sample())
    assert {len(target) for target in infos["target"]} <= set(range(30, 34))
    assert infos["read_head"].shape == (4, 2)


def test_an_environment_can_be_copied_in_the_middle_of_an_episode() -> None:
    env = gymnasium.make("urex/Copy-v0").unwrapped
    env.reset(seed=0, options={"tape": [3, 1]})
    env.step((1, 1, 3))
    again = copy.deepcopy(env)
    assert env.step((1, 1, 1))[1:3] == again.step((1, 1, 1))[1:3] == (1.0, True)
    assert begun(env, 3) == begun(again, 3)


class Noisy(tasks.Task):
    """Rewards that are drawn as the episode goes: the source of randomness is part of the state."""

    observations = 1
    actions = (2,)
    max_steps = 5
    levels = tasks.Levels()
    reward_threshold = 1.0

    def sample(self, key, level):
        del level
        return ()

    def start(self, instance):
        del instance
        return jnp.int32(0), jax.random.key(0), jnp.asarray(False)

    def observe(self, instance, state):
        del instance, state
        return jnp.int32(0)

    def step(self, instance, state, action):
        del instance
        t, key, over = state
        now, later = jax.random.split(key)
        done = t == 4
        return tasks.absorb(over, state, ((t + 1, later, done), jax.random.normal(now) * action[0], done))

    def shortfall(self, instance, level, total_reward):
        del instance, level
        return total_reward


def test_a_task_may_carry_random_keys_and_tell_nothing_else() -> None:
    env = TaskEnv(Noisy())  # pyright: ignore[reportCallIssue]  its class attributes are its fields
    assert env.reset(seed=0)[1] == {}
    steps = [env.step((1,)) for _ in range(5)]
    assert [step[2] for step in steps] == [False] * 4 + [True]
    assert len({step[1] for step in steps}) == 5


def test_the_picture() -> None:
    env = gymnasium.make("urex/Copy-v0", render_mode="ansi")
    env.reset(options={"tape": [2, 0]})
    env.step((1, 1, 2))
    assert env.render() == (
        "urex/Copy-v0\n"
        "  tape     C [A]\n"
        "  output   C \n"
        "  target   C  A \n"
        "  action  right, write C\n"
        "  score   reward +1, total +1"
    )
    silent = gymnasium.make("urex/Copy-v0").unwrapped
    silent.reset(seed=0)
    assert silent.render() is None


def test_the_picture_is_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gymnasium.make("urex/Copy-v0", render_mode="ansi")
    env.reset(seed=0)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in str(env.render())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in str(env.render())


WRONG_OPTIONS = [
    ("Copy", {"tape": [0, 7]}, "tape symbol 7: symbols are 0 to 4; change it to one of these"),
    ("Copy", {"tape": [[0, 1]]}, "tape [[0, 1]]: it must be a list of symbols; write it like [0, 1]"),
    ("Copy", {"length": -1}, "length -1: it must be 1 to 32; give the task a larger max_length for longer ones"),
    ("Copy", {"length": 2.5}, "length 2.5: it must be a whole number"),
    ("Copy", {"level": 31}, "level 31: it must be 2 to 30"),
    ("Copy", {"lenght": 4}, "unknown option 'lenght': did you mean 'length'? known are length, level, tape"),
    ("Copy", {"n": 4}, "unknown option 'n': known are length, level, tape"),
    (
        "Copy",
        {"tape": [1], "length": 1},
        "options tape, length: give one of them at a time, and position together with n",
    ),
    (
        "BinarySearch",
        {"position": 4},
        "options position: give one of them at a time, and position together with n",
    ),
    ("BinarySearch", {"n": 4, "position": 4}, "position 4: it must be 0 to 3, inside the array"),
    ("BinarySearch", {"n": 0}, "n 0: it must be 1 to 512; larger arrays need a task with a larger max_length"),
]


def test_a_reset_with_a_wrong_option_does_not_seed() -> None:
    env, other = gymnasium.make("urex/Copy-v0"), gymnasium.make("urex/Copy-v0")
    for each in (env, other):
        each.reset(seed=1)
    with pytest.raises(UserError):
        env.reset(seed=2, options={"length": 0})
    assert begun(env, 3) == begun(other, 3)


@pytest.mark.parametrize(("name", "options", "message"), WRONG_OPTIONS)
def test_a_wrong_option_is_told_in_a_sentence_and_the_episode_goes_on(name: str, options: dict, message: str) -> None:
    env = gymnasium.make(f"urex/{name}-v0")
    _, before = env.reset(seed=0)
    with pytest.raises(UserError) as error:
        env.reset(options=options)
    assert str(error.value) == message
    assert env.unwrapped.step((0, 0, 0)[: len(env.action_space)])[4]["target"] == before["target"]  # pyright: ignore


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            (2, 0, 0),
            "action (2, 0, 0): sub-actions run from 0 to below their sizes, which are 2, 2, 5;"
            " `env.action_space.sample()` gives a valid one",
        ),
        ((1, -1, 0), "action (1, -1, 0): sub-actions run from 0 to below their sizes"),
        ((1, 0), "action (1, 0): it must be integers of shape (3,), one row for each sub-action, of sizes 2, 2, 5"),
        (1, "action 1: it must be integers of shape (3,)"),
        ((1, 0, 0.5), "action (1, 0, 0.5): it must be integers of shape (3,)"),
        (((1, 2), 0, 0), "action ((1, 2), 0, 0): it must be integers of shape (3,)"),
    ],
)
def test_a_wrong_action_is_told_in_a_sentence(action: object, message: str) -> None:
    env = TaskEnv(tasks.get("copy"))
    env.reset(seed=0)
    with pytest.raises(UserError) as error:
        env.step(action)
    assert str(error.value).startswith(message)


def test_calls_before_the_first_reset_are_told() -> None:
    env = TaskEnv(tasks.get("copy"), render_mode="ansi")
    for call in (lambda: env.step((0, 0, 0)), env.render, lambda: env.instance):  # pyright: ignore
        with pytest.raises(UserError, match="before reset: there is no episode yet; call"):
            call()


def test_wrong_arguments_of_make_are_told() -> None:
    with pytest.raises(UserError, match="level 1: it must be 2 to 30"):
        gymnasium.make("urex/Copy-v0", level=1)
    with pytest.raises(UserError, match="unknown option of copy 'max_len': did you mean 'max_length'\\?"):
        gymnasium.make("urex/Copy-v0", max_len=1)
    with pytest.raises(UserError, match="render mode 'human': the tasks are drawn as text only; use 'ansi' or None"):
        TaskEnv(tasks.get("copy"), render_mode="human")
