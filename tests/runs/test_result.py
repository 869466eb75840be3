"""What came of a run, in numbers."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.runs import probe
from tests.runs.outcome import Outcome
from urex import training
from urex.config import stack_hypers
from urex.evaluation import LevelResult, evaluate_top_level
from urex.policies import categorical
from urex.runs import result as results
from urex.runs import run_in_memory
from urex.runs.recorder import Totals
from urex.runs.result import is_finished, policy_of, result_of
from urex.runs.run import new_state
from urex.streams import Stream, key_of
from urex.training import TrainState


def state_of(updates: int = 0, solved_at_update: int = training.NEVER) -> TrainState:
    """A state that claims so much."""
    return eqx.tree_at(
        lambda state: (state.updates, state.success.solved_at_update),
        new_state(probe.trial()),
        (jnp.int32(updates), jnp.full((1,), solved_at_update, jnp.int32)),
    )


def log(*rewards: float | None) -> list[dict[str, Any]]:
    return [{"reward_mean": reward} for reward in rewards]


def paying(reward: float) -> LevelResult:
    return LevelResult(3, 400, 0.0, reward, 1.0)


def test_it_has_all_that_was_promised(unbroken: Outcome) -> None:
    result = unbroken.result
    assert " ".join(run_in_memory(probe.trial()).summary) == (
        "task solved solved_at_update final_reward training_reward level updates env_steps wall_s"
        " env_steps_per_s compile_s finite kernel cores device versions"
    )
    assert (result["task"], result["solved"], result["finite"]) == (probe.NAME, True, True)
    assert (result["level"], result["updates"], result["kernel"], result["cores"]) == (3, 24, "ragged", 1)
    best = max(np.convolve([line["reward_mean"] for line in unbroken.metrics], np.ones(5) / 5, "valid"))
    assert best >= probe.Echo.reward_threshold  # over 100 episodes, here those of 5 updates
    assert result["device"].startswith("cpu")
    assert result["versions"]["jax"] == jax.__version__
    last = [line["reward_mean"] for line in unbroken.metrics[-10:]]
    assert result["training_reward"] == pytest.approx(np.mean(last))


def test_times_are_those_of_training() -> None:
    result = run_in_memory(probe.trial())
    wall = [line["wall_s"] for line in result.log]
    assert all(np.diff([0.0, *wall]) >= 0)
    assert result.summary["wall_s"] == pytest.approx(wall[-1], abs=1e-4)
    rate = result.summary["env_steps"] / result.summary["wall_s"]
    assert result.summary["env_steps_per_s"] == pytest.approx(rate)


def test_the_final_reward_is_what_fresh_episodes_of_the_last_policy_pay() -> None:
    """The probe pays 4 at most; a policy that knows nothing gets a third of the first symbols right."""
    result = run_in_memory(probe.trial())
    others = evaluate_top_level(result.policy, probe.Echo(), instances=1000, key=jax.random.key(99), act=categorical)
    assert result.summary["final_reward"] == pytest.approx(others.reward, abs=0.15)
    untrained = result_of(probe.trial(), state_of(24), [], Totals())
    assert untrained.summary["final_reward"] == pytest.approx(1 / 2, abs=0.3)


def test_an_interrupted_run_has_no_final_reward() -> None:
    assert result_of(probe.trial(), state_of(23), [], Totals()).summary["final_reward"] is None


def test_the_final_reward_has_randomness_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Any] = []

    def noted(policy: Any, task: Any, *, key: Any, **options: Any) -> LevelResult:
        used.append(jax.random.key_data(key))
        return paying(0.0)

    monkeypatch.setattr(results, "evaluate_top_level", noted)
    state = state_of(24)
    result_of(probe.trial(), state, [], Totals())
    root = key_of(probe.trial().seed, Stream.TRAINING)
    keys = [root, *jax.random.split(root), *(jax.random.fold_in(state.keys[0], update) for update in range(100))]
    assert len(used) == 1
    assert not any((jax.random.key_data(key) == used[0]).all() for key in keys)


@pytest.mark.parametrize(("value", "finite"), [(0.0, True), (np.nan, False), (np.inf, False)])
def test_parameters_that_are_no_numbers_are_told_of(value: float, finite: bool) -> None:
    state = jax.tree.map(jnp.copy, state_of())
    policy = jax.tree.map(lambda leaf: leaf.at[(0,) * leaf.ndim].set(value), state.learner.policy)
    diverged = eqx.tree_at(lambda state: state.learner, state, state.learner._replace(policy=policy))
    assert result_of(probe.trial(), diverged, [], Totals()).summary["finite"] is finite


@pytest.mark.parametrize(
    ("rewards", "mean"),
    [([], None), ([1.0, 2.0], 1.5), ([9.0, *[1.0] * 10], 1.0), ([1.0, None, 2.0], None), ([None, *[1.0] * 10], 1.0)],
)
def test_the_training_reward_is_the_mean_of_the_last_ten_updates(
    rewards: list[float | None], mean: float | None
) -> None:
    assert result_of(probe.trial(), state_of(), log(*rewards), Totals()).summary["training_reward"] == mean


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_reward_that_is_no_number_is_null(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    monkeypatch.setattr(results, "evaluate_top_level", lambda *_, **__: paying(value))
    result = result_of(probe.trial(), state_of(24), [], Totals())
    assert result.summary["final_reward"] is None


def test_without_an_update_there_is_no_rate() -> None:
    summary = result_of(probe.trial(), state_of(), [], Totals()).summary
    assert (summary["env_steps_per_s"], summary["env_steps"], summary["solved"]) == (None, 0, False)
    assert summary["solved_at_update"] is None


@pytest.mark.parametrize(
    ("updates", "solved_at", "until_solved", "finished"),
    [(23, -1, False, False), (24, -1, False, True), (23, 15, False, False), (23, 15, True, True), (24, -1, True, True)],
)
def test_when_a_run_is_done(updates: int, solved_at: int, until_solved: bool, finished: bool) -> None:
    trial = probe.trial(until_solved=until_solved)
    state = state_of(updates, solved_at)
    assert is_finished(trial, state) is finished
    result = result_of(trial, state, log(1.0), Totals(10, 2.0))
    assert (result.finished, result.solved) == (finished, solved_at >= 0)
    assert result.summary["env_steps_per_s"] == 5.0


def test_the_policy_is_that_of_the_trial() -> None:
    trial = probe.trial()
    state = training.init(trial.config, stack_hypers([trial.hypers]), jax.random.key(trial.seed)[None])
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[0]), policy_of(state), state.learner.policy)
