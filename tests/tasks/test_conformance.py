"""What every registered task must do, whatever it is; a task of one's own can be added to `TASKS`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests import builtin, recorded
from urex import tasks
from urex.tasks import SizedTask, Task

TASKS = [pytest.param(tasks.get(name), id=name) for name in builtin.NAMES]
LANES = 64


def sample(task: Task, level: int, seed: int = 0, lanes: int = LANES):
    """A batch of instances."""
    keys = jax.random.split(jax.random.key(seed), lanes)
    return jax.vmap(task.sample, in_axes=(0, None))(keys, jnp.int32(level))


def random_actions(task: Task, shape: tuple[int, ...], seed: int = 1) -> tuple[jax.Array, ...]:
    """Uniform sub-actions."""
    keys = jax.random.split(jax.random.key(seed), len(task.actions))
    return tuple(jax.random.randint(key, shape, 0, size) for key, size in zip(keys, task.actions, strict=True))


def run(task: Task, instances, actions):
    """The observations, rewards and ends of a batch of episodes, and their last states."""

    def step(states, action):
        states, rewards, done = jax.vmap(task.step)(instances, states, action)
        return states, (jax.vmap(task.observe)(instances, states), rewards, done)

    return jax.lax.scan(step, jax.vmap(task.start)(instances), actions)


@pytest.mark.parametrize("task", TASKS)
def test_it_can_be_a_static_argument(task: Task) -> None:
    assert hash(task) == hash(task)
    assert jax.tree.leaves(task) == []


@pytest.mark.parametrize("task", TASKS)
def test_observations_stay_in_their_range_and_episodes_in_their_steps(task: Task) -> None:
    instances = sample(task, task.levels.top)
    actions = random_actions(task, (task.max_steps, LANES))
    _, (observations, rewards, done) = jax.jit(lambda i, a: run(task, i, a))(instances, actions)
    assert observations.min() >= 0
    assert observations.max() < task.observations
    assert np.isfinite(np.asarray(rewards)).all()
    assert done[-1].all()
    assert rewards.dtype == jnp.float32
    assert done.dtype == bool


@pytest.mark.parametrize("task", TASKS)
def test_an_idle_agent_runs_out_of_time_at_max_steps_at_the_largest_size(task: Task) -> None:
    """`max_steps` is reached, so it is no looser than it must be."""
    assert isinstance(task, SizedTask)
    instance = task.sample_length(jax.random.key(0), jnp.int32(task.max_length))
    one = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], instance)
    idle = tuple(jnp.zeros((task.max_steps, 1), jnp.int32) for _ in task.actions)
    _, (_, _, done) = jax.jit(lambda i, a: run(task, i, a))(one, idle)
    assert int(jnp.argmax(done[:, 0])) + 1 == task.max_steps


@pytest.mark.parametrize("task", TASKS)
def test_after_the_end_nothing_moves_and_nothing_is_paid(task: Task) -> None:
    instances = sample(task, task.levels.first)
    over, (_, _, done) = jax.jit(lambda i, a: run(task, i, a))(instances, random_actions(task, (task.max_steps, LANES)))
    assert done[-1].all()
    after, rewards, done = jax.vmap(task.step)(instances, over, random_actions(task, (LANES,), seed=2))
    jax.tree.map(np.testing.assert_array_equal, after, over)
    assert (rewards == 0).all()
    assert done.all()


@pytest.mark.parametrize("task", TASKS)
def test_the_size_can_be_chosen_while_the_program_runs(task: Task) -> None:
    """One program serves every level and every length: nothing is traced again."""
    assert isinstance(task, SizedTask)
    traces = []

    @jax.jit
    def start(key, length):
        traces.append(length)
        instance = task.sample_length(key, length)
        return task.observe(instance, task.start(instance))

    for length in (2, 4, task.max_length):
        start(jax.random.key(length), jnp.int32(length))
    assert len(traces) == 1


@pytest.mark.parametrize("name", builtin.NAMES)
def test_a_larger_capacity_changes_nothing_that_an_agent_can_see(name: str) -> None:
    """Padding is never looked at: the same instance in a buffer of 2,000 gives the same episode."""
    small, large = tasks.get(name), tasks.get(name, max_length=2000)
    assert isinstance(small, SizedTask)
    assert isinstance(large, SizedTask)
    steps = 200
    actions = random_actions(small, (steps, LANES))
    instances = sample(small, small.levels.top)
    in_large = grown(small, large, instances)
    _, seen = jax.jit(lambda i, a: run(small, i, a))(instances, actions)
    _, seen_in_large = jax.jit(lambda i, a: run(large, i, a))(in_large, actions)
    jax.tree.map(np.testing.assert_array_equal, seen, seen_in_large)


def grown(small: SizedTask, large: SizedTask, instances):
    """The same instances in the larger task's buffers, with garbage past their ends."""
    if not isinstance(small, tasks.TapeTask) or not isinstance(large, tasks.TapeTask):
        return instances
    rows, base = small.rules.rows, small.rules.base
    garbage = jax.random.randint(jax.random.key(9), (LANES, large.max_length, rows), 0, base)
    cells = instances.cells.reshape(LANES, small.max_length, rows)
    in_use = (jnp.arange(large.max_length)[None, :] < instances.length[:, None])[..., None]
    padded = jnp.pad(cells, ((0, 0), (0, large.max_length - small.max_length), (0, 0)))
    return jax.vmap(large.instance)(jnp.where(in_use, padded, garbage), instances.length)


@pytest.mark.parametrize("task", TASKS)
def test_the_same_key_gives_the_same_instance_and_another_key_another(task: Task) -> None:
    once, again, other = (sample(task, task.levels.top, seed) for seed in (3, 3, 4))
    jax.tree.map(np.testing.assert_array_equal, once, again)
    same = jax.tree.map(np.array_equal, once, other)
    assert not all(jax.tree.leaves(same))


def test_every_original_environment_has_its_task() -> None:
    assert set(recorded.NAMES.values()) <= set(tasks.names())
