"""Objectives by name, and the temperatures they allow."""

import numbers
from collections.abc import Callable

import numpy as np

from urex.errors import UserError, shortened, unknown
from urex.modules import import_for
from urex.objectives import objectives
from urex.objectives.objectives import Objective

OBJECTIVES: dict[str, Objective] = {}
"""The registered objectives, in the order of registration; `register` adds to them."""

_zero_tau: set[str] = set()

_SMALLEST_TAU, _LARGEST_TAU = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def register(name: str, objective: Objective, *, zero_tau: bool) -> None:
    """Make `objective` known under `name`; `zero_tau` tells whether it is defined at temperature 0.

    A learner takes its coefficients as constants. For autodiff through log_prob, make them so with `constant`.
    """
    if not name or name != name.strip() or ":" in name:
        raise UserError(
            f"objective name {name!r}: it must not be empty or hold spaces at its ends or ':'; choose another"
        )
    if not callable(objective):
        given = shortened(repr(objective))
        raise UserError(f"objective {name!r}: {given} cannot be called; give a function of (log_prob, reward, tau)")
    if OBJECTIVES.get(name, objective) is not objective:
        raise UserError(f"objective name {name!r}: it is taken; choose another")
    OBJECTIVES[name] = objective
    if zero_tau:
        _zero_tau.add(name)


def get(name: str, *, centred: bool = False) -> Objective:
    """The objective registered under `name`; `centred` subtracts the K-mean of its coefficients.

    `package.module:name` imports the module first, so that it can register its objectives. The same
    arguments give the same function.
    """
    plain = import_for(name, "objective")
    if plain not in OBJECTIVES:
        raise unknown("objective", plain, OBJECTIVES)
    return objectives.centred(OBJECTIVES[plain]) if centred else OBJECTIVES[plain]


def name_of(objective: Callable[..., object]) -> str | None:
    """The name that an objective is registered under, if it is."""
    return next((name for name, each in OBJECTIVES.items() if each is objective), None)


def check_temperature(name: str, tau: object) -> None:
    """Refuse a temperature at which the objective of this name is not defined, in single precision."""
    get(name)
    given = shortened(repr(tau))
    if not isinstance(tau, numbers.Real) or not 0 <= float(tau) <= _LARGEST_TAU:
        raise UserError(f"tau {given}: it must be a finite number that is not negative; give 0.1, the paper's for UREX")
    if float(tau) < _SMALLEST_TAU and name.rpartition(":")[2] not in _zero_tau:
        raise UserError(f"tau {given}: objective {name!r} divides rewards by it, so it must be above 0; give 0.1, say")


register("reinforce", objectives.reinforce, zero_tau=True)
register("ment", objectives.ment, zero_tau=True)
register("urex", objectives.urex, zero_tau=False)
register("raml", objectives.raml, zero_tau=False)
register("rwr", objectives.rwr, zero_tau=False)
