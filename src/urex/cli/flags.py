"""Flags that several commands share."""

import os
import sys
from typing import Annotated

import tyro

Json = Annotated[bool, tyro.conf.arg(name="json", help="Print one JSON document, and nothing else, to stdout.")]


def add_working_directory() -> None:
    """Let a module beside the user's work be found, as with `python -m`."""
    sys.path.insert(0, os.getcwd())
