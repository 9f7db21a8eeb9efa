"""What ARCHITECTURE.md and the glossary promise about the tree."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hyperloci.store.migration import load_migrations

ROOT = Path(__file__).parent.parent
PACKAGES = (ROOT / "server" / "hyperloci", ROOT / "tools" / "hyperloci_tools", ROOT / "hooks" / "hyperloci_hooks")
MOST_MODULES = 20
"""More than this in one folder and a reader no longer takes it in at a glance."""

MOST_LINES = 400
"""Above, a module's docstring says why it is not two."""

_SAYS_WHY = re.compile(r"(?i)\b(?:though long|long because|longer than)\b")

_QUOTED = re.compile(r"`([\w./-]+)`")
_MIGRATION_ROW = re.compile(r"^\| (\d{4}) `(\w+)` \|", re.MULTILINE)


def quoted_paths(text: str) -> list[str]:
    """Return what stands between backticks and looks like a file or folder of the project."""
    return [path for path in _QUOTED.findall(text) if path.endswith((".py", "/", ".toml", ".json")) and path != "/"]


def exists_somewhere(path: str) -> bool:
    """Tell whether a path exists, from the root or from inside a package (`store/purge.py`)."""
    roots = (
        ROOT,
        *PACKAGES,
        ROOT / "server" / "hyperloci" / "conversations",
        *(ROOT / "server" / "hyperloci").iterdir(),
    )
    return any((root / path).exists() for root in roots)


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/glossary.md"])
def test_every_file_and_folder_that_the_map_names_is_there(page: str) -> None:
    paths = quoted_paths((ROOT / page).read_text("utf-8"))
    assert len(paths) > 40
    assert [path for path in paths if not exists_somewhere(path)] == []


def test_every_room_is_on_the_map() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    rooms = [folder.name for folder in (ROOT / "server" / "hyperloci").iterdir() if (folder / "__init__.py").exists()]
    assert len(rooms) > 10
    assert [room for room in rooms if f"| `{room}/` |" not in text] == []


def test_the_table_of_migrations_names_every_migration_in_order() -> None:
    told = [
        (int(number), name) for number, name in _MIGRATION_ROW.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    ]
    assert told == [(migration.number, migration.name[5:].removesuffix(".sql")) for migration in load_migrations()]


def test_no_folder_holds_more_modules_than_a_reader_takes_in() -> None:
    folders = {path.parent for package in PACKAGES for path in package.rglob("*.py")}
    counts = {str(folder.relative_to(ROOT)): len([*folder.glob("*.py")]) - 1 for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_module_that_is_longer_than_most_says_why(package: Path) -> None:
    silent = []
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8")
        if text.count("\n") > MOST_LINES and not _SAYS_WHY.search(ast.get_docstring(ast.parse(text)) or ""):
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


_ARGUMENTS = re.compile(r"^Args:\n((?:    .*\n?|\n)+)", re.MULTILINE)
_ARGUMENT_NAMES = re.compile(r"^    (\w+(?:, \w+)*):", re.MULTILINE)


def list_unknown_arguments(path: Path) -> list[str]:
    """Return the arguments that a module's docstrings explain and its functions do not have."""
    unknown = []
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        signature = function.args
        lists = (signature.posonlyargs, signature.args, signature.kwonlyargs, [signature.vararg, signature.kwarg])
        names = {argument.arg for some in lists for argument in some if argument is not None}
        for section in _ARGUMENTS.findall(ast.get_docstring(function) or ""):
            told = ", ".join(_ARGUMENT_NAMES.findall(section)).split(", ")
            unknown += [f"{path.name}: {function.name}({name})" for name in told if name and name not in names]
    return unknown


def test_every_argument_that_a_docstring_explains_is_there() -> None:
    modules = [path for package in PACKAGES for path in package.rglob("*.py")]
    assert [fault for path in modules for fault in list_unknown_arguments(path)] == []


def contracts() -> list[dict[str, Any]]:
    """Return the import contracts of pyproject.toml."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return list(found)


def test_the_contracts_leave_no_module_out_and_allow_no_circle() -> None:
    layers = [contract for contract in contracts() if contract["type"] == "layers"]
    assert any(contract.get("exhaustive") for contract in layers)
    circles = [contract for contract in contracts() if contract["type"] == "acyclic_siblings"]
    assert {name for contract in circles for name in contract["ancestors"]} >= {package.name for package in PACKAGES}
