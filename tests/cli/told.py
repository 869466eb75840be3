"""`urex` in this process, and what it tells."""

import contextlib
import io
import json
from typing import Any, NamedTuple

from urex.cli import main


class Told(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def urex(*words: object) -> Told:
    """Run a command."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return Told(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # pyright: ignore


def mistake(*words: object) -> str:
    """The sentence that a command refuses the words with, and nothing else."""
    code, out, err = urex(*words)
    assert (code, out) == (2, ""), err
    assert err.startswith("urex: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err.removeprefix("urex: ").strip()
