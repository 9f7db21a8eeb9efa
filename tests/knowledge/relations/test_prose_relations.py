"""Relations that documents state: links, mentions, cues (D.03)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.indexing.link_queue import link_queued
from hyperloci.knowledge.relations.prose_relations import find_cue_before, heading_slug
from hyperloci.model.kinds import NodeType
from hyperloci.store import Store
from hyperloci.store.memories.positions import Positions
from tests.knowledge.relations.linked import Linked
from tests.support import FakeClock, add

FILLER = (
    "\n\n" + "Words that make the section long enough to stand alone, so that it is a snippet of its own. " * 2 + "\n\n"
)


@pytest.fixture
def docs(store: Store, settings: Settings, tmp_path: Path, clock: FakeClock) -> Linked:
    return Linked(store, settings, tmp_path / "project", clock)


def targets(docs: Linked, label: str) -> set[tuple[str, str]]:
    """Return source path and target's path with its last heading or symbol."""
    rows = docs.store.connection.execute(
        """
        SELECT ps.path, po.path, coalesce(po.symbol, json_extract(po.section_path, '$[#-1]'), '') FROM hyperedges h
        JOIN membership s ON s.hyperedge_key = h.key AND s.position = 0 JOIN positions ps ON ps.node_key = s.node_key
        JOIN membership o ON o.hyperedge_key = h.key AND o.position = 1 JOIN positions po ON po.node_key = o.node_key
        WHERE h.label = ? AND h.automatic = 1
        """,
        (label,),
    )
    return {(row[0], f"{row[1]}#{row[2]}") for row in rows}


@pytest.mark.req("D.03")
def test_links_lead_to_files_and_to_the_section_of_their_anchor(docs: Linked) -> None:
    docs.index(
        {
            "README.md": "# Readme\n\nSee [the guide](docs/guide.md), [its limits](docs/guide.md#known-limits),"
            " [elsewhere](https://example.com/guide.md) and [nothing](docs/none.md).\n",
            "docs/guide.md": f"# Guide{FILLER}## Known limits{FILLER}Back to the [readme](../README.md).\n",
        }
    )
    assert targets(docs, "links") == {
        ("README.md", "docs/guide.md#Guide"),
        ("README.md", "docs/guide.md#Known limits"),
        ("docs/guide.md", "README.md#Readme"),
    }


@pytest.mark.req("D.03")
def test_an_anchor_is_found_though_its_section_shares_a_snippet(docs: Linked) -> None:
    docs.index({"a.md": f"# A{FILLER}## Tiny\n\nShort.\n\n## Big{FILLER}", "b.md": "# B\n\nSee [it](a.md#tiny).\n"})
    assert targets(docs, "links") == {("b.md", "a.md#Big")}


@pytest.mark.req("D.03")
def test_a_comment_in_code_is_no_heading_where_there_is_one(docs: Linked) -> None:
    start = f"# A\n\nFor that see Upgrade.{FILLER}## Start{FILLER}"
    code = "```sh\n# Upgrade\npip install -U it\n```\n\n"
    docs.index(
        {
            "a.md": f"{start}{code}## Changes{FILLER}## Upgrade\n\nShort.\n",
            "b.md": "# B\n\nSee [it](a.md#upgrade).\n",
        }
    )
    assert targets(docs, "links") == {("b.md", "a.md#Changes"), ("a.md", "a.md#Changes")}


@pytest.mark.req("D.03")
def test_a_comment_in_the_middle_of_long_code_is_no_heading_either(docs: Linked) -> None:
    lines = "".join(f"run --step {number} --with what it takes\n" for number in range(250))
    code = f"```sh\n{lines}# Upgrade\n{lines}```\n\n"
    docs.index(
        {
            "a.md": f"# A{FILLER}## Start{FILLER}{code}## Changes{FILLER}## Upgrade\n\nShort.\n",
            "b.md": "# B\n\nSee [it](a.md#upgrade).\n",
        }
    )
    assert targets(docs, "links") == {("b.md", "a.md#Changes")}


@pytest.mark.req("D.03")
def test_files_and_numbered_documents_are_named_in_the_text(docs: Linked) -> None:
    docs.index(
        {
            "rfcs/RFC-013-hierarchical-memory.md": "# Hierarchical memory\n\nA proposal.\n",
            "src/engine.py": "def run():\n    return 1\n",
            "notes.md": "# Notes\n\nRFC 13 says so, as `src/engine.py` does; RFC-999 and missing.py don't exist.\n",
        }
    )
    assert targets(docs, "links") == {("notes.md", "rfcs/RFC-013-hierarchical-memory.md#Hierarchical memory")}
    assert targets(docs, "documents") == {("notes.md", "src/engine.py#run")}


