"""`urex` in a process that sends itself a signal at one moment: `python -m tests.runs.killed SIGNAL WHERE NUMBER ...`.

WHERE is `writing` (NUMBER: which operation on files of the writing of a checkpoint), `computing` (NUMBER: which
call of the compiled program), `never`, or a function, as in `urex.runs.run:result_of` (NUMBER: which call of it, just
before).
What was meant to happen is written to stderr when it does.
"""

import os
import pkgutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import jax

from urex.cli import main
from urex.runs.recorder import OnDisk
from urex.training import Limits, loop

OPERATIONS = ("fsync", "replace", "unlink", "mkdir")
MARK = "the moment has come:"


class Moment:
    """When the signal is to be sent; it is sent once."""

    def __init__(self, number: int, where: str, count: int):
        self.number, self.where, self.count, self.sent = number, where, count, False

    def send(self) -> None:
        """Send it; what is on its way to stderr gets there first."""
        if not self.sent:
            self.sent = True
            os.write(2, f"{MARK} {self.where} {self.count}\n".encode())
            os.kill(os.getpid(), self.number)


def before(moment: Moment, function: str) -> None:
    """Send the signal at the start of a call of the function."""
    module, _, name = function.partition(":")
    owner = pkgutil.resolve_name(f"{module}:{name.rpartition('.')[0]}" if "." in name else module)
    name, calls = name.rpartition(".")[2], 0
    original = getattr(owner, name)

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == moment.count:
            moment.send()
        return original(*arguments, **options)

    setattr(owner, name, counted)


def writing(moment: Moment) -> None:
    """Send it before an operation of the first checkpoint that takes so many; a file to be synced is half written."""
    save, operations = OnDisk.save, -1

    def watched_save(*arguments: Any) -> None:
        nonlocal operations
        operations = 0
        save(*arguments)
        operations = -1

    def watch(original: Callable) -> Callable:
        def watched(*arguments: Any, **options: Any) -> Any:
            nonlocal operations
            if operations >= 0:
                operations += 1
                if operations == moment.count:
                    if original is sync:
                        _halve(arguments[0])
                    moment.send()
            return original(*arguments, **options)

        return watched

    sync = os.fsync
    OnDisk.save = watched_save  # pyright: ignore[reportAttributeAccessIssue]  it is that, and counts
    for name in OPERATIONS:
        setattr(os, name, watch(getattr(os, name)))


def _halve(descriptor: int) -> None:
    """Of a file that is not in its place yet, leave what might have been written by then."""
    with suppress(OSError):
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".partial"):
            os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)


def computing(moment: Moment) -> None:
    """Send it in the middle of a call, or of the first later one that is long enough to have a middle."""
    go_on, calls, of_one = loop.go_on, 0, 0.0

    def timed(config: Any, hypers: Any, state: Any, limits: Limits, *more: Any, **options: Any) -> Any:
        nonlocal calls, of_one
        calls += 1
        updates = int(limits.updates)
        timer = threading.Timer(0.4 * updates * of_one, moment.send)
        if calls >= moment.count and not moment.sent and updates * of_one > 0.01:
            timer.start()
        begun = time.perf_counter()
        done = jax.block_until_ready(go_on(config, hypers, state, limits, *more, **options))
        timer.cancel()
        of_one = (time.perf_counter() - begun) / max(updates, 1)
        return done

    loop.go_on = timed


if __name__ == "__main__":
    name, where, count, *words = sys.argv[1:]
    moment = Moment(signal.Signals[name], where, int(count))
    if where in ("writing", "computing"):
        {"writing": writing, "computing": computing}[where](moment)
    elif where != "never":
        before(moment, where)
    sys.exit(main(words))
