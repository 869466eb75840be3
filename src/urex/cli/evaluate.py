"""`urex evaluate`: how a trained agent does on lengths that it may never have seen."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from urex.cli.flags import Json, add_working_directory

if TYPE_CHECKING:
    from urex.evaluation import LengthResult, Reach

Run = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]


def evaluate(
    run: Run,
    *,
    lengths: tuple[int, ...] = (),
    until_failure: bool = False,
    longest: int = 2000,
    instances: int = 100,
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Evaluate a trained agent, which takes the action of largest probability at every step.

    Accuracy is the share of instances it solves without a mistake. BinarySearch is solved by a linear search too,
    so there the steps are shown beside those of a linear and of the best search.

    Args:
        run: The directory of a run.
        lengths: Cells of the tape, columns of the sum, or n; exactly so many (default: 30 100 500 1000 2000).
        until_failure: Find the length up to which there is no mistake, as in the paper's Table 9, instead.
        longest: Where --until-failure ends.
        instances: Random instances of each length.
        seed: Decides which instances.
    """
    add_working_directory()
    import jax  # it takes a while, and help should not wait for that

    from urex import evaluation
    from urex.runs import load_policy
    from urex.trial import make_task

    trial, policy = load_policy(run)
    key = jax.random.key(seed)

    def at(max_length: int):
        return make_task(trial.task, trial.recipe, max_length=max_length)

    if until_failure:
        reach = evaluation.until_failure(policy, at, longest=longest, instances=instances, key=key)
        _tell({"run": str(run), "task": trial.task, **reach._asdict()}, as_json, _sentence(reach))
        return
    asked = lengths or DEFAULT_LENGTHS
    results = evaluation.evaluate_lengths(policy, at, asked, instances=instances, key=key)
    rows = [_row(trial.task, result) for result in results]
    _tell({"run": str(run), "task": trial.task, "lengths": rows}, as_json, _table(rows))


DEFAULT_LENGTHS = (30, 100, 500, 1000, 2000)
"""Those of the paper's Table 9."""


def _row(task: str, result: "LengthResult") -> dict[str, Any]:
    """A result, for BinarySearch with the steps that other searches take."""
    row = result._asdict()
    if task.rpartition(":")[2] == "binary-search":
        from urex.evaluation import search_lines

        lines = search_lines([result.length])
        row |= {"linear_steps": float(lines.linear[0]), "optimal_steps": float(lines.optimal[0])}
    return row


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in rows[0]:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(_cell(name, value) for name, value in row.items()))
    return table


def _cell(name: str, value: float) -> str:
    if name == "accuracy":
        return f"{value:.0%}" if value in (0, 1) else f"{value:.1%}"
    return str(value) if isinstance(value, int) else f"{value:,.1f}"


def _sentence(reach: "Reach") -> str:
    if reach.failed_at is None:
        return f"no mistake up to length {reach.longest}"
    return f"no mistake up to length {reach.longest}; the first is at length {reach.failed_at}"


def _tell(document: dict[str, Any], as_json: bool, shown: Table | str) -> None:
    if as_json:
        print(json.dumps(document, indent=2))
    else:
        Console(highlight=False).print(shown)
