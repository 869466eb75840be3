"""From the words of a command line to a call of the command's function."""

import dataclasses
import inspect
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence

import tyro
from tyro import _errors as rejections

from urex.cli.flags import NUMBER, NUMBERS, REAL
from urex.errors import UserError, unknown

Command = Callable[..., int | None]

OVERVIEW = """\
usage: urex COMMAND ...

Learn algorithms from reward alone, by exploring under-appreciated rewards.

commands:
{commands}

for example:
  urex train duplicated-input             # writes runs/duplicated-input-1
  urex evaluate runs/duplicated-input-1   # on inputs of 30 to 2000 symbols
  urex trace runs/duplicated-input-1      # one episode, step by step

`urex COMMAND --help` tells more of a command.
"""
_HELP = ("-h", "--help")
_RULES = {
    NUMBER: "it must be a whole number",
    REAL: "it must be a number",
    NUMBERS: "give whole numbers with spaces between them",
}
"""What a flag's value must be, by what stands for it in help."""


def parse(commands: Mapping[str, Command], arguments: Sequence[str]) -> int | None:
    """Run the command that the words name; `UserError` if they name none or do not fit it."""
    if not arguments:
        raise UserError(f"no command given: name one of {', '.join(commands)}; see `urex --help`")
    name, *words = arguments
    if name in _HELP:
        print(OVERVIEW.format(commands=_list(commands)), end="")
        return 0
    if name not in commands:
        raise unknown(*("flag", name.split("=")[0], _HELP[1:]) if name.startswith("-") else ("command", name, commands))
    return _call(f"urex {name}", commands[name], words)


def _list(commands: Mapping[str, Command]) -> str:
    """Each command with the first line of what its help says."""
    return "\n".join(f"  {name:<9} {_description(command)[0]}" for name, command in commands.items())


def _call(program: str, command: Command, words: list[str]) -> int | None:
    """Call the function with what the words say, or tell its help."""

    def reject(event: rejections.ParseErrorEvent) -> None:
        raise _mistake(event, command)

    summary, *notes = _description(command)
    config = (tyro.conf.FlagCreatePairsOff, tyro.conf.DisallowNone)
    try:
        with rejections.on_parse_error(reject):
            return tyro.cli(command, prog=program, description=summary, args=words, config=config)
    except SystemExit:
        if not set(_HELP) & set(words):
            raise
    for note in notes:  # tyro would not break its lines
        print(textwrap.fill(note, min(shutil.get_terminal_size().columns, 100)))
    return 0


def _description(command: Command) -> list[str]:
    """The paragraphs of a docstring but for its `Args`, each in one line."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return [" ".join(lines.split()) for lines in paragraphs if not lines.startswith("Args:")]


def _mistake(event: rejections.ParseErrorEvent, command: Command) -> UserError:
    """What tyro's rejection says, in one sentence."""
    more = f"see `{event.prog} --help`"
    match event:
        case rejections.UnrecognizedArgs():
            token = event.tokens[0]
            if not token.startswith("-"):
                return UserError(f"{token!r} is one word too many; {more}")
            return unknown("flag", token.split("=")[0], _flags(command))
        case rejections.MissingArgs():
            missing = ", ".join(str(argument.arg.lowered.metavar) for argument in event.missing_arguments)
            return UserError(f"{missing} is missing; {more}")
        case rejections.BadValue():
            return UserError(f"{event.argument.display_name()} needs a value; {more}")
        case rejections.InstantiationFailure() if event.argument and event.argument.lowered.metavar in _RULES:
            given = event.message.rpartition(": ")[2].strip("[]")
            rule = _RULES[event.argument.lowered.metavar]
            return UserError(f"{event.argument.display_name()} {given}: {rule}; {more}")
        case _:
            return UserError(f"{' '.join(getattr(event, 'message', 'the words do not fit together').split())}; {more}")


def _flags(command: Command) -> list[str]:
    """The flags of a command: parameters by keyword, under the name that tyro was told if any."""
    flags = ["--help"]
    for name, parameter in inspect.signature(command).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            if dataclasses.is_dataclass(parameter.default):  # its fields are flags
                flags += [f"--{field.name}".replace("_", "-") for field in dataclasses.fields(parameter.default)]
                continue
            told = [note.name for note in getattr(parameter.annotation, "__metadata__", ()) if hasattr(note, "name")]
            flags.append("--" + (told[0] if told and told[0] else name).replace("_", "-"))
    return flags
