"""The command line as a whole: help, exit codes, and one sentence for every mistake."""

import inspect
import os
import re
import subprocess
import sys
import warnings

import pytest

from tests.cli.told import mistake, urex
from urex.cli.main import COMMANDS
from urex.cli.usage import _flags as flags_of

EVERY = pytest.mark.parametrize("command", list(COMMANDS))


def run(*words: str, **options: object) -> subprocess.CompletedProcess:
    """`urex` in a process of its own."""
    command = [sys.executable, "-W", "error", "-c", "import sys; from urex.cli import main; sys.exit(main())", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # pyright: ignore


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "no command given: name one of tasks, train, evaluate, trace, bench; see `urex --help`"),
        ("tran", "unknown command 'tran': did you mean 'train'? known are bench, evaluate, tasks, trace, train"),
        ("--jsn", "unknown flag '--jsn': known are --help"),
        ("--jsn tasks", "unknown flag '--jsn': known are --help"),
        ("tasks --jsn", "unknown flag '--jsn': did you mean '--json'? known are --help, --json"),
        ("tasks --jsn=yes", "unknown flag '--jsn': did you mean '--json'? known are --help, --json"),
        ("tasks revers", "unknown task 'revers': did you mean 'reverse'? known are "),
        ("tasks no_module:x", "task module 'no_module': there is no module 'no_module'; check its name"),
        ("tasks :x", "task module '': importing it failed with ValueError: Empty module name; mend it"),
        ("train copy reverse", "'reverse' is one word too many; see `urex train --help`"),
        ("train copy --objectiv urex", "unknown flag '--objectiv': did you mean '--objective'? known are --adam-"),
        ("train copy --no-centred", "unknown flag '--no-centred': did you mean '--centred'? known are --adam-"),
        ("train copy --objective --tau 1", "--objective needs a value; see `urex train --help`"),
        ("train copy --tau", "--tau needs a value; see `urex train --help`"),
        ("train copy --tau high", "--tau 'high': it must be a number; see `urex train --help`"),
        ("train copy --tau None", "--tau 'None': it must be a number; see `urex train --help`"),
        ("train copy --tau 0.1 0.2", "'0.2' is one word too many; see `urex train --help`"),
        ("train copy --num-updates 1e3", "--num-updates '1e3': it must be a whole number; see `urex train --help`"),
        ("train copy --seed=x", "--seed 'x': it must be a whole number; see `urex train --help`"),
        ("evaluate", "RUN is missing; see `urex evaluate --help`"),
        ("evaluate a b", "'b' is one word too many; see `urex evaluate --help`"),
        ("evaluate a --length 3", "unknown flag '--length': did you mean '--lengths'? known are --help, --instances,"),
        ("evaluate a --lengths 30,x", "--lengths '30,x': give whole numbers with spaces between them; see `urex eval"),
        ("evaluate a --lengths 3 x", "--lengths '3', 'x': give whole numbers with spaces between them; see `urex eva"),
        ("evaluate a --seed 1.5", "--seed '1.5': it must be a whole number; see `urex evaluate --help`"),
        ("trace --json", "RUN is missing; see `urex trace --help`"),
        ("trace a --length 8 9", "'9' is one word too many; see `urex trace --help`"),
    ],
)
def test_a_mistake_is_one_sentence_on_stderr_and_exit_code_2(words: str, sentence: str) -> None:
    assert mistake(*words.split()).startswith(sentence)


def test_a_mistake_ends_the_process_with_2_and_no_traceback() -> None:
    ended = run("tasks", "cpoy")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("urex: unknown task 'cpoy': did you mean 'copy'?")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["tasks", "--help"], ["train", "copy", "-h"]])
def test_help_ends_with_0(words: list[str]) -> None:
    ended = run(*words)
    assert ended.returncode == 0
    assert "usage: urex" in ended.stdout
    assert ended.stderr == ""


def helped(monkeypatch: pytest.MonkeyPatch, *words: str, columns: int = 80) -> str:
    """What help says in a terminal of this width."""
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = urex(*words, "--help")
    assert (code, err) == (0, "")
    return out


def test_the_overview_has_each_command_with_the_first_line_of_its_help(monkeypatch: pytest.MonkeyPatch) -> None:
    overview = helped(monkeypatch)
    for name, command in COMMANDS.items():
        first = str(inspect.getdoc(command)).split("\n")[0]
        assert re.search(rf"^  {name} +{re.escape(first)}$", overview, re.MULTILINE)
        assert helped(monkeypatch, name).split("\n")[2] == first
    assert max(map(len, overview.split("\n"))) <= 80


@EVERY
@pytest.mark.parametrize("columns", [80, 120])
def test_help_tells_every_flag_and_fits_the_terminal(
    command: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = helped(monkeypatch, command, columns=columns).split("\n")
    assert max(map(len, lines)) <= columns
    told = {match[1] for line in lines if (match := re.match(r"│ (?:-h, )?(--[a-z-]+)", line))}
    assert told == set(flags_of(COMMANDS[command]))


@EVERY
def test_help_shows_no_innards(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = helped(monkeypatch, command, columns=1000)
    for innards in ("None", "False", "settings.", "training.", "STR", "INT", "FLOAT", "Args:"):
        assert innards not in text
    for line in text.split("\n"):
        assert line.count("(default: ") <= 1


def test_help_ends_with_the_notes_of_the_docstring(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = " ".join(helped(monkeypatch, "trace").rpartition("╯")[2].split())
    assert notes.startswith("On a tape that is the path of its head,")
    assert notes.endswith("unless you say which.")


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


def stand_in(monkeypatch: pytest.MonkeyPatch, does: object) -> None:
    """Put a function in the place of `urex tasks`."""

    def command() -> None:
        """Do it."""
        does() if callable(does) else None

    monkeypatch.setitem(COMMANDS, "tasks", command)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte")])
def test_too_little_memory_is_told(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def ask_for_more() -> None:
        raise error

    stand_in(monkeypatch, ask_for_more)
    assert mistake("tasks") == "there is not enough memory; ask for fewer instances, fewer samples or shorter lengths"


def test_other_errors_are_bugs_and_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    stand_in(monkeypatch, fail)
    with pytest.raises(RuntimeError, match="a bug"):
        urex("tasks")


def test_a_warning_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def warn() -> None:
        warnings.simplefilter("always")
        warnings.warn("one [checkpoint] is damaged", UserWarning, stacklevel=1)

    stand_in(monkeypatch, warn)
    shown = warnings.showwarning
    assert urex("tasks") == (0, "", "urex: one [checkpoint] is damaged\n")
    assert warnings.showwarning is shown


def test_what_a_terminal_has_no_sign_for_is_a_question_mark() -> None:
    source = "from urex.cli.main import COMMANDS, main\nCOMMANDS['tasks'] = lambda: print('C ●')\nmain(['tasks'])"
    ended = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
    )
    assert ended.stdout == b"C ?\n"
