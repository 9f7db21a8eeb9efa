"""The tree of errors."""

from __future__ import annotations

import inspect
import re

import pytest

from hyperloci import errors
from hyperloci.errors import HyperlociError, QuerySyntaxError

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, HyperlociError)]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_errors_docstring_is_its_message_unless_another_is_given(kind: type[HyperlociError]) -> None:
    if kind is not QuerySyntaxError:
        assert str(kind()) == inspect.cleandoc(kind.__doc__ or "") != ""
    assert str(kind("what was wrong")) == "what was wrong"
    assert issubclass(kind, Exception) and not issubclass(kind, OSError | MemoryError)


def test_the_tree_drawn_is_the_tree_there_is() -> None:
    drawn: dict[str, str] = {}
    branch: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if (match := re.match(r"^([\s│├└─]*)(\w+Error)\b", line)) is None:
            continue
        depth = len(match[1])
        while branch and branch[-1][0] >= depth:
            branch.pop()
        if branch:
            drawn[match[2]] = branch[-1][1]
        branch.append((depth, match[2]))
    assert drawn == {kind.__name__: kind.__mro__[1].__name__ for kind in ALL if kind is not HyperlociError}


def test_a_syntax_error_knows_its_column() -> None:
    error = QuerySyntaxError("unbalanced quote", 7)
    assert (str(error), error.column) == ("unbalanced quote (column 7)", 7)
    assert QuerySyntaxError("unbalanced quote").column is None


@pytest.mark.parametrize(
    "kind", [kind for kind in ALL if issubclass(kind, errors.StoreError)], ids=lambda k: k.__name__
)
def test_what_a_full_or_busy_store_says_tells_what_became_of_the_write(kind: type[HyperlociError]) -> None:
    says = str(kind())
    assert says.endswith(".")
    assert ("Nothing was written" in says) is (
        kind in (errors.StoreBusyError, errors.StoreFullError, errors.StoreMovedError)
    )
