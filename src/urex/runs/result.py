"""What came of a run."""

from typing import Any, NamedTuple

import jax
import numpy as np

from urex.evaluation import final_reward
from urex.learners import make_learner
from urex.policies import Policy
from urex.runs.metrics_log import number
from urex.runs.progress import solved_at
from urex.runs.recorder import Totals
from urex.runs.versions import device, versions
from urex.training import TrainState
from urex.trial import Trial

LAST_UPDATES = 10
"""The updates whose mean reward is the training reward: the paper's "last few iterations of training"."""
KERNEL = "xla"
"""The implementation of rollout and pull-back that ran."""


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
    # training splits this key, which is to fold 0 and 1 in
    key = jax.random.fold_in(jax.random.key(trial.seed), 2)
    reward = final_reward(policy, trial.config.task, key=key, act=make_learner(trial.config).act)
    summary = {
        "task": trial.task,
        "solved": solved_at(state) is not None,
        "solved_at_update": solved_at(state),
        "final_reward": number(np.asarray(reward)[()]),
        "training_reward": _training_reward(log),
        "level": int(state.curriculum.level[0]),
        "updates": int(state.updates),
        **totals._asdict(),
        "env_steps_per_s": totals.env_steps / totals.wall_s if totals.wall_s else None,
        **more,
        "kernel": KERNEL,
        "device": device(),
        "versions": versions(),
    }
    return Result(policy, log, summary, is_finished(trial, state))


def _training_reward(log: list[dict[str, Any]]) -> float | None:
    """The mean over the last updates; None if it is not a number."""
    last = [line["reward_mean"] for line in log[-LAST_UPDATES:]]
    return None if None in last else sum(last) / len(last)


def is_finished(trial: Trial, state: TrainState) -> bool:
    """Whether all updates are made, or enough of them if it was to stop when solved."""
    solved = trial.recipe.until_solved and solved_at(state) is not None
    return solved or int(state.updates) >= trial.num_updates


def policy_of(state: TrainState) -> Policy:
    """The policy of the only trial there is."""
    return jax.tree.map(lambda leaf: leaf[0], state.learner.policy)
