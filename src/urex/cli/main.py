"""`urex COMMAND ...`."""

import os
import sys
from collections.abc import Callable, Sequence

from rich.console import Console

from urex.cli.tasks import tasks
from urex.cli.usage import parse
from urex.errors import UserError

COMMANDS: dict[str, Callable[..., None]] = {"tasks": tasks}
"""Each command's function: its docstring and parameters are the command's help and flags."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 when it worked, 1 when it did not, 2 when the user must change something."""
    try:
        parse(COMMANDS, sys.argv[1:] if arguments is None else arguments)
    except UserError as error:
        Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(f"urex: {error}", style="red")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0
