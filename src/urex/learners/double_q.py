"""One-step double Q-learning with a recurrent Q-function, the paper's value-based baseline."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from urex.config import Config, Hypers
from urex.kernels import xla
from urex.learners import climber
from urex.learners.climber import Climber
from urex.learners.learner import Batch, Experience, Learner
from urex.policies import Policy, epsilon_greedy, greedy
from urex.rollout import Episodes, pull_back, replay, sample, value


class DoubleQState(NamedTuple):
    """Each trial's online Q-function with its optimiser, and the target that it is held against."""

    online: Climber
    target: Policy

    @property
    def policy(self) -> Policy:
        """The network to evaluate."""
        return self.online.policy


def double_q(config: Config) -> Learner:
    """The learner of y_t = r_t + Q'(s_{t+1}, argmax_a Q(s_{t+1}, a)), with the rewards of the steps and no discount.

    Q is the online network, Q' the target, a copy of it that is renewed every `sync_every` updates.
    Actions are epsilon-greedy, epsilon = exploration * exploration_decay^update.
    """

    def init(keys: Key[Array, " trials"], hypers: Hypers) -> DoubleQState:
        online = climber.init(config, keys, hypers)
        return DoubleQState(online, jax.tree.map(jnp.copy, online.policy))  # donated buffers are never shared

    def update(state: DoubleQState, hypers: Hypers, batch: Batch) -> tuple[DoubleQState, Experience]:
        target = _where(batch.update % hypers.sync_every == 0, state.policy, state.target)
        epsilon = hypers.exploration * hypers.exploration_decay**batch.update
        act = epsilon_greedy(epsilon)
        episodes, residuals = sample(state.policy, config.task, batch.instances, batch.uniforms, act=act, output=value)
        error = td_error(episodes, replay(target, episodes))
        gradient = pull_back(state.policy, episodes, residuals, error / config.lanes, output=value)
        online, norm = climber.ascend(state.online, gradient, hypers)
        steps = episodes.outcome.length.sum(axis=1)
        info = {
            "gradient_norm": norm,
            "td_error": jnp.sqrt((error**2).sum(axis=(1, 2)) / steps),
            "exploration": epsilon,
        }
        return DoubleQState(online, target), Experience(episodes.outcome, info, xla.work(episodes), batch.space)

    return Learner(init, update, act=greedy)


def td_error(
    episodes: Episodes, target_outputs: Float[Array, "trials time lanes actions"]
) -> Float[Array, "trials time lanes"]:
    """y_t - Q(s_t, a_t); 0 past an episode's end. Nothing follows an episode's last step."""
    steps, length = episodes.steps, episodes.outcome.length[:, None, :]
    time = jnp.arange(steps.reward.shape[1])[None, :, None]
    best = greedy(steps.outputs, steps.reward)
    of_best = value(target_outputs, best)
    following = jnp.where(time < length - 1, _next(of_best), 0.0)
    error = steps.reward + following - value(steps.outputs, steps.action)
    return jnp.where(time < length, error, 0.0)


def _next(values: Float[Array, "trials time lanes"]) -> Float[Array, "trials time lanes"]:
    """At each step what stands at the next one."""
    return jnp.concatenate([values[:, 1:], jnp.zeros_like(values[:, :1])], axis=1)


def _where(condition: Bool[Array, " trials"], new: Policy, old: Policy) -> Policy:
    """Trial by trial, the new policy or the old one."""

    def choose(a: Array, b: Array) -> Array:
        return jnp.where(condition.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(choose, new, old)
