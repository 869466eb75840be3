"""`urex COMMAND ...`."""

import os
import sys
from collections.abc import Callable, Sequence

from rich.console import Console

from urex.cli.evaluate import evaluate
from urex.cli.tasks import tasks
from urex.cli.trace import trace
from urex.cli.train import train
from urex.cli.usage import parse
from urex.errors import UserError

COMMANDS: dict[str, Callable[..., int | None]] = {
    "tasks": tasks,
    "train": train,
    "evaluate": evaluate,
    "trace": trace,
}
"""Each command's function: its docstring and parameters are the command's help and flags; it returns the exit code."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 when it worked, 1 when it did not, 2 when the user must change something."""
    try:
        return parse(COMMANDS, sys.argv[1:] if arguments is None else arguments) or 0
    except UserError as error:
        Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(f"urex: {error}", style="red")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
