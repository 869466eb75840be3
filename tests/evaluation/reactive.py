"""Policies made by hand: an LSTM of the usual form whose action is a given function of what it sees and did last."""

from collections.abc import Callable
from itertools import product
from math import prod

import jax.numpy as jnp
import numpy as np

from urex.policies import Policy
from urex.policies.first_layer import OneHot
from urex.tasks import Task

LEFT, RIGHT = range(2)
INC, CMP = 0, 3

SubActions = tuple[int, ...]
Rule = Callable[[int, SubActions | None], SubActions]
"""From the observation and the previous action, None at the start, to the next one."""


def reactive(task: Task, rule: Rule) -> Policy:
    """The policy that follows the rule: greedily always, sampled but for about one step in 10^5.

    One unit stands for each pair of an observation and a previous action. Its content is written
    anew at every step, 1 if the pair is there and -1 if not; the readout asks which of them is 1.
    """
    actions = list(product(*map(range, task.actions)))
    pairs = list(product(range(task.observations), [*actions, None]))
    hidden = len(pairs)
    seen, done = np.zeros((task.observations, hidden)), np.zeros((len(actions), hidden))
    bias, readout = np.zeros(hidden), np.zeros((hidden, prod(task.actions)))
    for unit, (observation, previous) in enumerate(pairs):
        seen[observation, unit] = 40.0
        if previous is None:  # any previous action rules it out
            done[:, unit], bias[unit] = -40.0, -20.0
        else:
            done[actions.index(previous), unit], bias[unit] = 40.0, -60.0
        readout[unit, actions.index(rule(observation, previous))] = 10.0
    ones = np.ones(hidden)

    def content(x: np.ndarray) -> jnp.ndarray:
        still = np.zeros_like(x)
        return jnp.asarray(np.concatenate([still, still, x, still], axis=-1), jnp.float32)

    return Policy(
        first=OneHot(observation=content(seen), action=content(done)),
        recurrent=jnp.zeros((hidden, 4 * hidden)),
        bias=content(bias) + jnp.asarray(np.concatenate([40 * ones, -40 * ones, 0 * ones, 40 * ones]), jnp.float32),
        readout=jnp.asarray(readout, jnp.float32),
        readout_bias=jnp.asarray(readout.sum(axis=0) * np.tanh(1.0), jnp.float32),  # what the units at -1 take away
    )


def copy(seen: int, previous: SubActions | None) -> SubActions:
    """Write what is under the head, go right; the blank after the last symbol is never acted on."""
    del previous  # unused: every cell is treated alike
    return RIGHT, 1, min(seen, 4)


def copy_without_e(seen: int, previous: SubActions | None) -> SubActions:
    """The same, but A is written for E."""
    return RIGHT, 1, copy(seen, previous)[2] % 4


def duplicated_input(seen: int, previous: SubActions | None) -> SubActions:
    """Write every second time."""
    return (RIGHT, 0, 0) if previous is not None and previous[1] else (RIGHT, 1, min(seen, 4))


def reverse(seen: int, previous: SubActions | None) -> SubActions:
    """Go right to the blank, then left, writing all but the blank."""
    if seen == 2:
        return LEFT, 0, 0
    returning = previous is not None and previous[0] == LEFT
    return (LEFT, 1, seen) if returning else (RIGHT, 0, 0)


def linear_search(seen: int, previous: SubActions | None) -> SubActions:
    """CMP(1) and INC(1) by turns."""
    del seen  # unused: the search goes on until the number is found
    return (INC, 1) if previous == (CMP, 1) else (CMP, 1)
