"""Updates that two cores share: the same but for rounding, in one program, and nothing of it on one core."""

import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.kernels.episodes import Batch, Wait, assert_near, batch
from tests.runs.probe import Echo
from urex import training
from urex.config import Config, Hypers, stack_hypers
from urex.kernels import XLA, Kernel
from urex.kernels.cores import on_each, shared
from urex.kernels.ragged import RAGGED
from urex.training import chunk

TASK = Echo()
HYPERS = stack_hypers([Hypers(), Hypers(learning_rate=0.003), Hypers()])
KEYS = jax.random.split(jax.random.key(0), 3)


def config_of(kernel: Kernel, cores: int) -> Config:
    """27 lanes a core: odd, and enough for two stages."""
    return Config(TASK, instances=9, samples=6, hidden=16, kernel=kernel, cores=cores)


def trained(config: Config, *counts: int) -> tuple[Any, list[Any]]:
    """After calls of so many updates, with what is known of these."""
    state, logs = training.init(config, HYPERS, KEYS), []
    state = eqx.tree_at(lambda s: s.curriculum.level, state, jnp.full((3,), TASK.levels.top, jnp.int32))
    for count in counts:
        state, log = training.advance(config, HYPERS, state, training.Limits(count))
        logs.append(jax.tree.map(lambda rows, count=count: np.asarray(rows)[:count], log))
    return state, logs


@pytest.mark.parametrize("kernel", [RAGGED, pytest.param(XLA, marks=pytest.mark.slow)], ids=lambda kernel: kernel.name)
def test_two_cores_do_what_one_does(kernel: Kernel) -> None:
    (one, (log,)), (two, (same,)) = (trained(config_of(kernel, cores), 5) for cores in (1, 2))
    for name in ("env_steps", "reward_mean", "level", "executed"):
        np.testing.assert_array_equal(getattr(same, name), getattr(log, name), err_msg=name)
    np.testing.assert_allclose(same.info["gradient_norm"], log.info["gradient_norm"], rtol=1e-4)
    np.testing.assert_allclose(same.info["entropy"], log.info["entropy"], rtol=1e-5)
    assert_near(two.learner.policy, one.learner.policy, 1e-3)
    assert ((same.lane_utilisation > 0) & (same.lane_utilisation <= 1)).all()


def read(leaf: jax.Array) -> jax.Array:
    """The array as a checkpoint has it, which knows of no cores."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(np.asarray(jax.random.key_data(leaf))))
    return jnp.asarray(np.asarray(leaf))


def programs() -> int:
    """How many are compiled."""
    return chunk._program_here()._cache_size()  # pyright: ignore[reportFunctionMemberAccess]  it is that of JAX's own tests


def test_one_program_goes_on_from_its_own_state_and_from_a_new_one() -> None:
    config = dataclasses.replace(config_of(RAGGED, 2), samples=2)
    before = programs()
    state, _ = trained(config, 1, 2)
    training.advance(config, HYPERS, jax.tree.map(read, state), training.Limits(1))
    list(training.chunks(config, HYPERS, training.init(config, HYPERS, KEYS), 3))
    assert programs() == before + 1


def program(cores: int) -> str:
    """What is compiled, as text."""
    config = config_of(RAGGED, cores)
    state = jax.eval_shape(lambda: training.init(config, HYPERS, KEYS))
    space = jax.eval_shape(lambda: chunk.new_space(config, state))
    body = partial(chunk._go_on, config, 1)  # pyright: ignore[reportAttributeAccessIssue]
    return str(jax.make_jaxpr(body)(HYPERS, state, training.Limits(1), space))


def test_one_core_waits_for_nobody() -> None:
    one, two = program(1), program(2)
    for word in ("all_gather", "psum", "shard_map"):
        assert word in two
        assert word not in one


def test_each_core_stops_for_itself_and_the_steps_of_all_are_counted() -> None:
    lengths = [2] * 27 + [7] * 27
    given = batch(Wait(), 1, 54)._replace(instances=jnp.array([lengths], jnp.int32))

    def sample(given: Batch) -> Any:
        return shared(XLA, 2).sample(given.policy, Wait(), given.instances, given.uniforms, ())[:2]

    outcome, work = jax.jit(on_each(2, sample))(given)
    assert outcome.length.tolist() == [lengths]
    assert (int(work.rounds), float(work.lane_steps)) == (7, 27 * 2 + 27 * 7)


def test_each_core_is_a_device_of_its_own() -> None:
    found = jax.jit(on_each(2, lambda x: jax.lax.all_gather(x + jax.lax.axis_index("cores"), "cores")))(jnp.zeros(()))
    assert found.tolist() == [0, 1]
