"""One bad thing costs one thing: what fails is set aside, and everything else of the project is there."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.indexing import indexer as indexers
from hyperloci.indexing import write_throttle
from hyperloci.indexing.indexer import Indexer
from hyperloci.indexing.link_queue import link_queued
from hyperloci.indexing.parsing.parser import FileParser, ParserLimits
from hyperloci.knowledge.relations.prose_relations import ProseRules
from hyperloci.model.answers import IndexReport
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from hyperloci.store.projects.set_aside import SetAsideRows
from tests.support import FakeClock
from tests.working_tree import WorkingTree

CHILD = """
import os, signal
from dataclasses import replace
from hyperloci.indexing.parsing.child import main
from hyperloci.indexing.file_reader import chunk_bytes

def parse(path, data):
    if b"LOOP" in data:
        while True: pass
    if b"CRASH" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    chunks = chunk_bytes(path, data)
    # Half a character, as no chunker makes them today: the database refuses it.
    return [
        replace(chunk, chunk=replace(chunk.chunk, text=chunk.chunk.text + "\\ud83d"))
        if "REFUSED" in chunk.chunk.text else chunk
        for chunk in chunks
    ]

main(parse)
"""

WORDS = "It has words enough to be a section that stands alone in an index, and then a few more of them.\n"


class Index:
    """A project's index, made with a parser that some words in a file drive mad."""

    def __init__(self, store: Store, settings: Settings, clock: FakeClock, root: Path, command: list[str]) -> None:
        self.store, self.settings, self.clock = store, settings, clock
        self.project = identify_project(root)
        self.starts = 0
        self._command = command

    @contextlib.contextmanager
    def borrowed(self, limits: ParserLimits) -> Iterator[FileParser]:
        with closing(FileParser(self._command, limits)) as parser:
            yield parser
            self.starts += parser.process_id is not None

    def __call__(self, *paths: str) -> IndexReport:
        self.clock.advance(1_000)
        indexer = Indexer(self.store, self.settings, self.project, self.clock)
        return indexer.update_paths(paths) if paths else indexer.index_tree()

    @property
    def scope(self) -> int:
        found = self.store.scopes.find_key(self.project.id)
        assert found is not None
        return found

    def texts(self) -> str:
        return "\n".join(node.content for node in self.store.nodes.query_nodes(type="snippet", limit=10_000))

    def set_aside(self) -> dict[str, str]:
        return {item.subject: item.reason for item in self.store.set_aside.list_all(self.scope)}


