"""One step up a gradient: its direction, its clipping, and that trials keep to themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import tasks
from urex.config import Config, Hypers, stack_hypers
from urex.learners import climber

CONFIG = Config(tasks.get("copy"), hidden=4)
INIT = jax.jit(climber.init, static_argnums=0)
ASCEND = jax.jit(climber.ascend)


def climbed(scale: float, *trials: Hypers) -> tuple[climber.Climber, climber.Climber, jax.Array]:
    """Climbers before and after a step along a gradient of ones times `scale`, and the norms."""
    hypers = stack_hypers(trials)
    before = INIT(CONFIG, jax.random.split(jax.random.key(0), len(trials)), hypers)
    gradient = jax.tree.map(lambda leaf: scale * jnp.ones_like(leaf), before.policy)
    return before, *ASCEND(before, gradient, hypers)


def moves(before: climber.Climber, after: climber.Climber) -> list[np.ndarray]:
    """How far each parameter went."""
    pairs = zip(jax.tree.leaves(before.policy), jax.tree.leaves(after.policy), strict=True)
    return [np.asarray(b - a) for a, b in pairs]


def test_it_goes_up_by_the_learning_rate() -> None:
    """Adam's first step is the learning rate, whatever the size of the gradient."""
    before, after, _ = climbed(3.0, Hypers(learning_rate=0.01, clip_norm=1e9))
    for move in moves(before, after):
        np.testing.assert_allclose(move, 0.01, rtol=1e-3)


def test_trials_have_their_own_rates() -> None:
    before, after, _ = climbed(3.0, Hypers(learning_rate=0.01), Hypers(learning_rate=0.1))
    for move in moves(before, after):
        np.testing.assert_allclose(move[0], 0.01, rtol=1e-3)
        np.testing.assert_allclose(move[1], 0.1, rtol=1e-3)


def test_the_gradient_is_clipped_by_its_norm_over_all_parameters() -> None:
    """Seen in Adam's first moment, which is a tenth of the clipped gradient."""
    before, after, norm = climbed(3.0, Hypers(clip_norm=2.0), Hypers(clip_norm=1e9))
    count = sum(leaf[0].size for leaf in jax.tree.leaves(before.policy))
    np.testing.assert_allclose(norm, 3.0 * np.sqrt(count), rtol=1e-5)
    mean = after.optimizer[1].mean.recurrent
    np.testing.assert_allclose(
        mean[0], -0.1 * 2.0 / np.sqrt(count), rtol=1e-5
    )  # optimisers descend: the sign is turned
    np.testing.assert_allclose(mean[1], -0.1 * 3.0, rtol=1e-5)


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_the_initial_scale_is_the_trials(scale: float) -> None:
    hypers = stack_hypers([Hypers(init_scale=scale)])
    policy = INIT(CONFIG, jax.random.split(jax.random.key(0), 1), hypers).policy
    assert (
        1.2 * scale
        < abs(jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(policy.first)[1:4]])).max()
        <= 2 * scale
    )
