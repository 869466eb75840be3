"""The objectives: what each sample's log-probability is worth, given its reward.

Each is written as the coefficient of d log_prob(a) in its gradient, for K samples of each of N
instances, with r̂ = r - mean_K r. A log-probability is that of a whole episode, and finite, as it is for
whatever was sampled: MENT's coefficients are not defined without that.
"""

import functools
from collections.abc import Callable

import jax
from jaxtyping import Array, Float

from urex.objectives.baseline import below_best, less_mean
from urex.objectives.weights import Tau, importance_weights

Objective = Callable[[Float[Array, "N K"], Float[Array, "N K"], Tau], Float[Array, "N K"]]
"""From (log_prob, reward, tau) to coefficients; the gradient to ascend is the sum of coefficient * d log_prob."""


def constant(objective: Objective) -> Objective:
    """The same objective with coefficients through which no gradient flows.

    So the gradient of sum(coefficient * log_prob) by autodiff is the estimate that was meant.
    """

    @functools.wraps(objective)
    def stopped(log_prob: Float[Array, "N K"], reward: Float[Array, "N K"], tau: Tau) -> Float[Array, "N K"]:
        return jax.lax.stop_gradient(objective(log_prob, reward, tau))

    return stopped


@functools.cache  # one function for one objective, so that none is compiled twice
def centred(objective: Objective) -> Objective:
    """The same objective with the K-mean of its coefficients subtracted.

    For UREX it subtracts the mean of the importance weights too, (r̂ + tau (K w - 1)) / (KN), as the
    authors' released program does and the paper does not. Where that mean is the same whatever was
    sampled, as in all objectives here, the expected gradient stays as it was and only its variance changes.
    """

    @functools.wraps(objective)
    def less_its_mean(log_prob: Float[Array, "N K"], reward: Float[Array, "N K"], tau: Tau) -> Float[Array, "N K"]:
        return less_mean(objective(log_prob, reward, tau))

    return less_its_mean


@constant
def reinforce(log_prob: Float[Array, "N K"], reward: Float[Array, "N K"], tau: Tau) -> Float[Array, "N K"]:
    """r̂ / (KN): the expected reward E[r], by REINFORCE (section "Learning a Policy by Maximizing Expected Reward")."""
    del log_prob, tau  # unused: only the reward counts
    return less_mean(reward) / reward.size


@constant
def ment(log_prob: Float[Array, "N K"], reward: Float[Array, "N K"], tau: Tau) -> Float[Array, "N K"]:
    """(x - mean_K x) / (KN) with x = r - tau log_prob: E[r - tau log pi], the entropy-regularised expected reward.

    The further -tau of its gradient (section "Learning a Policy by Maximizing Expected Reward") goes
    with the mean, which includes the entropy's part (section "Implementation details").
    """
    return less_mean(below_best(reward) - tau * log_prob) / reward.size


@constant
def raml(log_prob: Float[Array, "N K"], reward: Float[Array, "N K"], tau: Tau) -> Float[Array, "N K"]:
    """tau w / N: tau E*[log pi] under pi* = exp(r/tau)/Z, with the importance weights w that correct for sampling pi.

    Section "Under-appreciated Reward Exploration".
    """
    return tau * importance_weights(log_prob, reward, tau) / reward.shape[0]


@constant
def urex(log_prob: Float[Array, "N K"], reward: Float[Array, "N K"], tau: Tau) -> Float[Array, "N K"]:
    """(r̂/K + tau w) / N: E[r] + tau E*[log pi], the sum of the expected reward and RAML's objective.

    Section "Under-appreciated Reward Exploration". The mean of the importance weights is not
    subtracted (section "Implementation details"); `centred(urex)` is the form that does.
    """
    return reinforce(log_prob, reward, tau) + raml(log_prob, reward, tau)


@constant
def rwr(log_prob: Float[Array, "N K"], reward: Float[Array, "N K"], tau: Tau) -> Float[Array, "N K"]:
    """softmax_K(r/tau) / N: log E[exp(r/tau)], by reward-weighted regression (section "Related Work").

    The paper prints a further 1/K, a constant factor; without it this estimates that very gradient.
    """
    del log_prob  # unused: the weights do not correct for the sampling distribution
    return jax.nn.softmax(below_best(reward) / tau, axis=-1) / reward.shape[0]
