"""Ctrl-C and SIGTERM as a question that a run asks between its chunks."""

import signal
from types import FrameType, TracebackType


class Interrupts:
    """While entered, the first signal is kept for `received`; a second one acts as it would have without us."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self._received: int | None = None
        self._before: dict[int, object] = {}

    def received(self) -> bool:
        """Whether a signal has come."""
        return self._received is not None

    @property
    def exit_code(self) -> int:
        """As shells count: 128 and the signal's number."""
        return 128 + (self._received or 0)

    def __enter__(self) -> "Interrupts":
        self._before = {number: signal.signal(number, self._keep) for number in self.SIGNALS}
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._restore()

    def _keep(self, number: int, frame: FrameType | None) -> None:
        del frame  # unused: it does not matter where the program was
        self._received = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]  it is what was there
        self._before = {}
