"""Flags that several commands share."""

from typing import Annotated

import tyro

Json = Annotated[bool, tyro.conf.arg(name="json", help="Print one JSON document, and nothing else, to stdout.")]
