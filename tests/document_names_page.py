"""The page "coming from the documents": `python tests/document_names_page.py` writes it from the file of names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hyperloci.names import DocumentName, load_document_names

PAGE: Final = Path(__file__).parent.parent / "docs" / "coming-from-the-documents.md"

INTRODUCTION: Final = """# Coming from the documents

Hyperloci was built from five documents: SPEC-02 (memory foundation), Memory System, RFC-013 (hierarchical memory),
RFC-014 (multi-topology memory) and the Context Graph. Every command, tool, setting, column, type, method, rule and
number that they name stands here with what has its place. A wrong name in a call, a command, a setting or a program,
and a wrong value, is answered from the same table.
"""

TITLES: Final = {
    "tools": "Tools",
    "arguments": "Arguments and conditions",
    "commands": "Commands",
    "settings": "Settings",
    "columns": "Tables and columns",
    "types": "Types, relations, sources, strategies, spaces",
    "values": "Values",
    "answers": "Fields of an answer",
    "methods": "Methods and functions",
    "classes": "Classes",
    "fields": "Fields",
    "files": "Files",
    "rules": "Rules, numbers and programs",
}


def render_page() -> str:
    """Return the page's text."""
    parts = [INTRODUCTION]
    for group, names in itertools.groupby(load_document_names(), key=lambda name: name.group):
        parts.append(f"## {TITLES[group]}\n\n| in the documents | here | |\n|---|---|---|\n" + _render_rows(names))
    return "\n".join(parts)


def _render_rows(names: Iterable[DocumentName]) -> str:
    return "".join(_render_row(name) for name in names)


def _render_row(name: DocumentName) -> str:
    here = ", ".join(f"`{target.partition(':')[2]}` ({target.partition(':')[0]})" for target in name.targets) or "-"
    return f"| `{name.name}` | {here} | {name.note} |\n"


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8")
