"""`urex trace`: one episode of a trained agent, step by step."""

import json
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console

from urex.cli.flags import (
    Json,
    Number,
    OptionalNumber,
    Run,
    Switch,
    add_working_directory,
    check_length,
    key_for,
    optional,
)
from urex.errors import UserError

if TYPE_CHECKING:
    from urex.evaluation import Trace
    from urex.tasks import TapeTask, Task
    from urex.tasks.task import Instance
    from urex.trial import Trial

Tape = Annotated[str | None, optional("SYMBOLS")]
Options = dict[str, Any]


def trace(
    run: Run,
    *,
    length: OptionalNumber = None,
    tape: Tape = None,
    position: OptionalNumber = None,
    seed: Number = 0,
    sampled: Switch = False,
    as_json: Json = False,
) -> None:
    """Show an episode of a trained agent, step by step.

    On a tape that is the path of its head, what it writes, and how sure it is of that; in BinarySearch the registers
    and the range that is left. The instance is a random one of modest size, unless you say which.

    Args:
        length: Cells of the tape, columns of the sum, or n.
        tape: The tape itself: CAEB, 2041 or 2,0,4,1; for additions the columns, 12,02,10.
        position: Where the number is that binary-search looks for, with --length.
        seed: Decides the instance, and with --sampled the actions.
        sampled: Draw actions from the policy, as in training, instead of taking those of largest probability.
    """
    if length is not None:
        check_length("--length", length)
    add_working_directory()
    import jax  # it takes a while, and help should not wait for that

    from urex import evaluation, views
    from urex.learners import make_learner
    from urex.policies import greedy
    from urex.runs import load_policy
    from urex.streams import Stream
    from urex.tasks.request import request

    trial, policy = load_policy(run)
    task = _roomy(trial, length if tape is None else len(tape))
    options = _options(task, length, tape, position)
    key, instance_key = jax.random.split(key_for(seed, Stream.TRACE))
    draw, argument = request(task, options, _modest_level(task))
    act = make_learner(trial.config).act if sampled else greedy
    instance = jax.jit(draw, static_argnums=0)(task, instance_key, argument)
    episode = evaluation.trace_episode(policy, task, instance, key=key, act=act)
    if as_json:
        print(json.dumps({"run": str(run), "task": trial.task, **_document(task, episode)}, indent=2))
    else:
        print(views.draw_trace(task, episode, colour=_has_colours(Console())))


def _has_colours(console: Console) -> bool:
    return console.color_system is not None and not console.no_color


def _roomy(trial: "Trial", length: int | None) -> "Task":
    """The run's task, with room for an instance of this length."""
    from urex.tasks import SizedTask
    from urex.trial import make_task

    task = trial.config.task
    if length is not None and isinstance(task, SizedTask) and length > task.max_length:
        return make_task(trial.task, trial.recipe, max_length=length)
    return task


def _modest_level(task: "Task") -> int:
    """A level whose episodes are long enough to show something, and short enough to be read."""
    levels = task.levels
    return levels.first + (levels.top - levels.first) // 5


def _options(task: "Task", length: int | None, tape: str | None, position: int | None) -> Options:
    """What is asked of the instance, as a reset of an environment is asked for it."""
    from urex.tasks import SizedTask, TapeTask
    from urex.tasks.binary_search import BinarySearch

    if tape is not None:
        if length is not None or position is not None:
            raise UserError(f"--tape {tape}: it says all of the instance; leave --length and --position away")
        if not isinstance(task, TapeTask):
            raise UserError(f"--tape {tape}: the run's task has no tape; leave it away")
        return {"tape": _symbols(task, tape)}
    if position is not None and not isinstance(task, BinarySearch):
        raise UserError(f"--position {position}: the run's task looks for no number; leave it away")
    if position is not None and length is None:
        raise UserError(f"--position {position}: give the size of the array too, by --length")
    if length is None:
        return {}
    if not isinstance(task, SizedTask):
        raise UserError(f"--length {length}: instances of the run's task have no length; leave it away")
    return {"length": length} if position is None else {"n": length, "position": position}


def _symbols(task: "TapeTask", tape: str) -> list[Any]:
    """A row of symbols as their numbers, or the columns of a grid as lists of them."""
    rules = task.rules
    digits = tape.upper().translate(_LETTERS) if rules.letters else tape
    parts = digits.split(",") if rules.rows > 1 or "," in digits else list(digits)
    fits = all(part.isdecimal() and (rules.rows == 1 or len(part) == rules.rows) for part in parts)
    if not fits or not parts:
        example = "CAEB or 2041" if rules.letters else ",".join(("121"[: rules.rows], "021"[: rules.rows]))
        raise UserError(f"--tape {tape!r}: its symbols are not to be made out; write it like {example}")
    return [int(part) if rules.rows == 1 else [int(digit) for digit in part] for part in parts]


_LETTERS = str.maketrans("ABCDEFGHIJ", "0123456789")
"""The names that people are shown for symbols."""


def _document(task: "Task", episode: "Trace") -> Options:
    """The episode for other programs."""
    import jax
    import jax.numpy as jnp

    from urex import evaluation, views
    from urex.runs.metrics_log import number

    instance, states = jax.tree.map(jnp.asarray, episode[:2])
    moving = {name: values.tolist() for name, values in views.state_facts(task, states).items()}
    columns = zip(episode.observation, episode.action, episode.probability, episode.reward, strict=False)
    steps = [
        {
            **{name: values[t] for name, values in moving.items()},
            "observation": int(seen),
            "action": action.tolist(),
            "probability": number(sure),
            "reward": number(reward),
        }
        for t, (seen, action, sure, reward) in enumerate(columns)
    ]
    good = bool(evaluation.solved(task, instance, jnp.float32(episode.total_reward)))
    return {**_fixed(task, instance), "solved": good, "total_reward": episode.total_reward, "steps": steps}


def _fixed(task: "Task", instance: "Instance") -> Options:
    """What does not change in an episode; of arrays what is in use, and the tape as `--tape` is given it."""
    from urex import views
    from urex.tasks import TapeTask

    facts = {name: value.tolist() for name, value in views.instance_facts(task, instance).items()}
    if not isinstance(task, TapeTask):
        return facts
    rows = task.rules.rows
    tape = instance.cells.reshape(-1, rows)[: instance.length]
    return {
        "tape": (tape[:, 0] if rows == 1 else tape).tolist(),
        "target": instance.target[: instance.target_length].tolist(),
        "time_limit": facts["time_limit"],
    }
