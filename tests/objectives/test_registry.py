"""Objectives by name, one's own among them, and the temperatures they allow."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from urex import UserError, objectives
from urex.objectives import registry


@pytest.fixture(autouse=True)
def _registrations_are_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "OBJECTIVES", dict(registry.OBJECTIVES))
    monkeypatch.setattr(registry, "_zero_tau", set(registry._zero_tau))


def half(log_prob: jax.Array, reward: jax.Array, tau: jax.Array | float) -> jax.Array:
    """An objective of one's own."""
    return objectives.reinforce(log_prob, reward, tau) / 2


def test_the_names_that_scripts_rely_on() -> None:
    assert list(objectives.OBJECTIVES) == ["reinforce", "ment", "urex", "raml", "rwr"]
    for name in objectives.OBJECTIVES:
        assert objectives.get(name) is getattr(objectives, name)
        assert objectives.get(name).__name__ == name


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown objective 'urx': did you mean 'urex'\\? known are ment, raml,"):
        objectives.get("urx")
    with pytest.raises(UserError, match="unknown objective 'urx'"):
        objectives.check_temperature("urx", 0.1)


def test_the_same_arguments_give_the_same_function() -> None:
    """So that what was compiled for one serves the other."""
    assert objectives.get("urex", centred=True) is objectives.get("urex", centred=True)
    assert objectives.get("urex", centred=True) is not objectives.get("urex")


def test_the_centred_form_is_asked_for_by_name() -> None:
    log_prob, reward = jnp.log(jnp.asarray([[0.5, 0.25]])), jnp.zeros((1, 2))
    got = objectives.get("urex", centred=True)(log_prob, reward, 3.0)
    np.testing.assert_allclose(got, [[3 * (1 / 3 - 1 / 2), 3 * (2 / 3 - 1 / 2)]], rtol=1e-14)


def test_an_objective_of_ones_own_is_registered_the_same_way() -> None:
    objectives.register("half", half, zero_tau=True)
    assert objectives.get("half") is half
    objectives.check_temperature("half", 0)
    objectives.register("half", half, zero_tau=True)  # again the same is no mistake: a module may be imported twice


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(UserError, match="objective name 'urex': it is taken; choose another"):
        objectives.register("urex", half, zero_tau=True)
    with pytest.raises(UserError, match="above 0"):
        objectives.check_temperature("urex", 0)  # what was refused has left no trace


@pytest.mark.parametrize("name", ["", " urex"])
def test_a_name_that_could_not_be_asked_for_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="choose another"):
        objectives.register(name, half, zero_tau=True)


@pytest.mark.parametrize("tau", [0.1, 1, 1e-3, 10, np.float32(0.1), np.float64(0.1)])
@pytest.mark.parametrize("name", ["reinforce", "ment", "urex", "raml", "rwr"])
def test_positive_temperatures_are_for_all(name: str, tau: float) -> None:
    objectives.check_temperature(name, tau)


def test_temperature_0_is_for_those_that_do_not_divide_by_it() -> None:
    for name in ("reinforce", "ment"):
        objectives.check_temperature(name, 0.0)
    for name in ("urex", "raml", "rwr"):
        with pytest.raises(UserError, match=f"tau 0.0: objective '{name}' divides rewards by it, so it must be above"):
            objectives.check_temperature(name, 0.0)
        with pytest.raises(UserError, match="tau 1e-40: objective"):
            objectives.check_temperature(name, 1e-40)  # 0 in single precision


@pytest.mark.parametrize("tau", [-0.1, float("nan"), float("inf"), float("-inf"), 1e39, "0.1", None, 1j])
@pytest.mark.parametrize("name", ["ment", "urex"])
def test_what_is_no_temperature_is_told(name: str, tau: object) -> None:
    with pytest.raises(UserError, match=r"^tau .*: it must be a finite number that is not negative; give 0.1"):
        objectives.check_temperature(name, tau)


def test_what_cannot_be_called_is_told() -> None:
    """In a process where types are not checked, as they are in tests."""
    call = "objectives.register('mine', 3, zero_tau=True)"
    source = f"from urex import UserError, objectives\ntry: {call}\nexcept UserError as error: print(error)\n"
    told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
    assert told == "objective 'mine': 3 cannot be called; give a function of (log_prob, reward, tau)\n"
