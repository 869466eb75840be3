"""`urex.train`: the whole of it in one call."""

from pathlib import Path
from typing import Any

from urex.errors import UserError, shortened
from urex.runs.directory import create, read_trial
from urex.runs.progress import Watch, ignore
from urex.runs.result import Result
from urex.runs.run import run_in_memory, run_on_disk
from urex.tasks import Task
from urex.trial import check_used, extended, prepare


def train(task: str | Task, *, out: str | Path | None = None, watch: Watch = ignore, **settings: Any) -> Result:
    """Train a policy, by UREX with the paper's settings unless others are given.

    On a CPU it is two cores that share the work if `urex.devices.use_cores()` was called before JAX was first used.

    >>> result = train("copy", num_updates=200, seed=0)
    >>> result.solved
    True

    Args:
        task: The name of a registered task, or a task.
        out: A directory to write the run to, so that it can be interrupted, gone on with and evaluated later.
        watch: Called about once a second with the run's `Progress`.
        settings: Fields of `urex.recipe.Recipe`, such as `objective`, `learning_rate` and `seed`. An
            objective may also be a function of (log_prob, reward, tau).
    """
    trial = prepare(task, settings)
    check_used(settings)
    if out is None:
        return run_in_memory(trial, watch=watch)
    if not isinstance(task, str):
        raise UserError(
            f"task {shortened(repr(task))}: a run on disk names its task;"
            " register it with `urex.tasks.register` and give its name, or train without `out`"
        )
    return run_on_disk(create(Path(out), trial), trial, watch=watch)


def resume(out: str | Path, *, num_updates: int | None = None, watch: Watch = ignore) -> Result:
    """Go on with the run in this directory, exactly where it stopped.

    Args:
        out: The directory that it was written to.
        num_updates: How many updates to make in all, to train longer than was asked for at first.
        watch: Called about once a second with the run's `Progress`.
    """
    directory, trial = read_trial(Path(out))
    return run_on_disk(directory, trial if num_updates is None else extended(trial, num_updates), watch=watch)
