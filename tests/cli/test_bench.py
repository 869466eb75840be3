"""`urex bench`."""

import json

import pytest

from urex.cli import main

WORDS = ["bench", "--task", "copy", "--level", "2", "--episodes", "early", "--kernel", "xla", "--seconds", "0.05"]
WORDS += ["--instances", "2", "--samples", "2"]


def test_json_is_one_document_with_a_row_for_each_combination(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--trials", "1", "2", "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [(row["task"], row["level"], row["trials"], row["kernel"]) for row in document["rows"]] == [
        ("copy", 2, 1, "xla"),
        ("copy", 2, 2, "xla"),
    ]
    first = document["rows"][0]
    assert {"useful_env_steps_per_s", "lane_utilisation", "fraction_of_limit", "compile_s"} < first.keys()
    assert 0 < first["fraction_of_limit"] < 1
    assert document["device"]
    assert "jax" in document["versions"]
    assert err.count("useful steps/s") == 2


def test_the_table_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(WORDS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["task", "level", "trials", "episodes"]
    assert lines[1].split()[:4] == ["copy", "2", "1", "early"]
    assert "…" not in "".join(lines)
    assert lines[2].startswith("Kernel xla; matrix products at ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--task", "copi"], "unknown task 'copi': did you mean 'copy'"),
        (["--kernel", "xlb"], "unknown kernel 'xlb': did you mean 'xla'"),
        (["--level", "99"], "level 99: this task's levels are 2 to 30"),
        (["--trials", "0"], "trials 0: it must be at least 1"),
        (["--episodes", "fulls"], "unknown episodes 'fulls': did you mean 'full'"),
        (["--seconds", "0"], "seconds 0: it must be more than 0"),
    ],
)
def test_mistakes_are_told_in_a_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--task", "copy", *words]) == 2
    assert sentence in capsys.readouterr().err
