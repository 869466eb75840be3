"""Learn algorithms from reward alone, by exploring under-appreciated rewards.

Importing this package registers the Gymnasium environments `urex/Copy-v0` and so on. JAX is
imported at the first use of a name that needs it.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING

from urex.errors import UserError as UserError

if TYPE_CHECKING:
    from urex import curriculum as curriculum
    from urex import tasks as tasks

_LAZY = frozenset({"curriculum", "tasks"})

__all__ = ["UserError", "curriculum", "tasks"]


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return importlib.import_module(f"urex.{name}")
    raise AttributeError(f"module 'urex' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if importlib.util.find_spec("gymnasium") is not None:
    from urex.interop.registration import register_environments

    register_environments()
