"""How often training succeeds, over seeds, by the form of the first layer, its initial scale and Adam's epsilon.

    python -m benchmarks.variants reverse --num-updates 5000 --init-scale 0.01 0.1 1 --adam-epsilon 1e-8 2e-4

All trials of one call run in one program. A row is printed for each trial as JSON: its hyper-parameters,
the update at which it was solved (or -1), its level and its reward at the end.
"""

import argparse
import itertools
import json
import time

import jax
import numpy as np

from urex import kernels, tasks, training
from urex.config import Config, Hypers, stack_hypers
from urex.policies import HIDDEN
from urex.training.chunk import CAPACITY

AXES = ("learning_rate", "clip_norm", "tau", "init_scale", "adam_epsilon", "exploration", "exploration_decay")


def grid(arguments: argparse.Namespace) -> list[tuple[Hypers, int]]:
    """Every combination of the values given, with every seed."""
    values = [getattr(arguments, name) for name in AXES]
    cells = [dict(zip(AXES, cell, strict=True)) for cell in itertools.product(*values)]
    return [
        (Hypers(**cell, sync_every=sync), seed)
        for cell in cells
        for sync in arguments.sync_every
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    ]


def run(config: Config, trials: list[tuple[Hypers, int]], num_updates: int, seconds: float) -> list[dict]:
    """Train all trials together, until they are done, all solved, or out of time."""
    hypers = stack_hypers([trial for trial, _ in trials])
    keys = jax.vmap(jax.random.key)(np.array([seed for _, seed in trials]))
    state = training.init(config, hypers, keys)
    begun, done, rewards = time.monotonic(), 0, []
    steps, solved = np.zeros(len(trials), np.int64), np.zeros(len(trials), np.int32)
    while done < num_updates and time.monotonic() - begun < seconds:
        count = 1 if not done else min(25, CAPACITY, num_updates - done)
        state, log = training.advance(config, hypers, state, training.Limits(count))
        rewards = np.asarray(log.reward_mean[count - 1])
        steps += np.asarray(log.env_steps[:count]).sum(axis=0)
        done += count
        solved = np.asarray(state.success.solved_at_update)
        if done % 500 < 25:
            rate = steps.sum() / (time.monotonic() - begun)
            print(f"# {done} updates, {(solved > 0).sum()} of {len(trials)} solved, {rate:.3g} steps/s", flush=True)
        if (solved > 0).all():
            break
    levels = np.asarray(state.curriculum.level)
    best = np.asarray(state.success.best)
    return [
        {
            **trial._asdict(), "seed": seed, "updates": done, "solved_at": int(solved[i]), "level": int(levels[i]),
            "reward": round(float(rewards[i]), 2), "best": round(float(best[i]), 2), "env_steps": int(steps[i]),
        }
        for i, (trial, seed) in enumerate(trials)
    ]  # fmt: skip


def main() -> None:
    """Print a row for each trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("--num-updates", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long, all trials together")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--objective", default="urex")
    parser.add_argument("--learner", default="policy-gradient")
    parser.add_argument("--instances", type=int, default=40)
    parser.add_argument("--first-layer", default="embedding")
    defaults = Hypers(learning_rate=0.01, clip_norm=40.0)
    for name in AXES:
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, nargs="+", default=[getattr(defaults, name)])
    parser.add_argument("--kernel", default="auto")
    parser.add_argument("--sync-every", type=int, nargs="+", default=[defaults.sync_every])
    arguments = parser.parse_args()
    task = tasks.get(arguments.task)
    kernel = kernels.choose(arguments.kernel, task, HIDDEN) if arguments.learner == "policy-gradient" else kernels.XLA
    config = Config(
        task,
        learner=arguments.learner,
        objective=arguments.objective,
        instances=arguments.instances,
        first_layer=arguments.first_layer,
        kernel=kernel,
    )
    fixed = {name: getattr(arguments, name) for name in ("task", "objective", "learner", "first_layer")}
    fixed["kernel"] = kernel.name
    for row in run(config, grid(arguments), arguments.num_updates, arguments.seconds):
        print(json.dumps(fixed | row), flush=True)


if __name__ == "__main__":
    main()
