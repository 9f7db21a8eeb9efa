"""The lowest room: nothing but the standard library, so that hooks may load any part of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperloci.system

MODULES = sorted(Path(next(iter(hyperloci.system.__path__))).glob("*.py"))


def imported_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_imports_the_standard_library_and_filelock_alone(path: Path) -> None:
    known = {*sys.stdlib_module_names, "_typeshed", "filelock"}  # locks of processes, by the operating system
    strange = [name for name in imported_by(path) if name.partition(".")[0] not in known]
    assert [name for name in strange if not name.startswith("hyperloci.system")] == []
