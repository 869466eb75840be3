"""The log of updates: one line each, whole, and cut back to where a run goes on."""

import json
import resource
from pathlib import Path

import numpy as np
import pytest

from tests.runs.outcome import Outcome
from urex import UserError
from urex.runs import metrics_log
from urex.runs.metrics_log import MetricsLog, rows
from urex.training import Chunk

FIELDS = (
    "update env_steps wall_s reward_mean level episode_length lane_utilisation"
    " gradient_norm importance_weight_variance ess entropy"
)


def test_a_run_has_one_line_for_each_update(unbroken: Outcome) -> None:
    assert [line["update"] for line in unbroken.metrics] == list(range(1, 25))
    assert all(line.keys() == set(FIELDS.split()) - {"wall_s"} for line in unbroken.metrics)
    steps = np.diff([0, *(line["env_steps"] for line in unbroken.metrics)])
    episodes = np.array([line["episode_length"] for line in unbroken.metrics])
    np.testing.assert_allclose(steps, episodes * 20, rtol=1e-6)
    assert unbroken.result["env_steps"] == unbroken.metrics[-1]["env_steps"]


def test_the_lines_of_a_chunk_go_on_from_what_was_spent(chunks: list[Chunk]) -> None:
    lines = list(rows(chunks[2], 1000, 50.0))
    assert [line["update"] for line in lines] == [4, 5, 6, 7]
    assert [line["wall_s"] for line in lines] == [50.5, 51.0, 51.5, 52.0]
    np.testing.assert_array_equal(
        [line["env_steps"] for line in lines], 1000 + np.cumsum(chunks[2].metrics.env_steps[:, 0])
    )
    for name in ("reward_mean", "episode_length", "level"):
        np.testing.assert_array_equal(
            np.array([line[name] for line in lines], np.float32), getattr(chunks[2].metrics, name)[:, 0]
        )
    assert " ".join(lines[0]) == FIELDS


def test_steps_past_31_bits_are_counted(chunks: list[Chunk]) -> None:
    many = np.full_like(chunks[2].metrics.env_steps, 2**31 - 1)
    chunk = chunks[2]._replace(metrics=chunks[2].metrics._replace(env_steps=many))
    assert [line["env_steps"] for line in rows(chunk, 2**40, 0.0)] == [2**40 + i * (2**31 - 1) for i in range(1, 5)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_null(chunks: list[Chunk], value: float) -> None:
    info = {"gradient_norm": np.full((1, 1), value, np.float32), "mine": np.full((1, 1), 0.1, np.float32)}
    chunk = chunks[0]._replace(metrics=chunks[0].metrics._replace(info=info))
    line = next(rows(chunk, 0, 0.0))
    assert (line["gradient_norm"], line["ess"], line["mine"]) == (None, None, 0.1)


def test_what_lies_past_its_place_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with MetricsLog(path) as log:
        log.append(iter([{"update": 1}, {"update": 2}]))
        size = log.settle()
        assert path.stat().st_size == size
        log.append(iter([{"update": 3}]))
        assert metrics_log.read(path) == [{"update": 1}, {"update": 2}, {"update": 3}]
    with MetricsLog(path, size) as log:
        assert path.stat().st_size == size
        log.append(iter([{"update": 33}]))
        assert log.settle() == path.stat().st_size
    assert metrics_log.read(path) == [{"update": 1}, {"update": 2}, {"update": 33}]
    with MetricsLog(path):
        assert metrics_log.read(path) == []


def test_a_line_that_a_kill_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    for text in ("", '{"upda', '{"update": 1}'):
        path.write_text(text)
        assert metrics_log.read(path) == []
    path.write_text('{"update": 1}\n{"update": 2')
    assert metrics_log.read(path) == [{"update": 1}]


def test_a_line_that_is_damaged_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"update": 1}\n{"upd\x00\x00\n{"update": 3}\n')
    with pytest.raises(UserError, match=r"metrics.jsonl: line 2 is not as it was written; put the file back"):
        metrics_log.read(path)
    with pytest.raises(UserError, match=r"nowhere: they could not be read \(No such file or directory\); put them"):
        metrics_log.read(tmp_path / "nowhere")


def test_a_disk_that_is_full_is_told_of_and_what_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with MetricsLog(path) as log:
        log.append(iter([{"update": 1}]))
        size = log.settle()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    try:
        told = r"metrics .*: they could not be written \(File too large\); .* `urex train --resume "
        with pytest.raises(UserError, match=told), MetricsLog(path, size) as log:
            log.append({"update": i} for i in range(10))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert metrics_log.read(path)[0] == {"update": 1}
    with MetricsLog(path, size):
        assert json.loads(path.read_text()) == {"update": 1}


def test_where_it_cannot_be_opened_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"they could not be written \(Is a directory\)"):
        MetricsLog(tmp_path)
