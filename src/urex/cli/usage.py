"""From the words of a command line to a call of the command's function."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence

import tyro
from tyro import _errors as rejections

from urex.errors import UserError, unknown

DESCRIPTION = "Learn algorithms from reward alone, by exploring under-appreciated rewards."


def parse(commands: Mapping[str, Callable[..., int | None]], arguments: Sequence[str]) -> int | None:
    """Run the command that the words name; `UserError` if they name none or do not fit it."""

    def reject(event: rejections.ParseErrorEvent) -> None:
        raise _mistake(event, commands, arguments)

    if arguments and not arguments[0].startswith("-") and arguments[0] not in commands:
        raise unknown("command", arguments[0], commands)
    with rejections.on_parse_error(reject):
        return tyro.extras.subcommand_cli_from_dict(
            dict(commands),
            prog="urex",
            description=DESCRIPTION,
            args=list(arguments),
            config=(tyro.conf.FlagCreatePairsOff,),
        )


def _mistake(
    event: rejections.ParseErrorEvent, commands: Mapping[str, Callable[..., int | None]], arguments: Sequence[str]
) -> UserError:
    """What tyro's rejection says, in one sentence."""
    more = f"see `{event.prog} --help`"
    match event:
        case rejections.UnrecognizedArgs():
            token = event.tokens[0]
            if not token.startswith("-"):
                return UserError(f"{token!r} is one word too many; {more}")
            return unknown("flag", token.split("=")[0], _flags(commands.get(arguments[0])))
        case rejections.MissingSubcommand():
            return UserError(f"no command given: name one of {', '.join(commands)}; {more}")
        case rejections.MissingArgs():
            missing = ", ".join(argument.arg.display_name() for argument in event.missing_arguments)
            return UserError(f"{missing} is missing; {more}")
        case rejections.InvalidChoice():
            return unknown(f"value of {event.argument.display_name()}", event.value, event.choices)
        case rejections.BadValue():
            return UserError(f"{event.argument.display_name()} needs a value; {more}")
        case rejections.InstantiationFailure():
            where = "" if event.argument is None else f"{event.argument.display_name()}: "
            return UserError(f"{where}{' '.join(event.message.split())}; {more}")
        case _:
            return UserError(f"the words {' '.join(arguments)!r} do not fit together; {more}")


def _flags(command: Callable[..., int | None] | None) -> list[str]:
    """The flags of a command: parameters by keyword, under the name that tyro was told if any."""
    flags = ["--help"]
    for name, parameter in inspect.signature(command).parameters.items() if command else ():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            if dataclasses.is_dataclass(parameter.default):  # its fields are flags
                flags += [f"--{field.name}".replace("_", "-") for field in dataclasses.fields(parameter.default)]
                continue
            told = [note.name for note in getattr(parameter.annotation, "__metadata__", ()) if hasattr(note, "name")]
            flags.append("--" + (told[0] if told else name).replace("_", "-"))
    return flags
