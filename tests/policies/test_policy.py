"""The policy's parameters: how they start, and that the first layer's tables are the layer."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import policies, tasks
from urex.policies.first_layer import Embedding, OneHot

TASK = tasks.get("reversed-addition")


def new(first_layer: str, scale: float = 0.5, hidden: int = 16, seed: int = 0) -> policies.Policy:
    """A small policy for addition."""
    return policies.init(jax.random.key(seed), TASK, hidden=hidden, first_layer=first_layer, scale=jnp.float32(scale))


@pytest.mark.parametrize("first_layer", policies.FIRST_LAYERS)
def test_shapes_follow_the_task(first_layer: str) -> None:
    folded = policies.fold(new(first_layer))
    assert folded.seen.shape == (4, 64)
    assert folded.done.shape == (25, 64)
    assert folded.readout.shape == (16, 24)


def test_biases_are_0_but_the_forget_gates() -> None:
    policy = new("embedding")
    np.testing.assert_array_equal(policy.bias.reshape(4, 16)[:, 0], [0, 1, 0, 0])
    assert not policy.readout_bias.any()


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_the_embedding_is_scaled_and_the_kernel_is_glorot(scale: float) -> None:
    first = new("embedding", scale, hidden=128).first
    assert isinstance(first, Embedding)
    assert np.std(first.observation) == pytest.approx(0.88 * scale, rel=0.1)  # a normal distribution cut at 2 of it
    assert abs(first.observation).max() <= 2 * scale
    assert abs(first.kernel).max() == pytest.approx((6 / (256 + 512)) ** 0.5, rel=0.01)


def test_one_hot_is_glorot_times_the_scale() -> None:
    first = new("one-hot", 3.0, hidden=128).first
    assert isinstance(first, OneHot)
    assert abs(first.action).max() == pytest.approx(3 * (6 / (28 + 128 + 512)) ** 0.5, rel=0.01)


def test_the_tables_are_the_sum_of_what_was_seen_and_done() -> None:
    """Joint action 17 of the sizes (4, 2, 3) is (2, 1, 2)."""
    policy = new("embedding")
    first = policy.first
    assert isinstance(first, Embedding)
    move, write, symbol = first.sub_actions
    embedded = first.observation[3] + first.bias + move[2] + write[1] + symbol[2]
    folded = policies.fold(policy)
    np.testing.assert_allclose(folded.seen[3] + folded.done[17], embedded @ first.kernel + policy.bias, rtol=1e-5)


@pytest.mark.parametrize("first_layer", policies.FIRST_LAYERS)
def test_before_the_first_step_no_action_was_taken(first_layer: str) -> None:
    assert not policies.fold(new(first_layer)).done[-1].any()


@pytest.mark.parametrize("first_layer", policies.FIRST_LAYERS)
def test_seeds_differ_and_repeat(first_layer: str) -> None:
    one, again, other = new(first_layer), new(first_layer), new(first_layer, seed=1)
    same = jax.tree.map(lambda a, b: bool((a == b).all()), one, again)
    assert all(jax.tree.leaves(same))
    assert not bool((one.recurrent == other.recurrent).any())
