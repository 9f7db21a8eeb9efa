"""The tree of errors."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from pathlib import Path

import pytest

from hyperloci import errors
from hyperloci.errors import HyperlociError, QuerySyntaxError

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("server/hyperloci", "tools/hyperloci_tools", "hooks/hyperloci_hooks")
PAGE = inspect.getdoc(errors) or ""
ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, HyperlociError)]


@functools.cache
def defined() -> frozenset[tuple[str, str]]:
    """Return every class of the packages with each of its bases, by name."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    return frozenset((node.name, base.id) for node in classes for base in node.bases if isinstance(base, ast.Name))


def below(*names: str) -> dict[str, set[str]]:
    """Return the classes that derive from some, however far, each with its own bases."""
    known, found, pairs = set(names), dict[str, set[str]](), defined()
    while fresh := {(name, base) for name, base in pairs if base in known and base not in found.get(name, ())}:
        for name, base in fresh:
            found.setdefault(name, set()).add(base)
        known.update(found)
    return found


def drawn() -> dict[str, str]:
    """Return the classes of the tree in the module's docstring, each with the one it hangs from."""
    found: dict[str, str] = {}
    branch: list[tuple[int, str]] = []
    for line in PAGE.splitlines():
        if (match := re.match(r"^([\s│├└─]+)(\w+Error)\b", line)) is None:
            continue
        while branch and branch[-1][0] >= len(match[1]):
            branch.pop()
        if branch:
            found[match[2]] = branch[-1][1]
        branch.append((len(match[1]), match[2]))
    return found


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_errors_docstring_is_its_message_unless_another_is_given(kind: type[HyperlociError]) -> None:
    if kind is not QuerySyntaxError:
        assert str(kind()) == inspect.cleandoc(kind.__doc__ or "") != ""
        assert str(kind("what was wrong")) == "what was wrong"
    assert issubclass(kind, Exception) and not issubclass(kind, OSError | MemoryError)


def test_the_tree_drawn_holds_every_error_of_the_packages() -> None:
    tree = drawn()
    bases = below("HyperlociError", "Exception")
    assert tree.keys() == below("HyperlociError").keys()
    assert {name: base for name, base in tree.items() if base not in bases[name]} == {}


def test_what_is_caught_inside_is_named_too() -> None:
    raised = {name for name in below("Exception", "BaseException") if not name.startswith("_")}
    assert {name for name in raised if not re.search(rf"\b{name}s?\b", PAGE)} == set()


def test_a_syntax_error_points_at_its_column() -> None:
    error = QuerySyntaxError('a "b', 3, "this quote is not closed.")
    assert str(error) == 'column 3: this quote is not closed.\n  a "b\n    ^'
    assert error.column == 3


@pytest.mark.parametrize(
    "kind", [kind for kind in ALL if issubclass(kind, errors.StoreError)], ids=lambda k: k.__name__
)
def test_what_a_full_or_busy_store_says_tells_what_became_of_the_write(kind: type[HyperlociError]) -> None:
    says = str(kind())
    assert says.endswith(".")
    assert ("this write was not done" in says) is (
        kind in (errors.StoreBusyError, errors.StoreFullError, errors.StoreMovedError)
    )
