"""stable-baselines3 trains on the environments through its usual calls."""

import gymnasium
import pytest

from urex.interop.gymnasium import FlattenAction

pytestmark = [
    pytest.mark.slow,
    # what other libraries warn of among themselves is not ours to mend
    pytest.mark.filterwarnings("default"),
]


def test_ppo_runs_20000_steps_on_copy() -> None:
    from stable_baselines3 import PPO  # pyright: ignore[reportMissingImports]  `make test` does not install it

    env = FlattenAction(gymnasium.make("urex/Copy-v0", level=2))
    agent = PPO("MlpPolicy", env, seed=0, device="cpu")
    agent.learn(20_000)
    assert agent.num_timesteps >= 20_000
    rewards = [episode["r"] for episode in agent.ep_info_buffer or ()]
    assert sum(rewards) / len(rewards) > 1.0  # random actions are paid less than 0 on average
    observation, _ = env.reset(seed=0)
    action, _ = agent.predict(observation)
    assert int(action) in env.action_space
