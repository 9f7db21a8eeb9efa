"""What each kind of source is worth to a question."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.model.search import SearchFilter
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.search import Searcher
from hyperloci.retrieval.sources.source_factors import FACTORS, SourceKind, find_source_factors, tell_source_kind
from hyperloci.store import Store
from hyperloci.store.memories.nodes import NodeSource
from tests.support import add

EVERYTHING = Conditions(where=SearchFilter())
CODE: dict[str, Any] = {"type": NodeType.SNIPPET, "subtype": "code", "origin": Origin.CODE}
PAGE: dict[str, Any] = {"type": NodeType.SNIPPET, "subtype": "markdown", "origin": Origin.MARKDOWN}
COMMIT: dict[str, Any] = {"type": NodeType.DECISION, "subtype": "commit", "origin": Origin.COMMIT}


def add_at(store: Store, path: str, content: str, **fields: Any) -> Node:
    """Store a memory of a file."""
    node = add(store, content, place=path, **fields)
    with store.transaction():
        store.positions.put_position(
            node.key, Position(path=path, symbol="upload" if fields["subtype"] == "code" else None)
        )
    return node


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (NodeSource("code", "src/upload.py", "send", 300), SourceKind.CODE),
        (NodeSource("code", "tests/test_upload.py", "test_send", 300), SourceKind.TEST),
        (NodeSource("code", "src/upload.rs", "tests.sends", 300), SourceKind.TEST),
        (NodeSource("code", "examples/upload.py", "send", 300), SourceKind.SAMPLE),
        (NodeSource("markdown", "docs/upload.md", None, 300), SourceKind.DOCUMENT),
        (NodeSource("markdown", "CHANGELOG.md", None, 300), SourceKind.CHANGELOG),
        (NodeSource("text", "ci.yml", None, 300), SourceKind.SETTINGS),
        (NodeSource("text", "examples/upload/pyproject.toml", None, 300), SourceKind.SAMPLE),
        (NodeSource("text", "vendor/yaml/package.json", None, 300), SourceKind.SAMPLE),
        (NodeSource("commit", None, None, 300), SourceKind.COMMIT),
        (NodeSource("insight", None, None, 300), None),
        (NodeSource("episode", None, None, 300), None),
    ],
)
def test_where_a_memory_stands_tells_its_kind_of_source(source: NodeSource, kind: SourceKind | None) -> None:
    assert tell_source_kind(source) is kind


def test_of_a_place_long_code_outside_of_all_symbols_comes_behind_and_still_before_a_page() -> None:
    sources = {
        NodeKey(1): NodeSource("code", "src/upload.py", "send", 1_000),
        NodeKey(2): NodeSource("code", "src/upload.py", None, 1_000),
        NodeKey(3): NodeSource("markdown", "docs/upload.md", None, 1_000),
    }
    inside, outside, page = find_source_factors("where is an empty upload refused?", sources).values()
    assert inside > outside > page
    assert set(find_source_factors("an empty upload", sources).values()) == {1.0}


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("where is an empty upload refused?", "code"),
        ("why is an empty upload refused?", "commit"),
        ("how do I get an empty upload refused?", "page"),
        ("is there a test that an empty upload is refused?", "test"),
    ],
)
def test_of_sources_that_say_the_same_the_kind_that_is_asked_for_leads(
    store: Store, question: str, wanted: str
) -> None:
    said = "if an empty upload is refused, raise, else return"
    stored = {
        "test": add_at(store, "tests/test_upload.py", said, **CODE),
        "page": add_at(store, "docs/upload.md", said, **PAGE),
        "commit": add(store, said, **COMMIT),
        "code": add_at(store, "src/upload.py", said, **CODE),
    }

    found = Searcher(store, None).find(question, EVERYTHING, limit=5)

    assert found.nodes[0].key == stored[wanted].key
    assert len(found.nodes) == len(stored)


def test_for_a_place_code_that_does_much_comes_before_code_that_is_only_named_so(store: Store) -> None:
    upload = "send one part of the file and wait until the server has taken it " * 20
    named = add_at(store, "src/upload_type.py", "class Upload: ...", **CODE)
    doing = add_at(store, "src/upload.py", f"class Upload: ...\n{upload}", **CODE)

    where = Searcher(store, None).find("where is the upload?", EVERYTHING, limit=2).scores
    topic = Searcher(store, None).find("the upload", EVERYTHING, limit=2).scores

    def lead(scores: Any) -> float:
        return float(scores[doing.key].total / scores[named.key].total)

    assert lead(where) > 1.3 * lead(topic)


def test_what_was_remembered_on_purpose_leads_whatever_is_asked(store: Store) -> None:
    add_at(store, "src/upload.py", "an empty upload is refused", **CODE)
    add(store, "an empty upload is refused", **COMMIT)
    fact = add(store, "an empty upload is refused", subtype="insight", origin=Origin.TOOL)

    for question in ("where is an empty upload refused?", "why is an empty upload refused?"):
        assert Searcher(store, None).find(question, EVERYTHING, limit=5).nodes[0].key == fact.key
    assert max(factor for factors in FACTORS.values() for factor in factors.values()) <= 1.0
