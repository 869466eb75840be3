"""Names of the form `package.module:name`: the module is imported first, so that it can register what it has."""

import importlib

from urex.errors import UserError, shortened


def import_for(name: str, what: str) -> str:
    """The plain name, after its module was imported, if there is one before it."""
    module, colon, plain = name.rpartition(":")
    if colon:
        _import(module, what)
    return plain


def _import(module: str, what: str) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"{what} module {module!r}: there is no module {error.name!r}; check its name and that it is on PYTHONPATH"
        ) from error
    except Exception as error:  # it is the user's module, so whatever it raised is the user's to mend
        cause = shortened(f"{type(error).__name__}: {error}")
        raise UserError(f"{what} module {module!r}: importing it failed with {cause}; mend it and try again") from error
