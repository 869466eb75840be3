"""The fused kernels in Pallas's interpreter, against the reference; the same programs are compiled for GPUs."""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import policies, rollout, tasks, training
from urex.config import Config, Hypers, stack_hypers
from urex.kernels import XLA, Kernel, Sampled
from urex.kernels.fused import INTERPRETER, Tiles, fused
from urex.kernels.fused.forward import choice
from urex.kernels.fused.packing import NEVER, Packed
from urex.kernels.fused.tile import power_of_2
from urex.kernels.fused.verify import Disagreement, disagreement
from urex.policies import Policy
from urex.tasks import Task
from urex.training.update import draw_instances

kernel_module = sys.modules["urex.kernels.fused.kernel"]
SMALL = Tiles(lanes=16, splits=2)
KERNEL = fused(SMALL, INTERPRETER)
HIDDEN, TRIALS = 16, 2


@pytest.mark.parametrize(
    ("name", "options", "tiles"),
    [
        ("copy", {"max_length": 6}, SMALL),
        pytest.param("reversed-addition", {"max_length": 5}, SMALL, marks=pytest.mark.slow),
        pytest.param("repeat-copy", {"max_length": 4}, Tiles(16, resident=False), marks=pytest.mark.slow),
        pytest.param("binary-search", {"max_length": 32}, SMALL, marks=pytest.mark.slow),
    ],
)
def test_they_agree_with_the_reference(name: str, options: dict[str, int], tiles: Tiles) -> None:
    """A row, grids, and a task that reads no memory; weights that stay on the chip, and weights read at every step."""
    found = disagreement(tasks.get(name, **options), HIDDEN, tiles, INTERPRETER)
    assert found.accepted(), found
    assert found.gradient > 1e-4, "products are in bfloat16, or something other than the kernel was compared"


def played(first_layer: str = "embedding", lanes: tuple[int, int] = (5, 4)) -> tuple[Task, Policy, Sampled, Sampled]:
    """A task and its policies, and the same episodes by the kernel and by the reference."""
    task = tasks.get("copy", max_length=6)
    config = Config(task, instances=lanes[0], samples=lanes[1], hidden=HIDDEN)
    keys = jax.random.split(jax.random.key(5), TRIALS)

    def new(key: jax.Array) -> Policy:
        policy = policies.init(key, task, hidden=HIDDEN, first_layer=first_layer, scale=jnp.float32(1.0))
        return Policy(policy.first, policy.recurrent, policy.bias, policy.readout, policy.readout_bias.at[::2].set(1.0))

    policy = jax.vmap(new)(keys)
    instances = draw_instances(config, keys, jnp.full((TRIALS,), 4, jnp.int32))
    uniforms = rollout.draw_uniforms(keys, config.lanes)

    def both(policy: Policy) -> tuple[Sampled, Sampled]:
        ours, theirs = (kernel.sample(policy, task, instances, uniforms, ()) for kernel in (KERNEL, XLA))
        return ours, theirs

    return task, policy, *jax.jit(both)(policy)


@pytest.mark.parametrize("first_layer", ["one-hot", pytest.param("embedding", marks=pytest.mark.slow)])
def test_the_same_random_numbers_give_the_same_episodes_and_gradients(first_layer: str) -> None:
    task, policy, ours, theirs = played(first_layer)
    assert np.array_equal(ours.outcome.length, theirs.outcome.length)
    assert np.array_equal(ours.outcome.total_reward, theirs.outcome.total_reward)
    np.testing.assert_allclose(ours.outcome.output, theirs.outcome.output, atol=0.02)
    cotangent = jax.random.normal(jax.random.key(6), ours.outcome.output.shape)

    def gradient(kernel: Kernel, sampled: Sampled) -> list[jax.Array]:
        return jax.tree.leaves(jax.jit(lambda: kernel.pull_back(policy, task, sampled, cotangent)[0])())

    for a, b in zip(gradient(KERNEL, ours), gradient(XLA, theirs), strict=True):
        assert jnp.linalg.norm(a - b) < 0.02 * jnp.linalg.norm(b)


def test_what_is_executed_is_counted_tile_by_tile() -> None:
    """20 lanes in tiles of 16: each tile runs as long as its own longest episode."""
    _, _, ours, _ = played()
    length = np.asarray(ours.outcome.length)
    longest = np.stack([length[:, :16].max(axis=1), length[:, 16:].max(axis=1)], axis=1)
    assert np.array_equal(ours.residuals.steps, longest)
    assert int(ours.work.rounds) == longest.max()
    assert float(ours.work.lane_steps) == 16 * longest.sum()
    assert len(np.unique(longest)) > 1, "or the test shows nothing"


def test_lanes_that_only_pad_change_nothing() -> None:
    """What a cotangent of 0 gives to 16 of 20 lanes is what the 4 others give alone."""
    task, policy, ours, theirs = played()
    cotangent = jnp.zeros_like(ours.outcome.output).at[:, 16:].set(1.0)
    got, _ = jax.jit(lambda: KERNEL.pull_back(policy, task, ours, cotangent))()
    want, _ = jax.jit(lambda: XLA.pull_back(policy, task, theirs, cotangent))()
    assert jnp.linalg.norm(got.recurrent - want.recurrent) < 0.02 * jnp.linalg.norm(want.recurrent)


