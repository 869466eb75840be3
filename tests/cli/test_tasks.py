"""`urex tasks`."""

import json
from pathlib import Path

import pytest

from urex import tasks
from urex.cli import main

ROOT = Path(__file__).parents[2]


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `urex tasks` prints."""
    assert main(["tasks", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_table_has_a_row_for_every_task(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # other tests register tasks with long descriptions
    lines = [line.rstrip() for line in told(capsys).splitlines()]
    assert lines[0].split() == ["task", "actions", "obs.", "threshold", "to", "learn"]
    assert [line.split()[0] for line in lines[1:]] == list(tasks.names())
    assert lines[4].split(maxsplit=4) == ["reverse", "2x2x2", "3", "25", "Write the tape backwards."]


def test_json_is_one_document_with_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(told(capsys, "--json"))
    assert [row["name"] for row in rows] == list(tasks.names())
    assert next(row for row in rows if row["name"] == "binary-search") == {
        "name": "binary-search",
        "description": "Find a number in a sorted array.",
        "actions": [4, 3],
        "observations": 4,
        "reward_threshold": 9.0,
        "max_steps": 1025,
        "levels": [0, 4],
    }


def test_names_choose_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["name"] for row in json.loads(told(capsys, "reverse", "copy", "--json"))] == ["reverse", "copy"]


def test_a_module_beside_ones_work_is_found(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (ROOT / "examples" / "parity.py").read_text().replace('"parity"', '"parity-here"')
    (tmp_path / "mine.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    (row,) = json.loads(told(capsys, "mine:parity-here", "--json"))
    assert (row["name"], row["actions"]) == ("parity-here", [3])
    assert row["description"] == "Say whether the ones among the bits are even or odd."