@pytest.fixture
def index(
    store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> Index:
    found = Index(store, replace(settings, parse_seconds=0.5), clock, tree.root, [sys.executable, "-c", CHILD])
    monkeypatch.setattr(indexers, "borrow_parser", found.borrowed)
    return found


def test_a_file_that_crashes_or_outlasts_its_parser_is_set_aside_and_the_others_are_indexed(
    index: Index, tree: WorkingTree
) -> None:
    for name, word in (("a", "alpha"), ("b", "LOOP"), ("c", "CRASH"), ("d", "delta")):
        tree.write(f"{name}.md", f"# {name}\n\n{word} {WORDS}")
    report = index()
    assert index.set_aside() == {
        "b.md": "takes more than 0.5 s to read",
        "c.md": "crashes its parser (SIGSEGV)",
    }
    assert "alpha" in index.texts() and "delta" in index.texts()
    assert {item.path: item.reason for item in report.skipped} == {
        "b.md": "set aside: takes more than 0.5 s to read",
        "c.md": "set aside: crashes its parser (SIGSEGV)",
    }
    assert report.set_aside == 2


def test_what_is_set_aside_costs_its_time_once(index: Index, tree: WorkingTree) -> None:
    tree.write("b.md", f"# B\n\nLOOP {WORDS}")
    index()
    before = index.starts
    report = index()
    assert index.starts == before  # Nobody parsed anything.
    assert [item.reason for item in report.skipped] == ["set aside: takes more than 0.5 s to read"]
    (item,) = index.store.set_aside.list_all()
    assert item.tries == 1


def test_a_file_that_changes_is_tried_again_and_taken_back_when_it_works(index: Index, tree: WorkingTree) -> None:
    tree.write("b.md", f"# B\n\nCRASH {WORDS}")
    index()
    tree.write("b.md", f"# B\n\nCRASH and more {WORDS}")
    index("b.md")
    assert [item.tries for item in index.store.set_aside.list_all()] == [2]
    tree.write("b.md", f"# B\n\nmended {WORDS}")
    report = index("b.md")
    assert index.set_aside() == {} and report.set_aside == 0
    assert "mended" in index.texts()


def test_a_file_that_is_gone_is_set_aside_no_more(index: Index, tree: WorkingTree) -> None:
    tree.write("b.md", f"# B\n\nCRASH {WORDS}")
    index()
    (tree.root / "b.md").unlink()
    index("b.md")
    assert index.set_aside() == {}


def test_a_new_version_of_the_program_tries_a_file_again(index: Index, tree: WorkingTree) -> None:
    tree.write("b.md", f"# B\n\nCRASH {WORDS}")
    index()
    index.store.set_aside = SetAsideRows(index.store.connection, index.store.transaction, program="99")
    index()
    (item,) = index.store.set_aside.list_all()
    assert (item.tries, item.program) == (2, "99")


def test_a_chunk_that_the_database_refuses_costs_itself_alone(index: Index, tree: WorkingTree) -> None:
    parts = [f"## Part {name}\n\n{name} {WORDS * 3}" for name in ("alpha", "REFUSED", "gamma")]
    tree.write("a.md", "# A\n\n" + "\n".join(parts))
    tree.write("b.md", f"# B\n\nbeta {WORDS}")
    report = index()
    texts = index.texts()
    assert all(name in texts for name in ("alpha", "gamma", "beta")) and "REFUSED" not in texts
    ((subject, reason),) = index.set_aside().items()
    assert subject.startswith("a.md#") and reason.startswith("contains invalid text")
    assert report.added == len(index.store.nodes.query_nodes(type="snippet", limit=100))
    again = index()
    assert (again.added, again.changed, again.unchanged_files) == (0, 0, 2)
    tree.write("a.md", "# A\n\n" + "\n".join(parts).replace("REFUSED", "taken"))
    index()
    assert "taken" in index.texts() and index.set_aside() == {}


def test_new_files_share_a_transaction_and_a_refused_chunk_costs_those_beside_it_nothing(
    index: Index, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_throttle, "QUIET_TURN_SECONDS", 60.0)
    monkeypatch.setattr(index.store, "has_waiting_writers", lambda: False)
    begun: list[str] = []
    index.store.connection.set_trace_callback(lambda sql: begun.append(sql) if sql.startswith("BEGIN") else None)
    index()
    alone = len(begun)
    for i in range(8):
        tree.write(f"a{i}.md", f"# A\n\nnumber{i} {WORDS}")
    begun.clear()
    index()
    assert len(begun) <= alone + 1

    for i in range(8):
        tree.write(f"b{i}.md", f"# B\n\nsecond{i} {WORDS}\n\n## Part\n\n{'REFUSED' if i == 3 else 'taken'} {WORDS * 3}")
    report = index()
    texts = index.texts()
    assert all(f"number{i}" in texts and f"second{i}" in texts for i in range(8)) and "REFUSED" not in texts
    assert report.added == len(index.store.nodes.query_nodes(type="snippet", limit=100)) - 8
    assert [subject.partition("#")[0] for subject in index.set_aside()] == ["b3.md"]
    again = index()
    assert (again.added, again.changed, again.unchanged_files) == (0, 0, 16)


def test_a_new_version_of_the_program_tries_a_chunk_again(index: Index, tree: WorkingTree) -> None:
    tree.write("a.md", f"# A\n\nREFUSED {WORDS}")
    index()
    index.store.set_aside = SetAsideRows(index.store.connection, index.store.transaction, program="99")
    index()
    assert [item.program for item in index.store.set_aside.list_all()] == ["99"]


@pytest.mark.parametrize(
    "link",
    ["http://[::1/a", "http://[", "//[", "https://user:pass@[x]/y", "a\0b.md", "%zz", "?", "#", "a" * 5_000, "[[["],
)
def test_a_link_that_nobody_can_read_costs_nothing_else(index: Index, tree: WorkingTree, link: str) -> None:
    tree.write("a.md", f"# A\n\n[bad]({link}) and [good](b.md). {WORDS}".replace("\0", "%00"))
    tree.write("b.md", f"# B\n\nbeta {WORDS}")
    index()
    assert index.set_aside() == {}
    assert edges(index.store) == 1
    assert index.store.relation_queue.list_waiting(index.scope) == {}


def test_a_relation_that_fails_is_set_aside_alone_and_does_not_wait_again(
    index: Index, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, "poison")
    tree.write("a.md", f"# A\n\n[good](b.md), and see `poison`. {WORDS}")
    tree.write("b.md", f"# B\n\n[back](a.md) {WORDS}")
    index()
    ((subject, reason),) = index.set_aside().items()
    assert subject.startswith("a.md#") and reason.startswith("ValueError")
    assert "poison" not in reason
    assert edges(index.store) == 2
    assert index.store.relation_queue.list_waiting(index.scope) == {}
    monkeypatch.undo()
    tree.write("a.md", f"# A\n\n[good](b.md), and see `antidote`. {WORDS}")
    Indexer(index.store, index.settings, index.project, index.clock).index_tree()
    assert index.set_aside() == {}


def test_a_relation_is_tried_again_by_a_new_version_of_the_program(
    index: Index, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, "poison")
    tree.write("a.md", f"# A\n\nSee `poison`. {WORDS}")
    index()
    assert len(index.set_aside()) == 1
    fail_on(monkeypatch, "nothing at all")
    index.store.set_aside = SetAsideRows(index.store.connection, index.store.transaction, program="99")
    link_queued(index.store, index.scope, index.clock)
    assert index.set_aside() == {}


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(index: Index, tree: WorkingTree) -> None:
    from hyperloci.indexing.file_reader import read_file

    os.mkfifo(tree.root / "pipe.md")
    with pytest.raises(OSError, match="not a regular file"):
        read_file(tree.root / "pipe.md")
    report = index()
    assert {item.path: item.reason for item in report.skipped} == {"pipe.md": "not a regular file"}


def test_a_file_that_grew_since_it_was_seen_is_not_read_to_its_end(tree: WorkingTree) -> None:
    from hyperloci.indexing.file_reader import read_file

    path = tree.root / "log.md"
    path.write_bytes(b"x" * 1_001)
    with pytest.raises(OSError, match="grew above 1,000 bytes"):
        read_file(path, 1_000)
    path.write_bytes(b"x" * 1_000)
    assert read_file(path, 1_000).size == 1_000


def edges(store: Store) -> int:
    """Return how many links between documents are stored."""
    return int(store.connection.execute("SELECT count(*) FROM hyperedges WHERE label = 'links'").fetchone()[0])


WHOLE = ProseRules._resolve_symbol


def fail_on(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """Have the rule for names in backticks fail on a name."""

    def symbol(self: ProseRules, name: str, *, called: bool) -> Any:
        if name == word:
            raise ValueError(f"cannot make anything of {word}")
        return WHOLE(self, name, called=called)

    monkeypatch.setattr(ProseRules, "_resolve_symbol", symbol)


def test_a_torn_notebook_is_set_aside_and_the_others_are_indexed(index: Index, tree: WorkingTree) -> None:
    whole = json.dumps({"cells": [{"cell_type": "markdown", "source": f"# Whole\n\n{WORDS}"}], "nbformat": 4})
    tree.write("torn.ipynb", whole[:40])
    tree.write("whole.ipynb", whole)
    report = index()
    assert [(item.path, item.reason.partition(" (")[0]) for item in report.skipped] == [
        ("torn.ipynb", "set aside: is no JSON")
    ]
    assert WORDS.strip() in index.texts()
