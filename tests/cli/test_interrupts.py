"""Ctrl-C and SIGTERM, in processes of their own: what they do, and how soon."""

import os
import pty
import signal
import subprocess
import sys
import time
from signal import SIGINT, SIGTERM

import pytest
from rich.console import Console

from urex.cli.interrupts import Interrupts, ending_at_once

START = """
import hashlib, signal, sys, time
signal.signal(signal.SIGINT, {before})
from rich.console import Console
from rich.live import Live
from urex.cli.interrupts import Interrupts, ending_at_once
console = Console(stderr=True)

def compile():  # like XLA, it lets other threads run, and Python's own handlers wait
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)

def ready():
    print("ready", flush=True)
"""
HEEDS = """
with Interrupts(console) as interrupts:
    ready()
    while not interrupts.received():
        time.sleep(0.01)
sys.exit(interrupts.exit_code)
"""
COMPILES = """
with Interrupts(console), Live("compiling", console=console, redirect_stdout=False):
    ready()
    compile()
"""
TELLS = "stopping after the updates under way; once more, and it ends at once\n"
SOON = 10.0
"""Seconds, far fewer than `compile` takes."""


def begun(source: str, before: str = "signal.default_int_handler", stderr: int = subprocess.PIPE) -> subprocess.Popen:
    """A process that is ready."""
    command = [sys.executable, "-c", START.format(before=before) + source]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [SIGINT, SIGTERM])
def test_the_first_signal_is_kept_for_those_who_ask(number: int) -> None:
    process = begun(HEEDS)
    process.send_signal(number)
    _, err = process.communicate(timeout=SOON)
    assert (process.returncode, err) == (128 + number, TELLS)


@pytest.mark.parametrize("number", [SIGINT, SIGTERM])
def test_while_the_compiler_runs_the_first_is_told_and_a_second_ends_it(number: int) -> None:
    process = begun(COMPILES)
    assert process.stderr is not None
    process.send_signal(number)
    assert process.stderr.readline() == TELLS
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(number)
    _, rest = process.communicate(timeout=SOON)
    assert (process.returncode, rest) == (128 + number, "")


def test_what_a_shell_has_told_to_be_ignored_is() -> None:
    """As it does for a process in the background of a script."""
    process = begun(HEEDS, before="signal.SIG_IGN")
    process.send_signal(SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(SIGTERM)
    _, err = process.communicate(timeout=SOON)
    assert (process.returncode, err) == (128 + SIGTERM, TELLS)


def test_a_terminal_has_its_cursor_again() -> None:
    leader, follower = pty.openpty()
    process = begun(COMPILES, stderr=follower)
    os.close(follower)
    for _ in range(2):
        process.send_signal(SIGINT)
        time.sleep(0.3)
    assert process.wait(SOON) == 130
    shown = b""
    try:
        while more := os.read(leader, 1024):
            shown += more
    except OSError:  # so it ends on Linux
        pass
    os.close(leader)
    process.communicate()
    assert shown.count(b"\x1b[?25l") == shown.count(b"\x1b[?25h") == 1
    assert shown.endswith(b"\r\n")


def test_other_commands_end_at_once_without_a_word() -> None:
    process = begun("with ending_at_once():\n    ready()\n    compile()\n")
    process.send_signal(SIGINT)
    _, err = process.communicate(timeout=SOON)
    assert (process.returncode, err) == (-SIGINT, "")


def test_ignored_signals_stay_ignored_there_too() -> None:
    process = begun(
        "with ending_at_once():\n    ready()\n    time.sleep(1)\nprint(signal.getsignal(2))", before="signal.SIG_IGN"
    )
    process.send_signal(SIGINT)
    out, err = process.communicate(timeout=SOON)
    assert (process.returncode, err, out) == (0, "", f"{signal.SIG_IGN}\n")


def test_afterwards_signals_do_what_they_did() -> None:
    before = [signal.getsignal(number) for number in (SIGINT, SIGTERM)]
    descriptor = signal.set_wakeup_fd(-1)
    try:
        with ending_at_once(), Interrupts(Console()) as interrupts:
            assert not interrupts.received()
            assert [signal.getsignal(number) for number in (SIGINT, SIGTERM)] != before
        assert [signal.getsignal(number) for number in (SIGINT, SIGTERM)] == before
        assert signal.set_wakeup_fd(descriptor) == -1
    finally:
        signal.set_wakeup_fd(descriptor)
