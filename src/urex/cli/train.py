"""`urex train`: train a policy, or go on with a run."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.console import Console

from urex.cli.flags import Json, Real, Settings, add_working_directory, optional
from urex.cli.interrupts import Interrupts
from urex.errors import UserError
from urex.recipe import Recipe

if TYPE_CHECKING:
    from urex.runs import Result
    from urex.runs.directory import Directory
    from urex.trial import Trial

Name = Annotated[str | None, tyro.conf.Positional, optional("[TASK]")]
Place = Annotated[Path | None, optional("PATH")]
Training = Annotated[
    Settings, tyro.conf.OmitArgPrefixes, tyro.conf.arg(help="Without them it is trained as in the paper.")
]


def train(
    task: Name = None,
    *,
    out: Place = None,
    resume: Place = None,
    checkpoint_every: Real = 30.0,
    as_json: Json = False,
    training: Training = Settings(),  # noqa: B008  it is frozen
) -> int:
    """Train a policy, or go on with a run.

    What comes of it is written to a directory, by which it can be gone on with, evaluated and traced. Ctrl-C stops
    after the updates under way, and nothing is lost; a second one ends it at once, and loses what came after the
    last checkpoint.

    Args:
        task: What to learn; see `urex tasks`. With a module before it, my.module:name, that is imported first.
        out: The run directory to make (default: runs/TASK-1, or the first number that is free).
        resume: Go on with the run in this directory. It has its settings, but for --num-updates.
        checkpoint_every: Seconds between checkpoints.
    """
    from urex.cli.progress import watching  # JAX comes with these, and help should not wait for that
    from urex.devices import use_cores
    from urex.runs.directory import cores_of
    from urex.runs.run import run_on_disk

    use_cores(cores_of(resume) if resume else training.cores)
    add_working_directory()
    if not checkpoint_every >= 0:
        raise UserError(f"--checkpoint-every {checkpoint_every:g}: it must be 0 or more seconds")
    directory, trial = _go_on(resume, task, training, out) if resume else _begin(task, training, out)
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    console.print(f"{trial.task} by {_method(trial.recipe)}, seed {trial.seed}, in {directory.path}")
    before = _written(directory.result)
    with Interrupts(console) as interrupts, watching(console, trial.config.task.reward_threshold) as watch:
        result = run_on_disk(directory, trial, watch=watch, stop=interrupts.received, checkpoint_every=checkpoint_every)
    if as_json:
        print(json.dumps({"run": str(directory.path), "finished": result.finished, **result.summary}, indent=2))
    if before is not None and before == _written(directory.result):
        console.print(_already(trial.recipe, result))
    _tell(console, shlex.quote(str(directory.path)), result)
    return 0 if result.finished else interrupts.exit_code


def _written(path: Path) -> int | None:
    """When that was, if the file is there."""
    return path.stat().st_mtime_ns if path.exists() else None


def _already(recipe: Recipe, result: "Result") -> str:
    if recipe.until_solved and result.solved:
        done = "it was to go on until solved, and is"
    else:
        done = f"all {recipe.num_updates} updates are made"
    return f"nothing to do: {done}; ask for more by --num-updates"


def _tell(console: Console, path: str, result: "Result") -> None:
    """What came of it, and what can be done next."""
    if not result.finished:
        console.print(f"stopped after update {result.summary['updates']}; go on with: urex train --resume {path}")
        return
    style = "green" if result.solved else "yellow"
    console.print(_verdict(result.summary), style=style, soft_wrap=not console.is_terminal)
    console.print(f"look at it with: urex evaluate {path}, or urex trace {path}")


def _begin(task: str | None, settings: Recipe, out: Path | None) -> "tuple[Directory, Trial]":
    """A new run."""
    from urex.runs import directory
    from urex.trial import check_used, prepare

    if task is None:
        raise UserError("no task given: name one, as in `urex train copy`, or a run to go on with by --resume")
    trial = prepare(task, settings.given())
    check_used(settings.given())
    path = out or directory.next_free(Path("runs"), trial.task.rpartition(":")[2])
    return directory.create(path, trial), trial


def _go_on(path: Path, task: str | None, settings: Recipe, out: Path | None) -> "tuple[Directory, Trial]":
    """A run that is there already, perhaps with more updates to make."""
    from urex.runs import directory
    from urex.trial import extended

    run, trial = directory.read_trial(path)
    given = settings.given()
    if task not in (None, trial.task):
        raise UserError(f"task {task!r}: the run in {path} is one of {trial.task!r}; leave the task away with --resume")
    if given.keys() - {"num_updates"} or out:
        name = next(iter(given.keys() - {"num_updates"}), "out").replace("_", "-")
        raise UserError(f"--{name}: the run in {path} has its settings; with --resume give none but --num-updates")
    return run, extended(trial, given["num_updates"]) if given else trial


def _method(recipe: Recipe) -> str:
    if recipe.learner == "double-q":
        return "double Q-learning"
    return f"{str(recipe.objective).upper()} (tau {recipe.tau:g})"


def _verdict(summary: dict[str, Any]) -> str:
    """What came of it, in a line."""
    from urex.cli.progress import duration

    solved_at, reward, rate = (summary[name] for name in ("solved_at_update", "final_reward", "env_steps_per_s"))
    first = f"not solved in {summary['updates']} updates" if solved_at is None else f"solved at update {solved_at}"
    if not summary["finite"]:
        return f"{first}; it diverged: parameters are no longer numbers; try a smaller --learning-rate"
    paid = "not a number" if reward is None else f"{reward:.2f}"
    speed = "" if rate is None else f", {rate:,.0f} steps/s"
    return f"{first}; reward {paid} at full difficulty; {duration(summary['wall_s'])}{speed}"
