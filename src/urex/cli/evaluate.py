"""`urex evaluate`: how a trained agent does on lengths that it may never have seen."""

import json
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from rich.table import Table

from urex.cli.flags import (
    NUMBERS,
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
    from jaxtyping import PRNGKeyArray

    from urex.evaluation import Reach
    from urex.policies import Policy
    from urex.tasks import Task
    from urex.trial import Trial

Lengths = Annotated[tuple[int, ...] | None, optional(NUMBERS)]
Document = dict[str, Any]

DEFAULT_LENGTHS = (30, 100, 500, 1000, 2000)
"""Those of the paper's Table 9, which ends with the last of them."""


def evaluate(
    run: Run,
    *,
    lengths: Lengths = None,
    until_failure: Switch = False,
    longest: OptionalNumber = None,
    instances: Number = 100,
    seed: Number = 0,
    as_json: Json = False,
) -> None:
    """Evaluate a trained agent, at lengths that it may never have seen.

    It takes the action of largest probability at every step. Accuracy is the share of instances that it solves
    without a mistake. BinarySearch is solved by a linear search too, so there the mean steps stand beside those of a
    linear and of the best search. A task whose instances have no length is evaluated at its top level.

    Args:
        lengths: Cells of the tape, columns of the sum, or n; exactly so many (default: 30 100 500 1000 2000).
        until_failure: Find the length up to which there is no mistake, as in the paper's Table 9, instead.
        longest: Where --until-failure ends (default: 2000).
        instances: Random instances of each length.
        seed: Decides which instances.
    """
    _check(lengths, until_failure, longest)
    add_working_directory()
    from urex.evaluation import evaluate_top_level  # JAX comes with these, and help should not wait for that
    from urex.runs import load_policy
    from urex.streams import Stream
    from urex.tasks import SizedTask

    key = key_for(seed, Stream.EVALUATION)

    trial, policy = load_policy(run)
    told = {"run": str(run), "task": trial.task}
    if not isinstance(trial.config.task, SizedTask):
        _check_unsized(trial, lengths, until_failure)
        rows = [evaluate_top_level(policy, trial.config.task, instances=instances, key=key)._asdict()]
        _tell({**told, "levels": rows}, as_json, _table(rows))
    elif until_failure:
        reach = _reach(trial, policy, DEFAULT_LENGTHS[-1] if longest is None else longest, instances, key)
        _tell({**told, **reach._asdict()}, as_json, _sentence(reach))
    else:
        rows = _at_lengths(trial, policy, lengths or DEFAULT_LENGTHS, instances, key)
        _tell({**told, "lengths": rows}, as_json, _table(rows))


def _check(lengths: tuple[int, ...] | None, until_failure: bool, longest: int | None) -> None:
    """Raise `UserError` unless the flags fit together."""
    if lengths == ():
        raise UserError("--lengths needs a value: give the lengths with spaces between them, as in --lengths 30 100")
    for length in lengths or ():
        check_length("--lengths", length)
    if lengths and until_failure:
        raise UserError("--lengths: --until-failure plays every length; give --longest to say up to which")
    if longest is not None:
        check_length("--longest", longest)
        if not until_failure:
            raise UserError(f"--longest {longest}: it is where --until-failure ends; give that too")


def _check_unsized(trial: "Trial", lengths: tuple[int, ...] | None, until_failure: bool) -> None:
    if lengths or until_failure:
        flag = "--until-failure" if until_failure else "--lengths"
        raise UserError(f"{flag}: instances of {trial.task} have no length; without it they are of the top level")


def _at_lengths(
    trial: "Trial", policy: "Policy", lengths: tuple[int, ...], instances: int, key: "PRNGKeyArray"
) -> list[Document]:
    """A row for each length, for BinarySearch with the steps that other searches take."""
    from urex import evaluation
    from urex.tasks.binary_search import BinarySearch
    from urex.trial import make_task

    results = evaluation.evaluate_lengths(
        policy,
        lambda max_length: make_task(trial.task, trial.recipe, max_length=max_length),
        lengths,
        instances=instances,
        key=key,
    )
    if not isinstance(trial.config.task, BinarySearch):
        return [result._asdict() for result in results]
    _, linear, optimal = evaluation.search_lines(lengths)
    return [
        {**result._asdict(), "linear_steps": float(linear[i]), "optimal_steps": float(optimal[i])}
        for i, result in enumerate(results)
    ]


def _reach(trial: "Trial", policy: "Policy", longest: int, instances: int, key: "PRNGKeyArray") -> "Reach":
    """How far it gets; what is behind is told to those who wait."""
    from urex import evaluation
    from urex.trial import make_task

    console, passed = Console(stderr=True, highlight=False), 0

    def at(max_length: int) -> "Task":
        nonlocal passed
        if passed:  # a larger task is asked for when all lengths that fit the one before are solved
            console.print(f"no mistake up to length {passed}, going on to {min(max_length, longest)}")
        passed = max_length
        return make_task(trial.task, trial.recipe, max_length=max_length)

    return evaluation.until_failure(policy, at, longest=longest, instances=instances, key=key)


def _table(rows: list[Document]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in rows[0]:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(_cell(name, value) for name, value in row.items()))
    return table


def _cell(name: str, value: int | float) -> str:
    if name == "accuracy":
        return f"{value:.0%}" if value in (0, 1) else f"{value:.1%}"
    return str(value) if isinstance(value, int) else f"{value:,.1f}"


def _sentence(reach: "Reach") -> str:
    if reach.failed_at is None:
        return f"no mistake up to length {reach.longest}"
    if not reach.longest:
        return f"a mistake at length {reach.failed_at}, the shortest there is"
    return f"no mistake up to length {reach.longest}; the first is at length {reach.failed_at}"


def _tell(document: Document, as_json: bool, shown: Table | str) -> None:
    if as_json:
        print(json.dumps(document, indent=2))
    else:
        Console(highlight=False).print(shown)
