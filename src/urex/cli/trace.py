"""`urex trace`: one episode of a trained agent, step by step."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.console import Console

from urex.cli.flags import Json, add_working_directory
from urex.errors import UserError

if TYPE_CHECKING:
    from urex.evaluation import Trace
    from urex.tasks import Task
    from urex.trial import Trial

Run = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]


def trace(
    run: Run,
    *,
    length: int | None = None,
    tape: str | None = None,
    position: int | None = None,
    seed: int = 0,
    sampled: bool = False,
    as_json: Json = False,
) -> None:
    """Show an episode of a trained agent: the tape, the path of its head, what it writes, and how sure it is.

    Args:
        run: The directory of a run.
        length: Cells of the tape, columns of the sum, or n; at random, from the first level up, unless given.
        tape: The tape itself: 2041 or 2,0,4,1; for additions the columns, 12,02,10.
        position: Of the number to find, for binary-search with --length.
        seed: Decides the instance, and with --sampled the actions.
        sampled: Draw actions from the policy, as in training, instead of those of largest probability.
    """
    add_working_directory()
    import jax  # it takes a while, and help should not wait for that

    from urex import evaluation, views
    from urex.learners import make_learner
    from urex.policies import greedy
    from urex.runs import load_policy
    from urex.tasks.request import request

    trial, policy = load_policy(run)
    options = _options(length, tape, position)
    task = _roomy(trial, options)
    key, instance_key = jax.random.split(jax.random.key(seed))
    draw, argument = request(task, options, _modest_level(task))
    act = make_learner(trial.config).act if sampled else greedy
    episode = evaluation.trace_episode(policy, task, draw(task, instance_key, argument), key=key, act=act)
    if as_json:
        print(json.dumps({"run": str(run), "task": trial.task, **_document(task, episode)}, indent=2))
    else:
        print(views.draw_trace(task, episode, colour=Console().is_terminal))


def _roomy(trial: "Trial", options: dict[str, Any]) -> "Task":
    """The run's task, with room for the instance that is asked for."""
    from urex.tasks import SizedTask
    from urex.trial import make_task

    task = trial.config.task
    asked = len(options.get("tape", ())) or options.get("length") or options.get("n") or 0
    if isinstance(task, SizedTask) and asked > task.max_length:
        return make_task(trial.task, trial.recipe, max_length=asked)
    return task


def _modest_level(task: "Task") -> int:
    """A level whose episodes are long enough to show something, and short enough to be read."""
    levels = task.levels
    return levels.first + (levels.top - levels.first) // 5


def _document(task: "Task", episode: "Trace") -> dict[str, Any]:
    """The episode for other programs."""
    import jax.numpy as jnp

    from urex import evaluation, views

    facts = {name: value.tolist() for name, value in views.instance_facts(task, episode.instance).items()}
    columns = zip(episode.observation, episode.action, episode.probability, episode.reward, strict=False)
    steps = [
        {"observation": int(seen), "action": action.tolist(), "probability": float(sure), "reward": float(reward)}
        for seen, action, sure, reward in columns
    ]
    solved = bool(evaluation.solved(task, episode.instance, jnp.float32(episode.total_reward)))
    return {**facts, "solved": solved, "total_reward": episode.total_reward, "steps": steps}


def _options(length: int | None, tape: str | None, position: int | None) -> dict[str, Any]:
    """What is asked of the instance, as a reset of an environment is asked for it."""
    if tape is not None:
        if length is not None or position is not None:
            raise UserError(f"--tape {tape}: it says all of the instance; leave --length and --position away")
        return {"tape": _symbols(tape)}
    if position is not None:
        if length is None:
            raise UserError(f"--position {position}: give the size of the array too, by --length")
        return {"n": length, "position": position}
    return {} if length is None else {"length": length}


def _symbols(tape: str) -> list[Any]:
    """2041 as its symbols; 12,02 as columns if there is more than one digit in them."""
    if not tape.replace(",", "").isdigit():
        raise UserError(f"--tape {tape!r}: write its symbols as digits, 2041, and the columns of additions 12,02,10")
    parts = tape.split(",") if "," in tape else list(tape)
    return [int(part) if len(part) == 1 else [int(digit) for digit in part] for part in parts]
