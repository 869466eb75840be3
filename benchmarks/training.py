"""How fast training runs: useful environment steps per second at full length, the first seconds apart.

    python -m benchmarks.training copy duplicated-input --seconds 30

One trial of each task is trained until it is at its top level, and then for so many seconds more. Useful steps are
those of sampled episodes that a gradient used: no padding. The kernel and the cores are those that the command line
would choose, unless others are given. The early rate is that of a policy that knows nothing, at the first level, where
episodes are short and of very different lengths; it is kept there by a learning rate of almost 0. Beside them stands
the rate of a large product of matrices in the same process, and the share of it that useful steps account for.
"""

import argparse
import json
import statistics
import time
from math import prod

import jax
import jax.numpy as jnp
import numpy as np

from urex import training
from urex.bench.limit import flop_per_step, matrix_rate
from urex.config import Config, Hypers, stack_hypers
from urex.devices import use_cores
from urex.trial import prepare

EARLY_UPDATES = 2000


def early_rate(config: Config, hypers: Hypers) -> float:
    """Useful steps per second of a policy that stays as it is: the median of the later calls."""
    hypers = hypers._replace(learning_rate=jnp.full_like(hypers.learning_rate, 1e-20))
    state = training.init(config, hypers, jax.random.key(0)[None])
    made = training.chunks(config, hypers, state, EARLY_UPDATES)
    rates = [float(chunk.metrics.env_steps.sum() / chunk.seconds) for chunk in made]
    return statistics.median(rates[len(rates) // 2 :])


def measure(task: str, seconds: float, **settings: str | int | None) -> dict[str, float | str]:
    """Train at the top level for so long."""
    trial = prepare(task, {"num_updates": 1_000_000, **settings})
    hypers = stack_hypers([trial.hypers])
    peak = matrix_rate(trial.config.kernel.name)
    begun = time.perf_counter()
    state = training.compiled(trial.config, hypers, training.init(trial.config, hypers, jax.random.key(0)[None]))
    compile_s = time.perf_counter() - begun
    early = early_rate(trial.config, hypers)
    rates, utilisation, spent, begun = [], [], 0.0, time.perf_counter()
    for chunk in training.chunks(trial.config, hypers, state, trial.num_updates):
        steps = int(np.asarray(chunk.metrics.env_steps, np.int64).sum())
        if int(chunk.metrics.level[0, 0]) == trial.config.task.levels.top:
            rates.append(steps / chunk.seconds)
            utilisation.append(float(chunk.metrics.lane_utilisation.mean()))
            spent += chunk.seconds
        if spent >= seconds or time.perf_counter() - begun >= 10 * seconds:
            break
    if not rates:
        raise SystemExit(f"{task} did not get to its top level in {10 * seconds:.0f} s; give more --seconds")
    rate = statistics.median(rates)
    return {
        "kernel": trial.config.kernel.name,
        "cores": trial.config.cores,
        "useful_env_steps_per_s": round(rate),
        "early_env_steps_per_s": round(early),
        "lane_utilisation": round(statistics.mean(utilisation), 3),
        "compile_s": round(compile_s, 1),
        "measured_s": round(spent, 1),
        "matrix_gflops": round(peak / 1e9),
        "fraction_of_limit": round(rate * flop_per_step(trial.config, prod(trial.config.task.actions)) / peak, 3),
    }


def main() -> None:
    """Print a row for each task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=["copy", "duplicated-input"])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--kernel", help="instead of the one that is chosen here: xla, ragged or fused")
    parser.add_argument("--cores", type=int, help="of the CPU, instead of those that are chosen here")
    arguments = parser.parse_args()
    use_cores(arguments.cores)
    print(f"# {jax.devices()[0].device_kind}, jax {jax.__version__}")
    for task in arguments.tasks:
        print(
            json.dumps(
                {"task": task, **measure(task, arguments.seconds, kernel=arguments.kernel, cores=arguments.cores)}
            )
        )


if __name__ == "__main__":
    main()
