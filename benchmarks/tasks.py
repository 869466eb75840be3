"""How fast the tasks run: compiled batches, the vector environment, one environment.

    python -m benchmarks.tasks

A batch is 4,096 lanes of random actions at the top level. `episodes` runs 4,096 episodes to the end of the
longest and counts the steps of episodes that were not over; `steps` lets every lane begin its
instance again when its episode ends, so that every step counts.
"""

import json
import statistics
import time
from collections.abc import Callable
from functools import partial

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import urex  # noqa: F401  registers the environments
from urex import tasks
from urex.interop.registration import ENVIRONMENTS
from urex.tasks import Task

LANES = 4096
STEPS = 512
REPEATS = 7


def random_actions(task: Task, key: Array, step: Array) -> tuple[Array, ...]:
    """Uniform sub-actions for all lanes, cut from one 32-bit number a lane."""
    bits = jax.random.bits(jax.random.fold_in(key, step), (LANES,), jnp.uint32)
    actions = []
    for size in task.actions:
        actions.append((bits % size).astype(jnp.int32))
        bits = bits // size
    return tuple(actions)


def sample(task: Task, key: Array) -> object:
    """One instance a lane, at the top level."""
    return jax.vmap(task.sample, in_axes=(0, None))(jax.random.split(key, LANES), jnp.int32(task.levels.top))


def run_episodes(task: Task, key: Array) -> Array:
    """Run an episode a lane to its end; the number of steps taken in them all."""
    instances = sample(task, key)

    def step(carry: tuple) -> tuple:
        states, over, steps, t = carry
        states, _, done = jax.vmap(task.step)(instances, states, random_actions(task, key, t))
        jax.vmap(task.observe)(instances, states)
        return states, done, steps + jnp.sum(~over), t + 1

    states = jax.vmap(task.start)(instances)
    start = (states, jnp.zeros(LANES, bool), jnp.int32(0), jnp.int32(0))
    return jax.lax.while_loop(lambda carry: ~carry[1].all(), step, start)[2]


def run_steps(task: Task, key: Array) -> tuple[Array, Array]:
    """Take the same number of steps in every lane; the steps, and a digest so that nothing is left out."""
    instances = sample(task, key)
    starts = jax.vmap(task.start)(instances)

    def step(t: Array, carry: tuple) -> tuple:
        states, digest = carry
        states, rewards, done = jax.vmap(task.step)(instances, states, random_actions(task, key, t))
        states = jax.tree.map(lambda start, state: jnp.where(done, start, state), starts, states)
        return states, digest + rewards + jax.vmap(task.observe)(instances, states)

    _, digest = jax.lax.fori_loop(0, STEPS, step, (starts, jnp.zeros(LANES)))
    return jnp.int32(LANES * STEPS), digest


def rate(run: Callable[[int], int]) -> float:
    """Median steps per second over repeats, the first call apart."""
    run(0)
    rates = []
    for repeat in range(1, REPEATS + 1):
        begun = time.perf_counter()
        steps = run(repeat)
        rates.append(steps / (time.perf_counter() - begun))
    return statistics.median(rates)


def compiled_rate(function: Callable, task: Task) -> float:
    """The rate of a compiled function that returns the number of steps (first)."""
    program = jax.jit(partial(function, task))

    def run(repeat: int) -> int:
        result = jax.block_until_ready(program(jax.random.key(repeat)))
        return int(result[0] if isinstance(result, tuple) else result)

    return rate(run)


def vector_rate(name: str) -> float:
    """Steps per second of the vector environment, as its user gets them."""
    envs = gymnasium.make_vec(name, num_envs=LANES)
    envs.action_space.seed(0)
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(16)]

    def run(repeat: int) -> int:
        del repeat  # unused: the environments go on
        for step in range(64):
            envs.step(actions[step % 16])
        return 64 * LANES

    return rate(run)


def single_rate(name: str) -> float:
    """Steps per second of one environment, resets included."""
    env = gymnasium.make(name)
    env.action_space.seed(0)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(256)]

    def run(repeat: int) -> int:
        del repeat  # unused: the environment goes on
        for step in range(2000):
            if env.step(actions[step % 256])[2]:
                env.reset()
        return 2000

    return rate(run)


def main() -> None:
    """Print a row for each environment."""
    print(f"urex on {jax.devices()[0].device_kind}, jax {jax.__version__}, numpy {np.__version__}; steps/s")
    for name, (task_name, _) in ENVIRONMENTS.items():
        task = tasks.get(task_name)
        row = {
            "environment": name,
            "batch_steps": round(compiled_rate(run_steps, task)),
            "batch_episodes": round(compiled_rate(run_episodes, task)),
            "make_vec": round(vector_rate(name)),
            "make": round(single_rate(name)),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
