"""`urex train`: train a policy, or go on with a run."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from urex.cli.flags import Json, add_working_directory
from urex.cli.interrupts import Interrupts
from urex.errors import UserError
from urex.recipe import Recipe

Name = Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")]


def train(
    task: Name = None,
    *,
    settings: Annotated[Recipe, tyro.conf.arg(name="")] = Recipe(),  # noqa: B008  it is frozen
    out: Path | None = None,
    resume: Path | None = None,
    checkpoint_every: float = 30.0,
    as_json: Json = False,
) -> int:
    """Train a policy.

    It is trained by UREX, with the paper's settings for the task, unless you give others. The run directory can be
    gone on with, evaluated and traced. Ctrl-C stops after the updates under way, and nothing is lost.

    Args:
        task: What to learn; see `urex tasks`. `module:name` imports the module first.
        out: The run directory to make; runs/TASK-1, or the first number that is free, unless given.
        resume: Go on with the run in this directory. Of the settings only --num-updates may be given then.
        checkpoint_every: Seconds between checkpoints.
    """
    from urex.cli.progress import watching  # JAX comes with these, and help should not wait for that
    from urex.runs.run import run_on_disk

    add_working_directory()
    if checkpoint_every < 0:
        raise UserError(f"checkpoint-every {checkpoint_every:g}: it must be 0 or more seconds")
    directory, trial = _go_on(resume, task, settings, out) if resume else _begin(task, settings, out)
    console = Console(stderr=True, highlight=False)
    console.print(f"{trial.task} by {_method(trial.recipe)}, seed {trial.recipe.seed}, in {directory.path}")
    with Interrupts() as interrupts, watching(console, trial.config.task.reward_threshold) as watch:
        result = run_on_disk(directory, trial, watch=watch, stop=interrupts.received, checkpoint_every=checkpoint_every)
    if not result.finished:
        console.print(
            f"stopped after update {result.summary['updates']}; go on with: urex train --resume {directory.path}"
        )
    if as_json:
        print(json.dumps({"run": str(directory.path), "finished": result.finished, **result.summary}, indent=2))
    elif result.finished:
        console.print(_verdict(result.summary), soft_wrap=True)
    return 0 if result.finished else interrupts.exit_code


def _begin(task: str | None, settings: Recipe, out: Path | None):
    """A new run."""
    from urex.runs import directory
    from urex.trial import prepare

    if task is None:
        raise UserError("no task given: name one, as in `urex train copy`, or a run to go on with by --resume")
    trial = prepare(task, settings.given())
    path = out or directory.next_free(Path("runs"), trial.task.rpartition(":")[2])
    return directory.create(path, trial), trial


def _go_on(path: Path, task: str | None, settings: Recipe, out: Path | None):
    """A run that is there already, perhaps with more updates to make."""
    from urex.runs import directory
    from urex.trial import prepare

    run, trial = directory.read_trial(path)
    given = settings.given()
    if task not in (None, trial.task):
        raise UserError(f"task {task!r}: the run in {path} is one of {trial.task!r}; leave the task away with --resume")
    if given.keys() - {"num_updates"} or out:
        name = next(iter(given.keys() - {"num_updates"}), "out").replace("_", "-")
        raise UserError(f"--{name}: the run in {path} has its settings; with --resume give none but --num-updates")
    if given:
        trial = prepare(trial.task, dataclasses.asdict(trial.recipe) | given)
        directory.write_config(run, trial)
    return run, trial


def _method(recipe) -> str:
    if recipe.learner == "double-q":
        return "double Q-learning"
    return f"{recipe.objective.upper()} (tau {recipe.tau:g})"


def _verdict(summary: dict) -> str:
    if summary["solved"]:
        first = f"[green]solved[/] at update {summary['solved_at_update']}"
    else:
        first = f"[yellow]not solved[/] in {summary['updates']} updates"
    rate = summary["env_steps_per_s"]
    speed = "" if rate is None else f", {rate:,.0f} environment steps/s"
    return f"{first}; reward {summary['final_reward']:.2f} at full difficulty; {summary['wall_s']:.0f} s{speed}"
