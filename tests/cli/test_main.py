"""The command line as a whole: exit codes, and one sentence for every mistake."""

import subprocess
import sys

import pytest

from urex.cli import main


def run(*words: str, **options: object) -> subprocess.CompletedProcess:
    """`urex` in a process of its own."""
    command = [sys.executable, "-W", "error", "-c", "import sys; from urex.cli import main; sys.exit(main())", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # pyright: ignore


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "no command given: name one of tasks; see `urex --help`"),
        (["taks"], "unknown command 'taks': did you mean 'tasks'? known are tasks"),
        (["--jsn"], "unknown flag '--jsn': known are --help"),
        (["tasks", "--jsn"], "unknown flag '--jsn': did you mean '--json'? known are --help, --json"),
        (["tasks", "--jsn=yes"], "unknown flag '--jsn': did you mean '--json'? known are --help, --json"),
        (["tasks", "revers"], "unknown task 'revers': did you mean 'reverse'? known are "),
        (["tasks", "no_module:x"], "task module 'no_module': there is no module 'no_module'; check its name"),
        (["tasks", ":x"], "task module '': importing it failed with ValueError: Empty module name; mend it"),
    ],
)
def test_a_mistake_is_one_sentence_on_stderr_and_exit_code_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"urex: {sentence}")
    assert err.count("\n") == 1


def test_a_mistake_ends_the_process_with_2_and_no_traceback() -> None:
    ended = run("tasks", "cpoy")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("urex: unknown task 'cpoy': did you mean 'copy'?")


@pytest.mark.parametrize("words", [["--help"], ["tasks", "--help"]])
def test_help_ends_with_0(words: list[str]) -> None:
    ended = run(*words)
    assert ended.returncode == 0
    assert "usage: urex" in ended.stdout
    assert ended.stderr == ""


def test_a_reader_that_leaves_early_is_no_error() -> None:
    source = "import sys; from urex.cli import main; sys.exit(main(['tasks', '--json']))"
    reader = subprocess.run(["head", "-c", "1"], input="", capture_output=True, check=False)
    assert reader.returncode == 0
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
