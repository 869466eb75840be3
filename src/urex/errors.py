"""The one error that is the user's to mend, and the sentences that tell how."""

from collections.abc import Iterable
from difflib import get_close_matches
from operator import index


class UserError(ValueError):
    """A mistake in what the user gave: one sentence with the value, the rule and the remedy.

    The command line prints it and exits with 2; from Python it is an ordinary `ValueError`.
    """


def unknown(what: str, given: object, known: Iterable[str]) -> UserError:
    """The error for a name that is not among `known`: the nearest one, then all of them."""
    names = sorted(known)
    by_lower = {name.lower(): name for name in names}
    near = get_close_matches(str(given).lower(), by_lower, n=1, cutoff=0.55)
    hint = f"did you mean {by_lower[near[0]]!r}? " if near else ""
    return UserError(f"unknown {what} {given!r}: {hint}known are {', '.join(names) or 'none'}")


def whole_number(name: str, value: object) -> int:
    """The value as an integer, if it is one of some kind; 2.0 and "2" are not."""
    try:
        return index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise UserError(f"{name} {shortened(repr(value))}: it must be a whole number") from None


def shortened(text: str) -> str:
    """What was given on one line, and no more of it than helps."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."
