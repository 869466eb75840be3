"""Learners: how a batch of episodes changes a policy."""

from collections.abc import Callable

from urex.config import Config
from urex.learners.double_q import double_q as double_q
from urex.learners.learner import Batch as Batch
from urex.learners.learner import Experience as Experience
from urex.learners.learner import Learner as Learner
from urex.learners.policy_gradient import policy_gradient as policy_gradient

LEARNERS: dict[str, Callable[[Config], Learner]] = {"policy-gradient": policy_gradient, "double-q": double_q}
"""The learners by name."""


def make_learner(config: Config) -> Learner:
    """The learner that a configuration names."""
    return LEARNERS[config.learner](config)
