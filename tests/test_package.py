"""The package as a whole: what importing costs, what it exports, which way its modules depend."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import urex

ROOT = Path(urex.__file__).parent
STAGES = [
    *(
        "errors",
        "modules",
        "streams",
        "devices",
        "recipe",
        "tasks",
        "curriculum",
        "policies",
        "rollout",
        "kernels",
        "objectives",
        "presets",
        "config",
        "learners",
    ),
    *("training", "trial", "bench", "evaluation", "runs", "views", "interop", "cli"),
]
"""In the order in which data flows; a module imports from its own stage and those before it."""


def modules() -> dict[str, Path]:
    """Every module below the package by its name, the package's own left out."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name != "urex":
            found[name] = path
    return found


def imports(path: Path) -> Iterator[str]:
    """Everything of urex that a module imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "urex")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            if node.module == "urex":
                yield from (f"urex.{alias.name}" for alias in node.names)
            elif node.module and node.module.startswith("urex."):
                yield node.module


def stage(name: str) -> int:
    """The place of a module's stage in the flow."""
    return STAGES.index(name.split(".")[1])


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_go_one_way(name: str) -> None:
    for imported in imports(modules()[name]):
        target = "urex.errors" if imported == "urex.UserError" else imported
        assert stage(target) <= stage(name), f"{name} imports {imported}, of a later stage"


def test_the_check_of_imports_sees_inside_functions(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("def f():\n    if True:\n        from urex.cli.main import main\n    import urex.views\n")
    assert set(imports(path)) == {"urex.cli.main", "urex.views"}


def python(source: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("imported", ["import urex", "import urex.cli"])
def test_importing_does_not_import_jax(imported: str) -> None:
    heavy = "{'jax', 'equinox', 'scipy'} & {name.split('.')[0] for name in sys.modules}"
    assert python(f"import sys; {imported}; print({heavy} or 'light')") == "light\n"


@pytest.mark.parametrize(
    "words", ["--help", "tasks --help", "train --help", "evaluate --help", "trace --help", "bench --help"]
)
def test_help_does_not_import_jax(words: str) -> None:
    source = f"import sys; from urex.cli import main; main({words.split()})\n"
    assert python(source + "print('jax' in sys.modules)").endswith("False\n")


def test_it_works_where_gymnasium_is_absent() -> None:
    """All but the environments: an import that fails is simulated by a blocked name."""
    source = "import sys; sys.modules['gymnasium'] = None\nimport urex; print(urex.tasks.get('copy').max_steps)"
    assert python(source) == "69\n"


def test_every_public_name_is_there_and_documented() -> None:
    assert set(urex.__all__) == set(dir(urex))
    for name in urex.__all__:
        assert getattr(urex, name).__doc__, f"urex.{name} has no docstring"
    from urex import tasks

    for name, value in vars(tasks).items():
        if not name.startswith("_") and not isinstance(value, ModuleType):
            assert value.__doc__, f"urex.tasks.{name} has no docstring"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'train_all'"):
        _ = urex.train_all  # pyright: ignore[reportAttributeAccessIssue]


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "py.typed").exists()
