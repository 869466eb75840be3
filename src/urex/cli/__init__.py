"""The command line: parse, run one command, tell mistakes in one sentence."""

from urex.cli.main import main as main
