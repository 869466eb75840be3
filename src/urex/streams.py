"""Streams of randomness: of one seed, one for each purpose, so that none of them meets another."""

from enum import IntEnum

import jax
from jaxtyping import PRNGKeyArray


class Stream(IntEnum):
    """What randomness is for. The numbers are part of every result, so they never change."""

    TRAINING = 0
    FINAL_REWARD = 1
    EVALUATION = 2
    TRACE = 3


def key_of(seed: int, stream: Stream) -> PRNGKeyArray:
    """The key that a seed has for a purpose."""
    return jax.random.fold_in(jax.random.key(seed), stream)
