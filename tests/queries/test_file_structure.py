"""The structure of indexed files, read back from their snippets (D.04, D.05)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.queries.file_structure import (
    MAX_NAMES,
    OutlineTree,
    find_sections,
    join_pieces,
    load_tree,
    title_similarity,
)
from hyperloci.store import Store
from hyperloci.text.chunking.sections import parse_sections
from tests.knowledge.relations.linked import Linked
from tests.support import SHARED_FIXTURE, FakeClock, examples

GUIDE = """Read this first.

# Guide

What it is for.

## Installation

```console
# not a heading
pip install guide
```

### From source

Clone it.

## Limitations

None.

Usage
-----

Call it.
"""


@pytest.fixture
def code(store: Store, settings: Settings, tmp_path: Path, clock: FakeClock) -> Linked:
    return Linked(store, settings, tmp_path / "project", clock)


def tree(code: Linked, path: str) -> OutlineTree:
    return load_tree(code.store, code.project, code.settings, path)


def titles(found: OutlineTree, indexes: list[int]) -> list[str]:
    return [found.entries[index].title for index in indexes]


@pytest.mark.req("D.04")
def test_every_heading_is_known_though_short_sections_share_a_snippet(code: Linked) -> None:
    code.index({"guide.md": GUIDE})
    guide = tree(code, "guide.md")
    assert [(entry.title, entry.level, entry.type, entry.line_start) for entry in guide.entries] == [
        ("", 0, "unknown", 1),
        ("Guide", 1, "howto", 3),
        ("Installation", 2, "installation", 7),
        ("From source", 3, "installation", 14),
        ("Limitations", 2, "limitations", 18),
        ("Usage", 2, "examples", 22),
    ]
    assert all(entry.ids for entry in guide.entries)
    assert guide.entries[3].path == ("Guide", "Installation", "From source")
    assert guide.entries[3].anchor == "from-source"


@pytest.mark.req("D.04")
def test_the_tree_is_walked_every_way(code: Linked) -> None:
    code.index({"guide.md": GUIDE})
    guide = tree(code, "guide.md")
    assert titles(guide, guide.children(None)) == ["", "Guide"]
    assert titles(guide, guide.children(1)) == ["Installation", "Limitations", "Usage"]
    assert titles(guide, guide.ancestors(3)) == ["Installation", "Guide"]
    assert titles(guide, guide.siblings(4)) == ["Installation", "Usage"]
    assert titles(guide, guide.find_by_level(2)) == ["Installation", "Limitations", "Usage"]
    assert titles(guide, guide.find_by_type("limitations")) == ["Limitations"]


@pytest.mark.req("D.04")
def test_a_title_is_found_exactly_or_by_likeness(code: Linked) -> None:
    code.index({"guide.md": GUIDE})
    guide = tree(code, "guide.md")
    assert titles(guide, guide.find_by_title("limitations")) == ["Limitations"]
    assert guide.find_by_title("limitation") == []
    assert titles(guide, guide.find_by_title("limitation", fuzzy=True)) == ["Limitations"]
    assert titles(guide, guide.find_by_title("Instalation", fuzzy=True)) == ["Installation"]
    assert guide.find_by_title("weather", fuzzy=True) == []


@pytest.mark.req("D.04")
def test_sections_of_all_documents_are_found_by_title_type_and_level(code: Linked) -> None:
    code.index({"guide.md": GUIDE, "docs/other.md": "# Other\n\n## Known limitations\n\nMany.\n", "a.py": "X = 1\n"})

    def found(**wanted: Any) -> list[tuple[str, str]]:
        return [(entry.file, entry.title) for entry in find_sections(code.store, code.project, code.settings, **wanted)]

    assert found(title="limitations") == [("guide.md", "Limitations")]
    assert found(title="limitations", fuzzy=True) == [
        ("guide.md", "Limitations"),
        ("docs/other.md", "Known limitations"),
    ]
    assert found(type="limitations") == [("docs/other.md", "Known limitations"), ("guide.md", "Limitations")]
    assert found(level=1) == [("docs/other.md", "Other"), ("guide.md", "Guide")]
    assert found(level=2, path="docs/other.md") == [("docs/other.md", "Known limitations")]
    with pytest.raises(BadRequestError, match="No condition is given"):
        found()
    with pytest.raises(NotFoundError, match=r"nowhere\.md"):
        found(level=1, path="nowhere.md")


def reason(code: Linked, path: str) -> str:
    with pytest.raises((BadRequestError, NotFoundError)) as caught:
        tree(code, path)
    return str(caught.value)


@pytest.mark.req("D.04")
def test_a_file_without_an_outline_is_told_as_what_it_is(code: Linked) -> None:
    late = {"log.txt": "x", ".env": "A=1", "node_modules/x.js": "x", "late.py": "x = 1\n"}
    code.index({".gitignore": "log.txt\n", "app/__init__.py": "", "a.py": "x = 1\n", "../secret.txt": "x"})
    for name, text in late.items():
        (code.root / name).parent.mkdir(exist_ok=True)
        (code.root / name).write_text(text, encoding="utf-8")
    assert "is indexed, and holds nothing" in reason(code, "app/__init__.py")
    assert "indexing leaves it out (log.txt: ignored by .gitignore)" in reason(code, "log.txt")
    assert "indexing leaves it out (.env: may hold secrets)" in reason(code, ".env")
    assert "indexing leaves it out (node_modules/: third-party code)" in reason(code, "node_modules/x.js")
    assert "not indexed in this project; index_path indexes it" in reason(code, "late.py")
    for outside in ("../secret.txt", "../nosecret.txt", "..", str(code.root.parent / "secret.txt")):
        assert "lies outside the project" in reason(code, outside)
    assert "is not a valid path" in reason(code, "a" * 300)
    assert "is not a valid path" in reason(code, "a\0b")


@pytest.mark.req("D.04")
def test_a_file_is_found_by_any_way_to_write_its_path(code: Linked) -> None:
    code.index({"app/a.py": "x = 1\n"})
    for path in ("./app/a.py", "app//a.py", "app/../app/a.py", str(code.root / "app" / "a.py")):
        assert tree(code, path).file == "app/a.py"


@pytest.mark.req("D.04")
def test_the_nearest_of_many_files_is_told_by_comparing_few_names(
    code: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    code.index({"a.py": "x = 1\n"})
    names = [f"module_{number % 30}/widget_{number}.tsx" for number in range(1000)]
    names += ["docs/guide.md", "module_1/guide.md", "module_1/guide.rst"]
    with code.store.transaction():
        scope = code.store.scopes.find_key("p") or 0
        for name in names:
            code.store.files.put_file(scope, name, size=1, mtime_ns=1, content_hash=b"x", now=0)
    compared: list[int] = []
    compare = difflib.get_close_matches

    def count(word: str, names: Sequence[str], n: int) -> list[str]:
        compared.append(len(names))
        return compare(word, names, n=n)

    monkeypatch.setattr(difflib, "get_close_matches", count)
    assert "did you mean module_7/widget_427.tsx?" in reason(code, "module_7/wigdet_427.tsx")
    assert "did you mean module_1/guide.rst?" in reason(code, "module_1/giude.rst")
    assert "did you mean module_1/guide.rst?" in reason(code, "docs/guide.rst")
    assert "did you mean docs/guide.md?" in reason(code, "docs/guide.txt")
    assert "did you mean a.py?" in reason(code, "module_1/a.py")
    assert reason(code, "zz.py").endswith("there is no such file in this project.")
    assert compared == [MAX_NAMES] * 6


def test_a_document_of_restructured_text_is_a_tree_of_its_titles_and_is_found_by_them(code: Linked) -> None:
    code.index({"guide.rst": "=====\nGuide\n=====\n\nRead this.\n\nFrom source\n~~~~~~~~~~~\n\nClone it.\n"})
    found = tree(code, "guide.rst")
    assert [(entry.level, entry.title, entry.line_start) for entry in found.entries] == [
        (1, "Guide", 1),
        (2, "From source", 7),
    ]
    (entry,) = find_sections(code.store, code.project, code.settings, title="from source")
    assert (entry.file, entry.path) == ("guide.rst", ("Guide", "From source"))


@pytest.mark.req("D.04", "D.06")
def test_code_between_symbols_is_an_entry_of_its_own(code: Linked) -> None:
    words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    define = "def {0}(value):\n" + "".join(f"    # {number} {words}\n" for number in range(6)) + "    return value\n"
    assign = "".join(f"NAME_{{0}}_{number} = '{words}'\n" for number in range(6))
    parts = [
        assign.format("A"),
        define.format("first"),
        assign.format("B"),
        define.format("second"),
        assign.format("C"),
    ]
    code.index({"app.py": "\n\n".join(parts)})
    app = tree(code, "app.py")
    assert [(entry.title, entry.type) for entry in app.entries] == [
        ("", "module"),
        ("first", "function"),
        ("", "module"),
        ("second", "function"),
        ("", "module"),
    ]
    lines = [(entry.line_start, entry.line_end) for entry in app.entries]
    assert all(end < start for (_, end), (start, _) in pairwise(lines))
    assert lines[0] == (1, 8)


def test_a_source_file_is_a_tree_of_its_symbols(code: Linked) -> None:
    head = '"""' + "A module with a head of its own, since it has so many words to say about itself. " * 2 + '"""\n\n\n'
    code.index(
        {
            "app.py": head + "class Engine:\n    size = 1\n\n    def start(self):\n        return 1\n\n\n"
            "def main():\n    return Engine().start()\n"
        }
    )
    app = tree(code, "app.py")
    assert [(entry.title, entry.type, entry.level) for entry in app.entries] == [
        ("", "module", 0),
        ("Engine", "class", 1),
        ("start", "method", 2),
        ("main", "function", 1),
    ]
    assert titles(app, app.children(1)) == ["start"]
    assert app.entries[1].line_end >= app.entries[2].line_end


def test_likeness_is_one_for_the_same_title_only() -> None:
    assert title_similarity("Data  flow", "data Flow") == 1.0
    assert 0.9 < title_similarity("flow", "Data Flow") < 1.0
    assert title_similarity("", "x") == title_similarity("x", "") == 0.0


# Laws

LINE = st.sampled_from(
    [
        "# One",
        "## Two",
        "### Three",
        "Text of a line.",
        "",
        "```",
        "# in a fence?",
        "- item",
        "Four\n====",
        "word " * 60,
    ]
)
DOCUMENT = st.lists(LINE, min_size=1, max_size=40).map(lambda lines: "\n".join(lines) + "\n")
EACH = hypothesis_settings(max_examples=examples(50), suppress_health_check=SHARED_FIXTURE)


@pytest.mark.req("D.04", "D.05")
@EACH
@given(DOCUMENT)
def test_snippets_put_together_are_the_document_and_its_sections_cover_it_once(code: Linked, text: str) -> None:
    code.index({"any.md": text})
    pieces = code.store.files.list_pieces(code.store.scopes.find_key("p") or 0, "any.md")
    if not text.strip():
        assert pieces == []
        return
    whole, spans = join_pieces(pieces)
    assert whole.rstrip() == text.rstrip()
    assert all(text.startswith(piece.content, start) for piece, (start, _) in zip(pieces, spans, strict=True))
    found = tree(code, "any.md")
    expected = parse_sections(text)
    assert [entry.path for entry in found.entries] == [section.path for section in expected]
    assert [entry.parent for entry in found.entries] == [section.parent for section in expected]
    lines = [line for entry in found.entries for line in range(entry.line_start, entry.line_end + 1)]
    assert lines == sorted(set(lines))
    assert lines[0] == 1 and lines[-1] >= len(text.rstrip().split("\n"))


def test_a_notebook_is_laid_out_by_its_headings_those_above_code_alone_too(code: Linked) -> None:
    words = "Words enough to be a chunk of their own, so that nobody joins them to the code that stands below them."
    sources = [
        ("markdown", f"# Gauges\n\n{words}\n\n## Why\n\n{words}"),
        ("markdown", "## Load"),
        ("code", "# no heading\nimport pandas as pd\n"),
        ("markdown", f"### Clean\n\n{words}"),
    ]
    cells = [{"cell_type": kind, "source": text, "metadata": {}} for kind, text in sources]
    code.index({"gauge.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})})
    found = tree(code, "gauge.ipynb")
    assert [(entry.title, entry.level) for entry in found.entries] == [
        ("Gauges", 1),
        ("Why", 2),
        ("Load", 2),
        ("Clean", 3),
    ]
    assert titles(found, found.ancestors(3)) == ["Load", "Gauges"]
    assert [len(entry.ids) for entry in found.entries] == [1, 1, 2, 1]
