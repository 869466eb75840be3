"""Learn algorithms from reward alone, by exploring under-appreciated rewards.

Importing this package registers the Gymnasium environments `urex/Copy-v0` and so on. JAX is
imported at the first use of a name that needs it.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING

from urex.errors import UserError as UserError

if TYPE_CHECKING:
    from urex import bench as bench
    from urex import config as config
    from urex import curriculum as curriculum
    from urex import evaluation as evaluation
    from urex import kernels as kernels
    from urex import learners as learners
    from urex import objectives as objectives
    from urex import policies as policies
    from urex import rollout as rollout
    from urex import runs as runs
    from urex import tasks as tasks
    from urex import training as training
    from urex import views as views
    from urex.recipe import Recipe as Recipe
    from urex.runs import resume as resume
    from urex.runs import train as train
    from urex.training import train_many as train_many

_MODULES = frozenset(
    {
        "bench",
        "config",
        "curriculum",
        "evaluation",
        "kernels",
        "learners",
        "objectives",
        "policies",
        "rollout",
        "runs",
        "tasks",
        "training",
        "views",
    }
)
_ELSEWHERE = {"Recipe": "urex.recipe", "resume": "urex.runs", "train": "urex.runs", "train_many": "urex.training"}
"""Names that stand in a module of their own stage."""

__all__ = [
    "Recipe",
    "UserError",
    "bench",
    "config",
    "curriculum",
    "evaluation",
    "kernels",
    "learners",
    "objectives",
    "policies",
    "resume",
    "rollout",
    "runs",
    "tasks",
    "train",
    "train_many",
    "training",
    "views",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"urex.{name}")
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name]), name)
    raise AttributeError(f"module 'urex' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if importlib.util.find_spec("gymnasium") is not None:
    from urex.interop.registration import register_environments

    register_environments()
