"""A task of one's own: after a row of bits, say whether the number of ones is odd.

urex tasks examples.parity:parity
"""

import jax
import jax.numpy as jnp

from urex import tasks
from urex.tasks import Levels

WAIT, EVEN, ODD = range(3)


class Parity(tasks.Task):
    """Say whether the ones among the bits are even or odd."""

    observations = 3  # a bit, or 2: the row is over
    actions = (3,)
    max_steps = 33
    levels = Levels(first=1, top=30)
    reward_threshold = 0.95

    def sample(self, key, level):
        bits = jax.random.bernoulli(key, shape=(self.max_steps,)).astype(jnp.int32)
        return jnp.where(jnp.arange(self.max_steps) < level, bits, 2)

    def start(self, instance):
        return jnp.int32(0), jnp.asarray(False)  # how many bits have gone by, whether the episode is over

    def observe(self, instance, state):
        return instance[state[0]]

    def step(self, instance, state, action):
        (said,) = action
        ones = jnp.sum(instance == 1)
        right = (self.observe(instance, state) == 2) & (said == jnp.where(ones % 2 == 1, ODD, EVEN))
        over = (said != WAIT) | (state[0] == self.max_steps - 1)
        return tasks.absorb(state[1], state, ((state[0] + 1, over), jnp.where(right, 1.0, 0.0), over))

    def shortfall(self, instance, level, total_reward):
        return total_reward - 1.0


tasks.register("parity", Parity)
