"""What came of a run."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from urex.evaluation import evaluate_top_level
from urex.learners import make_learner
from urex.policies import Policy
from urex.runs.metrics_log import number
from urex.runs.progress import solved_at
from urex.runs.recorder import Totals
from urex.runs.versions import device, versions
from urex.streams import Stream, key_of
from urex.training import TrainState
from urex.trial import Trial

FINAL_EPISODES = 400
"""Fresh episodes that the final reward is the mean of."""
LAST_UPDATES = 10
"""The updates whose mean reward is the training reward: the paper's "last few iterations of training"."""


class Result(NamedTuple):
    """A trained policy, and how it came about."""

    policy: Policy
    log: list[dict[str, Any]]
    """The metrics of every update."""
    summary: dict[str, Any]
    """What `result.json` holds."""
    finished: bool
    """Whether the run came to its end; otherwise it was interrupted, and can be gone on with."""

    @property
    def solved(self) -> bool:
        """Whether the task's reward threshold was reached, by the mean of 100 consecutive episodes."""
        return self.summary["solved"]


def result_of(trial: Trial, state: TrainState, log: list[dict[str, Any]], totals: Totals, **more: Any) -> Result:
    """The result of a run that ends here; `more` stands in the summary too."""
    policy = policy_of(state)
    finished = is_finished(trial, state)
    summary = {
        "task": trial.task,
        "solved": solved_at(state) is not None,
        "solved_at_update": solved_at(state),
        "final_reward": _final_reward(trial, policy) if finished else None,
        "training_reward": _training_reward(log),
        "level": int(state.curriculum.level[0]),
        "updates": int(state.updates),
        **totals._asdict(),
        "env_steps_per_s": totals.env_steps / totals.wall_s if totals.wall_s else None,
        **more,
        "finite": all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(policy)),
        "kernel": trial.config.kernel.name,
        "cores": trial.config.cores,
        "device": device(),
        "versions": versions(),
    }
    return Result(policy, log, summary, finished)


def _final_reward(trial: Trial, policy: Policy) -> float | None:
    """The mean of fresh episodes at full difficulty; None if it is not a number."""
    key, act = key_of(trial.seed, Stream.FINAL_REWARD), make_learner(trial.config).act
    result = evaluate_top_level(policy, trial.config.task, instances=FINAL_EPISODES, key=key, act=act)
    return number(np.float32(result.reward))


def _training_reward(log: list[dict[str, Any]]) -> float | None:
    """The mean over the last updates; None if it is not a number."""
    last = [line["reward_mean"] for line in log[-LAST_UPDATES:]]
    return None if None in last or not last else sum(last) / len(last)


def is_finished(trial: Trial, state: TrainState) -> bool:
    """Whether all updates are made, or enough of them if it was to stop when solved."""
    solved = trial.recipe.until_solved and solved_at(state) is not None
    return solved or int(state.updates) >= trial.num_updates


def policy_of(state: TrainState) -> Policy:
    """The policy of the only trial there is, on one device whatever it was trained on."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[0]), state.learner.policy)
