"""What stays inside `store/`: its connection, and SQL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
STORE: Final = ROOT / "server" / "hyperloci" / "store"

EXECUTING: Final = {"execute", "executemany", "executescript"}
STATEMENT: Final = re.compile(
    r"\s*(SELECT\s.*\sFROM|INSERT\s(OR\s\w+\s)?INTO|UPDATE\s\w+\sSET|DELETE\sFROM|(CREATE|ALTER|DROP)\s(TABLE|INDEX)"
    r"|PRAGMA\s\w)",
    re.DOTALL,
)


def outside() -> Iterator[tuple[Path, ast.AST]]:
    """Yield every node of the programs' syntax trees that is not in `store/`, with its file."""
    for folder in ("server", "hooks", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not path.is_relative_to(STORE):
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    yield path, node


def places(found: Iterator[tuple[Path, int]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}" for path, line in found]


def test_only_the_store_uses_its_connection() -> None:
    used = (
        (path, node.lineno)
        for path, node in outside()
        if isinstance(node, ast.Attribute)
        and node.attr == "connection"
        and ast.unparse(node.value).rpartition(".")[2].endswith("store")
    )
    assert places(used) == []


def test_only_the_store_runs_statements() -> None:
    run = (
        (path, node.lineno)
        for path, node in outside()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in EXECUTING
    )
    assert places(run) == []


def test_only_the_store_holds_sql() -> None:
    held = (
        (path, node.lineno)
        for path, node in outside()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and STATEMENT.match(node.value)
    )
    assert places(held) == []
