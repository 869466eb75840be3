"""Configurations and hyper-parameters: what is refused, and how trials are stacked."""

import math
from typing import Any

import jax.numpy as jnp
import pytest

from urex import UserError, config, objectives, tasks
from urex.config import Config, Hypers, check_hypers, stack_hypers
from urex.kernels.ragged import RAGGED
from urex.learners import LEARNERS
from urex.policies import FIRST_LAYERS

COPY = tasks.get("copy")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"learner": "double-k"}, "unknown learner 'double-k': did you mean 'double-q'?"),
        ({"first_layer": "onehot"}, "unknown first layer 'onehot': did you mean 'one-hot'?"),
        ({"objective": "urx"}, "unknown objective 'urx': did you mean 'urex'?"),
        ({"instances": 0}, "instances 0: it must be at least 1"),
        ({"samples": 1}, "samples 1: objectives compare samples of one instance; draw at least 2"),
        ({"cores": 3}, "cores 3: they must divide the 400 episodes of an update, and more than 1 are for learner"),
        ({"cores": 2, "learner": "double-q"}, "cores 2: they must divide the 400 episodes of an update, and more than"),
        ({"cores": 0}, "cores 0: it must be at least 1"),
        ({"kernel": RAGGED, "learner": "double-q"}, "kernel 'ragged': learner 'double-q' makes no use of it"),
        ({"window": 0}, "curriculum window 0: it must be at least 1 episode"),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_sentence(fields: dict, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        Config(COPY, **fields)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("hypers", "sentence"),
    [
        (Hypers(learning_rate=0.0), "learning_rate 0: it must be a finite number greater than 0"),
        (Hypers(learning_rate=-1.0), "learning_rate -1: it must be a finite number greater than 0"),
        (Hypers(clip_norm=math.nan), "clip_norm nan: it must be a finite number greater than 0"),
        (Hypers(adam_epsilon=math.inf), "adam_epsilon inf: it must be a finite number greater than 0"),
        (Hypers(exploration=1.5), "exploration 1.5: it must be between 0 and 1"),
        (Hypers(sync_every=0), "sync_every 0: it must be 1 to 2147483647 updates"),
        (Hypers(sync_every=2**31), "sync_every 2147483648: it must be 1 to 2147483647 updates"),
        (Hypers(adam_epsilon=0.0), "adam_epsilon 0: it must be a finite number greater than 0"),
        (Hypers(learning_rate=1e-60), "learning_rate 1e-60: it must be a finite number greater than 0, in single"),
        (Hypers(tau=0.0), "tau 0.0: objective 'urex' divides rewards by it"),
    ],
)
def test_wrong_numbers_are_refused_in_one_sentence(hypers: Hypers, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        check_hypers(Config(COPY), hypers)
    assert str(caught.value).startswith(sentence)


def test_a_temperature_of_0_is_for_objectives_that_know_it() -> None:
    for objective in ("ment", "reinforce"):
        check_hypers(Config(COPY, objective=objective), Hypers(tau=0.0))


def test_q_learning_has_no_temperature() -> None:
    check_hypers(Config(COPY, learner="double-q", samples=1), Hypers(tau=0.0))


def test_equal_configurations_are_one() -> None:
    """So that they share a program."""
    assert Config(tasks.get("copy")) == Config(COPY)
    assert hash(Config(tasks.get("copy"))) == hash(Config(COPY))


def test_names_lead_to_what_is_named() -> None:
    assert set(LEARNERS) == set(config.LEARNERS)
    assert Config(COPY, objective="rwr").coefficients is objectives.rwr
    assert Config(COPY, centred=True).coefficients is objectives.centred(objectives.urex)
    for form in FIRST_LAYERS:
        assert Config(COPY, first_layer=form).first_layer == form


def test_an_objective_may_be_a_function() -> None:
    assert Config(COPY, objective=objectives.raml).coefficients is objectives.raml


@pytest.mark.parametrize("wrong", [lambda log_prob: log_prob, lambda log_prob, reward, tau: reward.mean()])
def test_a_function_that_is_no_objective_is_refused_before_anything_runs(wrong: Any) -> None:
    with pytest.raises(UserError, match=r"it must be a function of|it must make a coefficient of each"):
        Config(COPY, objective=wrong)


def test_trials_are_stacked_column_by_column() -> None:
    stacked = stack_hypers([Hypers(tau=0.0), Hypers(learning_rate=0.1, sync_every=7)])
    assert stacked.tau.tolist() == pytest.approx([0.0, 0.1])
    assert stacked.learning_rate.tolist() == pytest.approx([0.01, 0.1])
    assert stacked.sync_every.tolist() == [10, 7]
    assert stacked.sync_every.dtype == jnp.int32
