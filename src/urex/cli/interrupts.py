"""Ctrl-C and SIGTERM: as the end of a command, and as a question that a run asks between its chunks.

Neither is let become an exception: one that is raised in the middle of JAX's compiler can be lost there,
or make Python crash at its end. And while the compiler runs, Python hears of a signal by its wake-up descriptor alone.
"""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType

from rich.console import Console

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def ending_at_once() -> Iterator[None]:
    """While entered, Ctrl-C ends the process without a word, as it does most programs."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:  # a shell wants it to go on in the background
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Interrupts:
    """While entered, the first signal is kept for `received`; a second one ends the process at once."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._received: int | None = None
        self._taken = False
        self._before: dict[int, object] = {}
        self._told, self._heard = socket.socketpair()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._wakeup = -1

    def received(self) -> bool:
        """Whether a signal has come."""
        return self._received is not None

    @property
    def exit_code(self) -> int:
        """As shells count: 128 and the signal's number."""
        return 128 + (self._received or 0)

    def __enter__(self) -> "Interrupts":
        self._told.setblocking(False)
        self._wakeup = signal.set_wakeup_fd(self._told.fileno())
        heeded = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._keep) for number in heeded}
        self._listener.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]  it is what was there
        signal.set_wakeup_fd(self._wakeup)
        self._told.close()
        self._listener.join()

    def _keep(self, number: int, frame: FrameType | None) -> None:
        """In the main thread, when that comes to it: sooner than the other one if it was running."""
        del frame  # unused: it does not matter where the program was
        self._received = self._received or number

    def _listen(self) -> None:
        """Take the signals one by one, until there can be no more."""
        with self._heard:
            while number := int.from_bytes(self._heard.recv(1)):
                if number in self._before:
                    self._take(number)

    def _take(self, number: int) -> None:
        if self._taken:
            if self._console.is_terminal:  # that it is left as it was found
                self._console.show_cursor()
                self._console.file.write("\n")
            os._exit(128 + number)
        self._taken, self._received = True, number
        self._console.print("stopping after the updates under way; once more, and it ends at once")
