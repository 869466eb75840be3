"""How fast sb3-contrib's RecurrentPPO trains on `urex/Copy-v0`, for comparison with `benchmarks.training`.

    python -m pip install sb3-contrib
    python -m benchmarks.recurrent_ppo --seconds 30

Its network is an LSTM of 128 units for the policy and one for the value, over the one-hot observation. Steps are real
steps of the environments; each is used `--epochs` times for gradients, as PPO does. Our own rate is measured after it.
"""

import argparse
import json
import time

import gymnasium
import numpy as np

import urex  # noqa: F401  registers the environments
from benchmarks.training import measure
from urex.devices import use_cores
from urex.interop.gymnasium import FlattenAction

STEPS = 64
"""Steps of each environment between updates."""


def rate(task: str, environments: int, epochs: int, seconds: float) -> dict[str, float]:
    """Train for so long, the first update apart."""
    from sb3_contrib import RecurrentPPO  # pyright: ignore[reportMissingImports]
    from stable_baselines3.common.callbacks import BaseCallback  # pyright: ignore[reportMissingImports]
    from stable_baselines3.common.env_util import make_vec_env  # pyright: ignore[reportMissingImports]

    class Clock(BaseCallback):
        """Notes when each update ends, and stops in time."""

        def __init__(self) -> None:
            super().__init__()
            self.ends: list[tuple[int, float]] = []

        def _on_rollout_start(self) -> None:
            self.ends.append((self.num_timesteps, time.perf_counter()))

        def _on_step(self) -> bool:
            return len(self.ends) < 2 or time.perf_counter() - self.ends[1][1] < seconds

    envs = make_vec_env(lambda: FlattenAction(gymnasium.make(task)), n_envs=environments)
    model = RecurrentPPO(
        "MlpLstmPolicy",
        envs,
        n_steps=STEPS,
        batch_size=environments * STEPS,
        n_epochs=epochs,
        policy_kwargs={"lstm_hidden_size": 128},
        device="cpu",
        seed=0,
    )
    clock = Clock()
    model.learn(10**9, callback=clock)
    ends = np.array(clock.ends[1:])
    if len(ends) < 2:
        raise SystemExit(f"no update was finished in {seconds:g} s; give more --seconds")
    return {"env_steps_per_s": round((ends[-1, 0] - ends[0, 0]) / (ends[-1, 1] - ends[0, 1])), "updates": len(ends) - 1}


def main() -> None:
    """Print a row for each number of epochs, and our own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--environments", type=int, default=40)
    parser.add_argument("--epochs", type=int, nargs="+", default=[1, 10])
    arguments = parser.parse_args()
    use_cores()
    for epochs in arguments.epochs:
        row = rate("urex/Copy-v0", arguments.environments, epochs, arguments.seconds)
        print(json.dumps({"trainer": "sb3-contrib RecurrentPPO", "epochs": epochs, **row}), flush=True)
    print(json.dumps({"trainer": "urex", **measure("copy", arguments.seconds)}), flush=True)


if __name__ == "__main__":
    main()