@pytest.mark.req("D.03")
def test_a_symbol_in_backticks_is_documented_if_it_can_only_be_one(docs: Linked) -> None:
    docs.index(
        {
            "src/engine.py": "class Engine:\n    def start_slowly(self):\n        return 1\n\n\n"
            "def run():\n    return 1\n",
            "src/other.py": "def twice_there():\n    return 1\n",
            "src/more.py": "def twice_there():\n    return 2\n",
            "tests/test_engine.py": "def only_in_tests():\n    return 1\n",
            "docs.md": "# Docs\n\n`Engine` has `Engine.start_slowly`; `run` is a word, `run()` a call,"
            " `twice_there` two, `only_in_tests` none.\n\n```python\n`fenced_name`\n```\n",
        }
    )
    assert targets(docs, "documents") == {
        ("docs.md", "src/engine.py#Engine"),
        ("docs.md", "src/engine.py#Engine.start_slowly"),
        ("docs.md", "src/engine.py#run"),
    }


@pytest.mark.req("W1")
def test_a_name_is_looked_up_once_however_many_files_have_it(docs: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = Positions.symbols_named

    def symbols_named(positions: Positions, scope_key: int, names: Iterable[str]) -> list[tuple[str, str]]:
        asked.extend(names)
        return real(positions, scope_key, names)

    monkeypatch.setattr(Positions, "symbols_named", symbols_named)
    code = {"src/engine.py": "class Engine:\n    pass\n"}
    docs.index(code | {f"{number}.md": f"# Docs\n\nThe `Engine` of number {number}.\n" for number in range(20)})

    assert asked.count("Engine") == 1
    assert len(targets(docs, "documents")) == 20


@pytest.mark.req("D.03")
def test_see_a_heading_leads_there(docs: Linked) -> None:
    docs.index({"a.md": f"# A\n\nFor that see the Fine print section.{FILLER}## Fine print{FILLER}"})
    assert targets(docs, "links") == {("a.md", "a.md#Fine print")}


@pytest.mark.req("D.03")
def test_commits_and_issues_that_documents_name_are_joined(docs: Linked) -> None:
    docs.index({"log.md": "# Log\n\nSince 3f2a9c1 it holds; see #42, and not #7 or deadbeef.\n"})
    scope = docs.store.scopes.find_key("p") or 0
    commits = {}
    for sha, text in (("3f2a9c1" + "0" * 33, "Fix the pool (#42)"), ("aaaa" + "1" * 36, "Other work")):
        node = add(docs.store, text, scope="p", type=NodeType.DECISION, subtype="commit", place=sha)
        with docs.store.transaction():
            docs.store.files.put_commit(scope, sha, node.key)
        commits[sha[:4]] = node.key
    with docs.store.transaction():
        docs.store.relation_queue.queue_kind(scope, "markdown")
    link_queued(docs.store, scope, docs.clock)
    edges = docs.store.edges.list_of_node(commits["3f2a"])
    assert {(edge.label, edge.confidence) for edge in edges} == {("links", 0.9), ("relates_to", 0.6)}
    assert docs.store.edges.list_of_node(commits["aaaa"]) == []


CUES = {
    "This supersedes [the old one](": "supersedes",
    "It depends on [the store](": "depends_on",
    "It requires a running [store](": "depends_on",
    "That contradicts [what we said](": "contradicts",
    "This extends [the base](": "elaborates",
    "It does not depend on [the store](": None,
    "It never replaces [that](": None,
    "It depends on nothing. See [this](": None,
    "However, [that](": None,
    "Unlike [that](": None,
}


@pytest.mark.req("D.03")
@pytest.mark.parametrize("text", CUES)
def test_a_cue_counts_in_its_own_sentence_unless_it_is_denied(text: str) -> None:
    assert find_cue_before(text, len(text) - 2) == CUES[text]


@pytest.mark.req("D.03")
def test_a_cue_gives_a_second_typed_relation_of_its_own_confidence(docs: Linked) -> None:
    docs.index({"old.md": "# Old\n\nWords.\n", "new.md": "# New\n\nThis plan supersedes [the old one](old.md).\n"})
    assert targets(docs, "links") == targets(docs, "supersedes") == {("new.md", "old.md#Old")}
    rows = docs.store.connection.execute("SELECT label, confidence FROM hyperedges ORDER BY label").fetchall()
    assert [tuple(row) for row in rows] == [("links", 0.98), ("supersedes", 0.7)]


def test_a_heading_has_the_anchor_that_github_gives_it() -> None:
    assert heading_slug("What's `new` in *v2*?") == "whats-new-in-v2"


@pytest.mark.req("D.03")
def test_a_document_that_changes_keeps_the_edges_that_still_hold(docs: Linked) -> None:
    docs.index({"a.md": "# A\n\nWords.\n", "b.md": "# B\n\nWords.\n", "c.md": "# C\n\n[a](a.md) and [b](b.md).\n"})
    before = {row[0] for row in docs.store.connection.execute("SELECT id FROM hyperedges")}
    docs.index({"c.md": "# C\n\nOnly [a](a.md) now.\n"})
    after = {row[0] for row in docs.store.connection.execute("SELECT id FROM hyperedges")}
    assert targets(docs, "links") == {("c.md", "a.md#A")}
    assert after < before