def test_it_trains_and_says_so() -> None:
    config = Config(tasks.get("copy", max_length=5), instances=4, samples=3, hidden=HIDDEN, kernel=KERNEL)
    hypers = stack_hypers([Hypers(), Hypers(tau=0.5)])
    state = training.init(config, hypers, jax.random.split(jax.random.key(0), 2))
    before = np.asarray(state.learner.policy.recurrent)
    state, log = training.advance(config, hypers, state, training.Limits(3))
    assert (before != np.asarray(state.learner.policy.recurrent)).mean() > 0.9
    used = np.asarray(log.lane_utilisation[:3])
    assert (used < 12 / 16 + 1e-6).all(), "4 lanes of 16 only pad"
    assert (used > 0).all()


@pytest.mark.parametrize(
    ("found", "accepted"),
    [
        (Disagreement(0.0, 0.001, 0.004, 0.006), True),
        (Disagreement(0.01, 0.001, 0.004, 0.006), False),
        (Disagreement(0.0, 0.05, 0.004, 0.006), False),
        (Disagreement(0.0, 0.001, 0.4, 0.006), False),
        (Disagreement(0.0, 0.001, 0.004, 0.97), False),
        (Disagreement(0.0, 0.001, float("nan"), 0.006), False),
        (Disagreement(0.0, 0.001, 0.004, float("nan")), False),
        (Disagreement(0.0, float("nan"), 0.004, 0.006), False),
        (Disagreement(float("nan"), 0.001, 0.004, 0.006), False),
    ],
)
def test_what_counts_as_agreement(found: Disagreement, accepted: bool) -> None:
    assert found.accepted() is accepted


@pytest.mark.slow
def test_a_configuration_that_computes_something_else_is_found_out() -> None:
    wrong = INTERPRETER._replace(tanh=lambda x: jnp.tanh(1.3 * x))
    assert not disagreement(tasks.get("copy", max_length=5), HIDDEN, SMALL, wrong).accepted()


@pytest.mark.parametrize("uniform", [0.0, 2.0**-23, 0.5, 1 - 2.0**-23])
@pytest.mark.parametrize("likely", [0, 3, 9])
def test_an_action_of_hardly_any_probability_is_never_drawn(uniform: float, likely: int) -> None:
    """UREX would follow such an action wherever it leads; sums that are rounded otherwise must not choose one."""
    bias = jnp.full((16,), NEVER).at[:10].set(-40.0).at[likely].set(0.0)
    policy = Packed(jnp.zeros((16, 4)), jnp.zeros((4, 16)), jnp.zeros((4, 16), jnp.bfloat16), bias)  # pyright: ignore
    action, log_prob, score = choice(policy, 10)(jnp.zeros((3, 4), jnp.bfloat16), jnp.full((3,), uniform))
    assert set(np.asarray(action)) == {likely}
    np.testing.assert_allclose(log_prob, 0.0, atol=1e-6)
    np.testing.assert_allclose(score, 0.0, atol=1e-6)


def test_actions_are_drawn_by_their_probability() -> None:
    """Of 1, 2 and 5 eighths: the numbers from 0 to 1 fall to them in this order and in these shares."""
    bias = jnp.full((16,), NEVER).at[:3].set(jnp.log(jnp.array([1.0, 2.0, 5.0])))
    policy = Packed(jnp.zeros((16, 4)), jnp.zeros((4, 16)), jnp.zeros((4, 16), jnp.bfloat16), bias)  # pyright: ignore
    uniform = (jnp.arange(80) + 0.5) / 80
    action, log_prob, _ = choice(policy, 3)(jnp.zeros((80, 4), jnp.bfloat16), uniform)
    assert list(np.asarray(action)) == [0] * 10 + [1] * 20 + [2] * 50
    np.testing.assert_allclose(jnp.exp(log_prob)[jnp.array([0, 20, 79])], [1 / 8, 2 / 8, 5 / 8], rtol=1e-6)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "fault", ["tiles", pytest.param("action before", marks=SLOW), pytest.param("one gate", marks=SLOW)]
)
def test_a_backward_pass_that_computes_something_else_is_found_out(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second tile left out, the wrong action before, a gate's gradient halved: forward all is well."""
    right = kernel_module.weights_gradient

    def wrong(gates: Any, trace: Any, *sizes: Any, **how: Any) -> Any:
        if fault == "tiles":
            trace = trace._replace(steps=trace.steps.at[:, 1::2].set(0))
        if fault == "action before":
            trace = trace._replace(action=jnp.roll(trace.action, 1, axis=1))
        if fault == "one gate":
            gates = gates.at[..., :HIDDEN].multiply(0.5)
        return right(gates, trace, *sizes, **how)

    fused.cache_clear()
    monkeypatch.setattr(kernel_module, "weights_gradient", wrong)
    found = disagreement(tasks.get("copy", max_length=4), HIDDEN, SMALL, INTERPRETER)
    assert found.outcomes == 0
    assert not found.accepted()


@pytest.mark.parametrize(("size", "rounded"), [(1, 16), (16, 16), (17, 32), (32, 32), (41, 64)])
def test_sizes_are_rounded_up_to_powers_of_2(size: int, rounded: int) -> None:
    assert power_of_2(size) == rounded
