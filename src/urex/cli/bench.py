"""`urex bench`: how fast training runs here."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from rich.table import Table

from urex.cli.flags import NUMBER, NUMBERS, Json, OptionalNumber, Real, add_working_directory, optional
from urex.errors import UserError

if TYPE_CHECKING:
    from urex.bench import Throughput
    from urex.trial import Trial

Names = Annotated[tuple[str, ...], optional("NAME ...")]
Trials = Annotated[tuple[int, ...], optional(NUMBERS)]
Level = Annotated[int | None, optional(NUMBER)]
Kernel = Annotated[str, optional("NAME")]

DEFAULT_TASKS = ("copy", "duplicated-input", "repeat-copy", "reverse", "reversed-addition", "binary-search")
"""Those of the paper's tables."""


def bench(
    *,
    task: Names = DEFAULT_TASKS,
    trials: Trials = (1,),
    level: Level = None,
    episodes: Names = ("full", "early"),
    kernel: Kernel = "auto",
    instances: OptionalNumber = None,
    samples: OptionalNumber = None,
    seconds: Real = 5.0,
    as_json: Json = False,
) -> None:
    """Measure how fast training runs here.

    Each task is trained with the paper's N and K, its curriculum held at one level and all metrics on. Useful steps
    are those of sampled episodes whose gradient was applied, used is their share of all that were executed, and limit
    their share of what the machine's own rate of multiplying matrices, measured in the same process, would allow.

    Args:
        task: Tasks to train (default: the paper's six).
        trials: Trials trained together in one program (default: 1).
        level: The curriculum's level (default: each task's last).
        episodes: full: as long as the time limit allows; early: as the untrained policy makes them (default: both).
        kernel: What samples and differentiates: auto (default), xla, ragged or fused.
        instances: N (default: the paper's).
        samples: K (default: 10).
        seconds: How long each row is measured, compilation apart.
    """
    add_working_directory()
    rows = []
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    for row in _rows(task, trials, level, episodes, seconds, kernel=kernel, instances=instances, samples=samples):
        rows.append(row)
        console.print(
            f"{row.task}, {row.trials} trials, {row.episodes}: {_count(row.useful_env_steps_per_s)} useful steps/s"
        )
    if as_json:
        print(json.dumps({"rows": [row._asdict() for row in rows], **_here()}, indent=2))
    else:
        Console().print(_table(rows))


def _rows(
    names: tuple[str, ...],
    trials: tuple[int, ...],
    level: int | None,
    episodes: tuple[str, ...],
    seconds: float,
    **settings: str | int | None,
) -> "Iterator[Throughput]":
    from urex.bench import check, measure  # JAX comes with these, and help should not wait for that
    from urex.devices import use_cores
    from urex.trial import prepare

    use_cores()

    if not (names and trials and episodes):
        raise UserError("--task, --trials and --episodes: each needs at least one value")
    prepared = [prepare(name, settings) for name in names]
    wanted = [
        (trial, {"trials": count, "level": _level(trial, level), "episodes": each, "seconds": seconds})
        for trial in prepared
        for count in trials
        for each in episodes
    ]
    for trial, how in wanted:  # all of them first, so that no row is lost to a later one's mistake
        check(trial, **how)
    for trial, how in wanted:
        yield measure(trial, **how)


def _level(trial: "Trial", level: int | None) -> int:
    return trial.config.task.levels.top if level is None else level


def _here() -> dict[str, Any]:
    from urex.runs.versions import device, versions

    return {"device": device(), "versions": versions()}


def _table(rows: "list[Throughput]") -> Table:
    kernels = ", ".join(dict.fromkeys(row.kernel for row in rows))
    rate = _count(sorted(row.matrix_flop_per_s for row in rows)[len(rows) // 2])
    table = Table(
        box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0), caption_justify="left",
        caption=f"Kernel {kernels}; matrix products at {rate}FLOP/s.",
    )  # fmt: skip
    table.add_column("task", no_wrap=True)
    for title in ("level", "trials", "episodes", "useful/s", "used", "limit", "compile", "memory"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.task,
            str(row.level),
            str(row.trials),
            row.episodes,
            _count(row.useful_env_steps_per_s),
            f"{row.lane_utilisation:.0%}",
            f"{row.fraction_of_limit:.0%}",
            f"{row.compile_s:.1f} s",
            f"{row.peak_memory_bytes / 2**30:.1f} GiB",
        )
    return table


def _count(number: float) -> str:
    """With three digits."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}"
