"""`urex COMMAND ...`."""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence

from rich.console import Console

from urex.cli.bench import bench
from urex.cli.evaluate import evaluate
from urex.cli.interrupts import ending_at_once
from urex.cli.tasks import tasks
from urex.cli.trace import trace
from urex.cli.train import train
from urex.cli.usage import Command, parse
from urex.errors import UserError

COMMANDS: dict[str, Command] = {
    "tasks": tasks,
    "train": train,
    "evaluate": evaluate,
    "trace": trace,
    "bench": bench,
}
"""Each command's function: its docstring and parameters are the command's help and flags; it returns the exit code."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 when it worked, 1 when it did not, 2 when the user must change something."""
    try:
        with ending_at_once(), _telling():
            return parse(COMMANDS, sys.argv[1:] if arguments is None else arguments) or 0
    except UserError as error:
        _tell(error, "red")
        return 2
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "RESOURCE_EXHAUSTED" not in str(error):  # as XLA says it
            raise
        _tell("there is not enough memory; ask for fewer instances, fewer samples or shorter lengths", "red")
        return 2
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


@contextlib.contextmanager
def _telling() -> Iterator[None]:
    """While entered, warnings are sentences too, and what a terminal has no sign for is a question mark there."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: _tell(message, "yellow")
        yield


def _tell(what: object, style: str) -> None:
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(f"urex: {what}", style=style)
