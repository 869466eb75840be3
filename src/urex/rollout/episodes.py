"""The records of a rollout. All arrays start with the axis of trials, then time where there is one, then lanes."""

from typing import NamedTuple

from jaxtyping import Array, Bool, Float, Int, PyTree


class Outcome(NamedTuple):
    """What an episode came to, one a lane."""

    total_reward: Float[Array, "trials lanes"]
    """r(a | h), the sum of the rewards of the steps."""
    output: Float[Array, "trials lanes"]
    """The sum of the chosen outputs; of log-probabilities, log pi(a | h)."""
    length: Int[Array, "trials lanes"]
    """The number of steps."""


class Steps(NamedTuple):
    """The steps of all lanes. What lies past an episode's length means nothing."""

    observation: Int[Array, "trials time lanes"]
    action: Int[Array, "trials time lanes"]
    reward: Float[Array, "trials time lanes"]
    outputs: Float[Array, "trials time lanes actions"]
    """The policy's outputs for every joint action."""


class Episodes(NamedTuple):
    """One episode a lane."""

    outcome: Outcome
    steps: Steps
    executed: Int[Array, ""]
    """How many steps the loop took: as many as the longest episode has."""


class Residuals(NamedTuple):
    """What the backward pass needs: the state of the LSTM before every step, and after the last one."""

    h: Float[Array, "trials time_and_one lanes hidden"]
    c: Float[Array, "trials time_and_one lanes hidden"]


class Progress(NamedTuple):
    """All lanes in the middle of their episodes."""

    state: PyTree
    observation: Int[Array, "trials lanes"]
    action: Int[Array, "trials lanes"]
    """The previous joint action; their number, when there is none."""
    over: Bool[Array, "trials lanes"]
    h: Float[Array, "trials lanes hidden"]
    c: Float[Array, "trials lanes hidden"]
    outcome: Outcome


class Moment(NamedTuple):
    """What one step leaves behind in every lane."""

    observation: Int[Array, "trials lanes"]
    action: Int[Array, "trials lanes"]
    reward: Float[Array, "trials lanes"]
    outputs: Float[Array, "trials lanes actions"]
