"""The tape tasks do what the original environments were recorded doing, at every step of every episode."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests import recorded
from urex import tasks, views
from urex.tasks.parse import parse_tape

LONGEST = 140


@cache
def batch(original: str) -> tuple[list[dict], dict[str, np.ndarray]]:
    """The episodes of one environment, and their steps in arrays padded to the same length."""
    episodes = [episode for episode in recorded.episodes() if episode["env"] == original]
    task = tasks.get(recorded.NAMES[original])
    assert isinstance(task, tasks.TapeTask)
    parsed = [parse_tape(task, episode["input"]) for episode in episodes]
    grid = task.rules.rows > 1
    want = {
        "action": np.zeros((len(episodes), LONGEST, 3), np.int32),
        "observation": np.zeros((len(episodes), LONGEST), np.int32),
        "reward": np.zeros((len(episodes), LONGEST), np.float32),
        "done": np.zeros((len(episodes), LONGEST), bool),
        "read_head": np.zeros((len(episodes), LONGEST, *([2] if grid else [])), np.int32),
        "write_head": np.zeros((len(episodes), LONGEST), np.int32),
        "recorded": np.zeros((len(episodes), LONGEST), bool),
    }
    for i, episode in enumerate(episodes):
        for t, step in enumerate(episode["steps"]):
            for name, value in zip(want, [*step, True], strict=True):
                want[name][i, t] = value
    want["cells"] = np.stack([cells for cells, _ in parsed])
    want["length"] = np.array([length for _, length in parsed], np.int32)
    return episodes, want


@cache
def replay(original: str) -> dict[str, np.ndarray]:
    """What our task does on those tapes under those actions."""
    task = tasks.get(recorded.NAMES[original])
    assert isinstance(task, tasks.TapeTask)
    _, want = batch(original)

    def one(cells, length, actions):
        instance = task.instance(cells, length)

        def step(state, action):
            state, reward, done = task.step(instance, state, tuple(action))
            shown = {"observation": task.observe(instance, state), "reward": reward, "done": done}
            return state, shown | views.state_facts(task, state)

        start = task.start(instance)
        _, steps = jax.lax.scan(step, start, actions)
        facts = views.instance_facts(task, instance)
        return steps | facts | {"first_observation": task.observe(instance, start)}

    got = jax.jit(jax.vmap(one))(jnp.asarray(want["cells"]), want["length"], want["action"])
    return {name: np.asarray(value) for name, value in got.items()}


def test_there_are_as_many_episodes_as_were_recorded() -> None:
    assert len(recorded.episodes()) == 1200
    assert sum(len(episode["steps"]) for episode in recorded.episodes()) == 26298


@pytest.mark.parametrize("original", recorded.NAMES)
@pytest.mark.parametrize("what", ["observation", "reward", "done", "read_head", "write_head"])
def test_every_step_replays(original: str, what: str) -> None:
    _, want = batch(original)
    there = want["recorded"]
    np.testing.assert_array_equal(replay(original)[what][there], want[what][there])


@pytest.mark.parametrize("original", recorded.NAMES)
def test_every_start_replays(original: str) -> None:
    episodes, _ = batch(original)
    got = replay(original)
    for i, episode in enumerate(episodes):
        assert got["first_observation"][i] == episode["first_obs"]
        assert got["time_limit"][i] == episode["time_limit"]
        assert got["target"][i][: got["target_length"][i]].tolist() == episode["target"]


@pytest.mark.parametrize("original", recorded.NAMES)
def test_after_its_end_an_episode_absorbs(original: str) -> None:
    """Here we differ from the originals, which go on paying: reward 0, done, and nothing moves."""
    _, want = batch(original)
    got = replay(original)
    past = np.cumsum(want["done"], axis=1).astype(bool) & ~want["recorded"]
    assert past.any()
    assert (got["reward"][past] == 0.0).all()
    assert got["done"][past].all()
    last = want["recorded"].sum(axis=1) - 1
    rows = np.arange(len(last))
    for what in ("observation", "read_head", "write_head"):
        np.testing.assert_array_equal(got[what][:, -1], got[what][rows, last])
