"""The index of a project: what files become, what moves and goes with them, and runs that are cut off."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, ConfigurationError, NotFoundError, StoreFullError
from hyperloci.indexing import ignore_files, tree_walk
from hyperloci.indexing.file_reader import FreshFile
from hyperloci.indexing.file_writer import FileWriter
from hyperloci.indexing.forgotten_chunks import SOON_MS
from hyperloci.indexing.indexer import MAX_SKIPPED, Indexer
from hyperloci.knowledge.graph.anchors import anchor_fact, describe_code_changes
from hyperloci.model.answers import IndexReport
from hyperloci.model.kinds import NodeType, Origin, Tier
from hyperloci.model.node import Node
from hyperloci.project.identity import identify_project
from hyperloci.store import Store
from hyperloci.store.projects.files import IndexedFile
from hyperloci.system.regular_file import open_regular_file
from tests.support import FakeClock, add, examples
from tests.working_tree import WorkingTree

MODULE = '''"""Talks to the server."""

import socket


class Client:
    """A client."""

    def connect(self, host):
        return socket.create_connection((host, 80))

    def close(self):
        self.socket.close()


def parse(line):
    """Split a line."""
    return line.split(",")


def render(rows):
    return "\\n".join(",".join(row) for row in rows)
'''

GUIDE = """# Guide

How to use the client, in as many words as it takes to be a section of a size that stands alone in an index.

## Install

Install it with the package manager of your choice, and see that the version is one of those that the guide is about.

## Configure

Set the address of the server in the configuration file, and restart the client, since it reads the file only once.
"""


@pytest.fixture
def index(store: Store, settings: Settings, clock: FakeClock, tree: WorkingTree) -> Index:
    return Index(store, settings, clock, tree.root)


class Index:
    """An indexer, and what it made."""

    def __init__(self, store: Store, settings: Settings, clock: FakeClock, root: Path) -> None:
        self.store, self.settings, self.clock = store, settings, clock
        self.project = identify_project(root)

    def __call__(self, path: str | None = None, **options: Any) -> IndexReport:
        self.clock.advance(1_000)
        indexer = Indexer(self.store, self.settings, self.project, self.clock, **options)
        return indexer.index_tree(None if path is None else Path(path))

    def update(self, *paths: str) -> IndexReport:
        self.clock.advance(1_000)
        return Indexer(self.store, self.settings, self.project, self.clock).update_paths(paths)

    def keep_running(self) -> Indexer:
        """Return an indexer for many runs, as a watcher has one."""
        return Indexer(self.store, self.settings, self.project, self.clock)

    def nodes(self) -> list[Node]:
        return self.store.nodes.query_nodes(type="snippet", limit=10_000)[::-1]

    def ids(self, path: str | None = None) -> dict[str, str]:
        """Node ids by symbol, for text by heading (of a project without name clashes)."""
        positions = self.store.positions.get_positions(node.key for node in self.nodes())
        return {
            positions[node.key].symbol or "/".join(positions[node.key].section_path) or node.title: node.id
            for node in self.nodes()
            if path is None or positions[node.key].path == path
        }

    def contents(self) -> Counter[tuple[str | None, int | None, int | None, str]]:
        positions = self.store.positions.get_positions(node.key for node in self.nodes())
        return Counter(
            (positions[node.key].path, positions[node.key].line_start, positions[node.key].char_start, node.content)
            for node in self.nodes()
        )

    def pending(self) -> int:
        return int(self.store.connection.execute("SELECT count(*) FROM pending").fetchone()[0])

    def clear_pending(self) -> None:
        self.store.connection.execute("DELETE FROM pending")

    def contains(self) -> set[tuple[str, str]]:
        found = set()
        positions = self.store.positions.get_positions(node.key for node in self.nodes())
        for node in self.nodes():
            for edge in self.store.edges.list_of_node(node.key, "contains"):
                holder, *held = [member.node for member in edge.members]
                found |= {(positions[holder].symbol, positions[key].symbol) for key in held if key in positions}
        return {(str(a), str(b)) for a, b in found}


# -- the first run ---------------------------------------------------------------------------------------------------


@pytest.mark.req("D.01", "D.05", "D.06", "E.02")
def test_a_file_becomes_snippets_with_their_places(index: Index, tree: WorkingTree) -> None:
    tree.write("src/net/client.py", MODULE)

    report = index()

    assert (report.files, report.added, report.unchanged_files) == (1, report.chunks, 0)
    ids = index.ids()
    node = index.store.nodes.get_node(ids["Client.connect"])
    assert node is not None
    assert (node.type, node.subtype, node.tier, node.origin) == (NodeType.SNIPPET, "code", Tier.LONGTERM, Origin.CODE)
    assert (node.confidence, node.decay_rate, node.scope) == (1.0, 0.0, index.project.id)
    assert "create_connection" in node.content and "Client" in node.title
    position = index.store.positions.get_positions([node.key])[node.key]
    assert (position.path, position.class_name, position.function_name) == ("src/net/client.py", "Client", "connect")
    assert MODULE[position.char_start : position.char_end] == node.content
    facts = index.store.positions.get_code_facts([node.key])[node.key]
    assert facts.kind == "method" and "socket.create_connection" in facts.calls


@pytest.mark.req("D.05", "E.02")
def test_documentation_becomes_snippets_of_its_sections(index: Index, tree: WorkingTree) -> None:
    tree.write("docs/guide.md", GUIDE)

    index()

    node = index.store.nodes.get_node(index.ids()["Guide/Install"])
    assert node is not None and (node.subtype, node.origin) == ("markdown", Origin.MARKDOWN)
    assert node.title == "Guide > Install" and node.metadata["section_type"] == "installation"


@pytest.mark.req("B.03")
def test_every_new_snippet_waits_for_its_fingerprint(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)

    report = index()

    assert report.added > 0 and index.pending() == report.added + index.store.entities.count()


def test_what_is_skipped_is_told_with_the_reason(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    tree.write("picture.png", b"\x89PNG\0\0")
    tree.write("node_modules/x/index.js", "var a = 1\n")

    skipped = {entry.path: entry.reason for entry in index().skipped}

    assert set(skipped) == {"picture.png", "node_modules/"} and all(skipped.values())


def test_a_report_names_only_so_many_skipped_files(index: Index, tree: WorkingTree) -> None:
    for i in range(MAX_SKIPPED + 3):
        tree.write(f"pictures/{i}.png", b"\x89PNG\0\0")

    skipped = index().skipped

    assert len(skipped) == MAX_SKIPPED + 1 and skipped[-1].reason == "and 3 more"


@pytest.mark.req("E.02")
def test_a_disk_that_fills_up_amid_an_index_keeps_what_is_done_and_does_not_say_that_nothing_was_written(
    index: Index, tree: WorkingTree
) -> None:
    for number in range(200):
        tree.write(f"notes/{number:03}.md", f"# Note {number}\n\n" + "some words that fill the disk " * 500)
    pages = index.store.connection.execute("PRAGMA page_count").fetchone()[0]
    index.store.connection.execute(f"PRAGMA max_page_count = {pages + 1_000}")
    with pytest.raises(StoreFullError) as failed:
        index()
    assert 0 < len({place[0] for place in index.contents()}) < 200
    assert "Nothing was written" not in str(failed.value) and "this write was not done" in str(failed.value)
    index.store.connection.execute("PRAGMA max_page_count = 1000000000")
    assert index().unchanged_files > 0
    assert len({place[0] for place in index.contents()}) == 200


def test_progress_is_told_file_by_file(index: Index, tree: WorkingTree) -> None:
    for name in ("a.py", "b.py", "c.py"):
        tree.write(name, MODULE)
    told: list[tuple[int, int, str]] = []

    Indexer(index.store, index.settings, index.project, index.clock).index_tree(
        progress=lambda *step: told.append(step)
    )

    assert told[:3] == [(1, 3, "a.py"), (2, 3, "b.py"), (3, 3, "c.py")]
    assert [step[:2] for step in told[3:]] == [(3, 3)] * 2, "what comes after the files is told as well"


@pytest.mark.req("SPEC-02.34")
def test_a_secret_is_nowhere_in_the_database_and_lines_stay_those_of_the_file(
    index: Index, tree: WorkingTree, settings: Settings
) -> None:
    body = ["MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn" * 2] * 5
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"])
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    head = "# The key that the tests of the connection use; nothing else may ever be signed with it.\n" * 3
    text = f'{head}KEY = """{key}"""\n\n\ndef call(token="{token}"):\n    """Uses {token}."""\n    return send(token)\n'
    tree.write("a.py", text)

    index()

    index.store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = settings.database.read_bytes()
    assert token.encode() not in raw and b"MIIEpAIBAAKCAQEA" not in raw
    node = index.store.nodes.get_node(index.ids()["call"])
    assert node is not None and "[redacted:" in node.content
    position = index.store.positions.get_positions([node.key])[node.key]
    lines = text.split("\n")
    assert position.line_start is not None and position.line_end is not None
    assert lines[position.line_start - 1].startswith("def call") and "return send" in lines[position.line_end - 1]
    assert text[position.char_start :].startswith("def call")


@pytest.mark.req("W7")
def test_no_byte_of_a_secret_in_a_file_or_branch_name_is_stored(
    index: Index, tree: WorkingTree, settings: Settings, tmp_path: Path
) -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    tree.git("init", "-q")
    tree.git("checkout", "-q", "-b", f"use-{token}")
    for name in (f"{token}.py", f"dump_password={token[8:24]}.md", f"{token}/inner.py", f"docs/glpat-{token[4:24]}.md"):
        tree.write(name, "def call():\n    return 1\n")
    tree.write("plain.py", "def plain():\n    return 2\n")
    tree.git("add", "-A")
    tree.git("commit", "-q", "-m", "Add call")

    report = index()

    named = [each for each in report.skipped if "name contains a secret" in each.reason]
    assert len(named) == 4
    assert all("[redacted:" in each.path for each in named)
    assert set(index.ids()) >= {"plain"}
    index.store.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    found = [
        file.name
        for file in tmp_path.rglob("*")
        if file.is_file() and tree.root not in file.parents and token[8:24].encode() in file.read_bytes()
    ]
    assert not found


# -- the second run --------------------------------------------------------------------------------------------------


@pytest.mark.req("E.03")
def test_a_second_run_writes_nothing(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    tree.write("guide.md", GUIDE)
    index()
    before = index.store.connection.total_changes

    report = index()

    assert index.store.connection.total_changes == before
    assert (report.unchanged_files, report.files) == (2, 2)
    assert report.added == report.changed == report.moved == report.removed == 0


@pytest.mark.req("D.05", "E.03")
def test_editing_one_function_touches_one_snippet(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    index()
    ids, nodes = index.ids(), {node.id: node for node in index.nodes()}
    index.clear_pending()

    tree.write("a.py", MODULE.replace('line.split(",")', 'line.split(";")'))
    report = index()

    assert (report.changed, report.added, report.removed) == (1, 0, 0)
    assert index.ids() == ids and index.pending() == 1
    changed = [node for node in index.nodes() if node != nodes[node.id]]
    assert [node.id for node in changed] == [ids["parse"]] and 'split(";")' in changed[0].content


@pytest.mark.req("D.01")
def test_what_stands_below_an_edit_moves_with_it(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    first = index()
    ids = index.ids()

    text = MODULE.replace("import socket\n", "import os\nimport socket\n")
    tree.write("a.py", text)
    report = index()

    assert (report.changed, report.moved) == (1, first.chunks - 1) and index.ids() == ids
    for node in index.nodes():
        position = index.store.positions.get_positions([node.key])[node.key]
        assert text[position.char_start : position.char_end] == node.content
        assert position.line_start == text.count("\n", 0, position.char_start) + 1


def test_a_file_that_was_only_touched_is_not_written_anew(index: Index, tree: WorkingTree) -> None:
    path = tree.write("a.py", MODULE)
    index()
    os.utime(path, ns=(1, 1))

    report = index()

    assert report.unchanged_files == 1 and report.moved == report.changed == 0
    before = index.store.connection.total_changes
    index()
    assert index.store.connection.total_changes == before


def test_an_edit_in_the_same_tick_and_of_the_same_size_is_seen(
    store: Store, settings: Settings, tree: WorkingTree
) -> None:
    path = tree.root / "a.py"
    path.write_text("x = 1\n")
    time = path.stat().st_mtime_ns
    indexer = Indexer(store, settings, identify_project(tree.root), lambda: time // 1_000_000)
    indexer.index_tree()
    path.write_text("x = 2\n")
    os.utime(path, ns=(time, time))

    indexer.index_tree()

    assert [node.content for node in store.nodes.query_nodes(type="snippet")] == ["x = 2\n"]


def test_an_edit_of_white_space_alone_changes_no_other_node(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    index()
    ids = index.ids()

    tree.write("a.py", MODULE + "\n\n\n")
    report = index()

    assert report.added == report.removed == 0 and index.ids() == ids


def test_a_section_that_was_edited_keeps_its_node(index: Index, tree: WorkingTree) -> None:
    tree.write("guide.md", GUIDE)
    index()
    ids = index.ids()

    tree.write("guide.md", GUIDE.replace("restart the client", "restart it"))
    report = index()

    assert (report.changed, report.added, report.removed) == (1, 0, 0) and index.ids() == ids


def test_a_renamed_heading_renames_what_is_under_it(index: Index, tree: WorkingTree) -> None:
    tree.write("guide.md", GUIDE)
    index()

    tree.write("guide.md", GUIDE.replace("# Guide\n", "# Handbook\n", 1))
    index()

    assert "Handbook/Install" in index.ids()
    node = index.store.nodes.get_node(index.ids()["Handbook/Install"])
    assert node is not None and node.title == "Handbook > Install"


def test_a_file_that_becomes_empty_loses_its_snippets(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    added = index().added

    tree.write("a.py", "")

    assert index().removed == added and not index.nodes()
    assert index().unchanged_files == 1


# -- what moves ------------------------------------------------------------------------------------------------------


@pytest.mark.req("D.01", "D.05")
def test_a_renamed_file_keeps_its_nodes(index: Index, tree: WorkingTree) -> None:
    tree.write("old.py", MODULE)
    first = index()
    ids = index.ids()

    tree.rename("old.py", "pkg/new.py")
    report = index()

    assert index.ids("pkg/new.py") == ids and report.moved == first.chunks
    assert report.added == report.removed == 0
    assert list(index.store.files.list_files(index.store.scopes.find_key(index.project.id) or 0)) == ["pkg/new.py"]
    assert all(node.title.startswith("pkg.new") for node in index.nodes())


@pytest.mark.req("D.01", "D.05")
def test_a_renamed_file_keeps_its_nodes_though_only_of_its_new_name_was_told(index: Index, tree: WorkingTree) -> None:
    tree.write("old.py", MODULE)
    index()
    ids, contains = index.ids(), index.contains()
    tree.rename("old.py", "pkg/new.py")

    report = index.update("pkg/new.py")
    assert (index.ids("pkg/new.py"), report.added, report.removed) == (ids, 0, 0)
    report = index.update("old.py")

    assert (index.ids(), report.removed) == (ids, 0)
    assert index.contains() == contains
    assert all(node.title.startswith("pkg.new") for node in index.nodes())


def copy_file(tree: WorkingTree, path: str, copy: str, *, with_time: bool = False) -> None:
    (shutil.copy2 if with_time else shutil.copy)(tree.root / path, tree.root / copy)


@pytest.mark.req("D.01", "D.05")
@pytest.mark.parametrize("with_time", [False, True])
def test_a_copy_is_no_new_name_of_a_file_that_is_there_though_that_goes_later(
    index: Index, tree: WorkingTree, *, with_time: bool
) -> None:
    tree.write("a.py", MODULE)
    index()
    ids = index.ids()
    copy_file(tree, "a.py", "b.py", with_time=with_time)

    index.update("b.py")
    assert index.ids("a.py") == ids and set(index.ids("b.py").values()).isdisjoint(ids.values())
    copies = index.ids("b.py")
    tree.remove("a.py")
    index.update("a.py")

    assert index.ids() == copies


@pytest.mark.req("D.01", "D.05")
def test_a_file_that_is_written_anew_while_another_is_gone_for_a_moment_is_no_new_name_of_it(
    index: Index, tree: WorkingTree
) -> None:
    """As where a program removes a file before it writes it again, or a branch is checked out."""
    tree.write("a.py", MODULE)
    index()
    ids = index.ids()
    copy_file(tree, "a.py", "b.py")
    tree.rename("a.py", "a.bak")

    index.update("b.py")
    tree.rename("a.bak", "a.py")
    index.update("a.py")

    assert index.ids("a.py") == ids and set(index.ids("b.py").values()).isdisjoint(ids.values())


@pytest.mark.req("D.01", "D.05")
@pytest.mark.parametrize("namesake", ["known", "new"])
def test_of_several_files_with_one_content_none_is_taken_for_a_new_name(
    index: Index, tree: WorkingTree, namesake: str
) -> None:
    tree.write("a.py", MODULE)
    if namesake == "known":
        copy_file(tree, "a.py", "c.py", with_time=True)
    index()
    ids = index.ids("a.py")
    if namesake == "new":
        copy_file(tree, "a.py", "c.py", with_time=True)
    tree.rename("a.py", "b.py")

    index.update("b.py", "c.py")

    assert index.ids("a.py") == ids
    assert set(index.ids("b.py").values()).isdisjoint(ids.values())


@pytest.mark.req("D.01", "D.05")
def test_of_a_file_that_two_new_ones_were_moved_and_copied_from_only_one_has_its_nodes(
    index: Index, tree: WorkingTree
) -> None:
    tree.write("a.py", MODULE)
    index()
    ids = index.ids()
    tree.rename("a.py", "b.py")
    copy_file(tree, "b.py", "c.py", with_time=True)

    index.update("a.py", "b.py", "c.py")

    assert [index.ids(path) == ids for path in ("b.py", "c.py")].count(True) == 1


@pytest.mark.req("D.01", "D.05")
def test_a_file_whose_old_place_another_process_indexes_anew_meanwhile_stays_where_it_is(
    index: Index, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("a.py", MODULE)
    index()
    begin = FileWriter._find_file_row

    def write_anew_meanwhile(writer: FileWriter, file: FreshFile, renamed_from: IndexedFile | None) -> Any:
        monkeypatch.setattr(FileWriter, "_find_file_row", begin)
        tree.write("a.py", "def other():\n    return 1\n")
        stat = (tree.root / "a.py").stat()
        scope = index.store.scopes.find_key(index.project.id) or 0
        index.store.files.put_file(
            scope, "a.py", size=stat.st_size, mtime_ns=stat.st_mtime_ns, content_hash=b"anew", now=1
        )
        return begin(writer, file, renamed_from)

    tree.rename("a.py", "b.py")
    monkeypatch.setattr(FileWriter, "_find_file_row", write_anew_meanwhile)
    index.update("b.py")

    assert set(index.store.files.list_files(index.store.scopes.find_key(index.project.id) or 0)) == {"a.py", "b.py"}


@pytest.mark.req("D.01", "D.05")
def test_a_file_of_another_working_tree_is_not_gone_for_being_absent_in_this_one(
    index: Index, tree: WorkingTree, store: Store, clock: FakeClock
) -> None:
    tree.write("a.py", MODULE)
    index()
    ids = index.ids()
    with store.transaction():
        store.files.set_indexed_root(index.project.id, "/another/tree")
    tree.rename("a.py", "b.py")

    index.update("b.py")

    assert index.ids("a.py") == ids


def test_a_file_renamed_and_edited_keeps_the_nodes_of_what_stayed(index: Index, tree: WorkingTree) -> None:
    tree.write("old.py", MODULE)
    index()
    ids = index.ids()

    tree.remove("old.py")
    tree.write("new.py", MODULE.replace("return line.split", "return line.strip().split"))
    report = index()

    assert index.ids("new.py") == ids and (report.changed, report.removed) == (1, 0)


def test_two_equal_files_renamed_at_once_keep_both_sets_of_nodes(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    tree.write("b.py", MODULE)
    index()
    before = {node.id for node in index.nodes()}

    tree.rename("a.py", "c.py")
    tree.rename("b.py", "d.py")
    report = index()

    assert {node.id for node in index.nodes()} == before and report.added == report.removed == 0


@pytest.mark.req("D.01", "D.05")
@pytest.mark.parametrize(("source", "target"), [("a.py", "b.py"), ("b.py", "a.py"), ("a.py", "new.py")])
def test_a_function_moved_to_another_file_keeps_its_node(
    index: Index, tree: WorkingTree, source: str, target: str
) -> None:
    rest = "def other(value):\n    return value + 1\n"
    tree.write(source, MODULE)
    if target != "new.py":
        tree.write(target, rest)
    index()
    ids = index.ids(source)
    start, end = MODULE.index("def parse"), MODULE.index("def render")

    tree.write(source, MODULE[:start] + MODULE[end:])
    tree.write(target, rest + "\n\n" + MODULE[start:end].rstrip() + "\n")
    report = index()

    assert index.ids(target)["parse"] == ids["parse"] and "parse" not in index.ids(source)
    assert report.removed == 0


def test_a_function_moved_and_edited_keeps_its_node_if_most_of_it_stayed(index: Index, tree: WorkingTree) -> None:
    body = "".join(f"    total += weight_{i} * value_{i}\n" for i in range(12))
    tree.write("a.py", f"x = 1\n\n\ndef score(total):\n{body}    return total\n")
    tree.write("b.py", "y = 2\n")
    index()
    node_id = index.ids("a.py")["score"]

    tree.write("a.py", "x = 1\n")
    tree.write("b.py", f"y = 2\n\n\ndef score(total):\n{body}    return total / 2\n")
    index()

    assert index.ids("b.py")["score"] == node_id


def test_another_function_of_the_same_name_elsewhere_is_another_node(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", "def main():\n    return serve(port=80, host='here', workers=4)\n")
    index()
    node_id = index.ids("a.py")["main"]

    tree.remove("a.py")
    tree.write("b.py", "def main():\n    print(sum(range(10)), 'nothing alike at all')\n")
    report = index()

    assert index.ids("b.py")["main"] != node_id and (report.added, report.removed) == (1, 1)


@pytest.mark.req("D.01")
def test_a_file_that_was_told_to_have_changed_is_read_though_its_size_and_time_are_as_before(
    index: Index, tree: WorkingTree
) -> None:
    """As where a build gives all that it writes one time."""
    path = tree.write("version.py", "VERSION = 1\n")
    stat = path.stat()
    index()
    path.write_text("VERSION = 2\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert index.update("version.py").changed == 1
    assert [node.content for node in index.nodes()] == ["VERSION = 2\n"]


@pytest.mark.req("D.05")
def test_a_path_that_can_not_be_looked_at_stops_nothing(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", "a = 1\n")
    long = "x" * 300

    report = index.update("a.py", f"{long}/b.py", f"{long}.py")

    assert report.added == 1
    assert all(skipped.reason.startswith("cannot be read") for skipped in report.skipped)


# -- what is built anew ----------------------------------------------------------------------------------------------

GENERATED = {
    f"{name}.py": f"def main(value):\n    return value + {number}\n\n\ndef name_{name}():\n    return {name!r}\n"
    for number, name in enumerate(("one", "two", "three"))
}


def generate(tree: WorkingTree, folder: str, *, changed: bool = True) -> None:
    """Write a folder of files with like names in them; `changed`: as another version of the generator does."""
    for name, text in GENERATED.items():
        tree.write(f"{folder}/{name}", text.replace("value +", "value -") if changed else text)


def told(folder: str) -> list[str]:
    return [f"{folder}/{name}" for name in GENERATED]


def nodes_of(index: Index, folder: str) -> dict[tuple[str, str], str]:
    """Node ids by file and symbol."""
    return {(name, symbol): id for name in GENERATED for symbol, id in index.ids(f"{folder}/{name}").items()}


STEPS = {
    "moved aside and removed later": ["mv gen old", "make gen", "rm old"],
    "moved aside and removed before": ["mv gen old", "rm old", "make gen"],
    "deleted and made anew": ["rm gen", "make gen"],
    "made beside and swapped": ["make new", "mv gen old", "mv new gen", "rm old"],
    "made beside and put in its place": ["make new", "rm gen", "mv new gen"],
}


def do_step(tree: WorkingTree, step: str, *, changed: bool) -> list[str]:
    """Do what a line of a build does; return the files that a watcher is told of."""
    command, *folders = step.split()
    for folder in folders if command == "make" else ():
        generate(tree, folder, changed=changed)
    if command == "mv":
        tree.rename(*folders)
    if command == "rm":
        shutil.rmtree(tree.root / folders[0])
    return [path for folder in folders for path in told(folder)]


@pytest.mark.req("D.01", "D.05", "E.16")
@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize("steps", STEPS.values(), ids=[*STEPS])
def test_a_folder_that_is_built_anew_keeps_its_nodes_wherever_a_watcher_looks(
    index: Index, tree: WorkingTree, steps: list[str], *, changed: bool
) -> None:
    generate(tree, "gen", changed=False)
    tree.write("main.md", "# Built\n\nBy hand.\n")
    index()
    ids, before = nodes_of(index, "gen"), len(index.nodes())
    assert len(ids) == 2 * len(GENERATED)
    indexer = index.keep_running()
    index.clock.advance(2 * SOON_MS)

    for step in steps:
        indexer.update_paths(do_step(tree, step, changed=changed))
        index.clock.advance(1_000)

    assert nodes_of(index, "gen") == ids
    assert len(index.nodes()) == before
    texts = {node.content for node in index.nodes()}
    assert any("value -" in text for text in texts) == changed


@pytest.mark.req("D.01", "D.05", "E.16")
def test_a_file_that_is_made_anew_is_what_was_there_last_though_it_looks_like_what_was_before(
    index: Index, tree: WorkingTree
) -> None:
    generate(tree, "gen", changed=False)
    tree.write("main.md", "# Built\n\nBy hand.\n")
    index()
    ids = nodes_of(index, "gen")
    indexer = index.keep_running()
    index.clock.advance(2 * SOON_MS)
    for step in STEPS["moved aside and removed later"]:
        indexer.update_paths(do_step(tree, step, changed=True))
    indexer.update_paths(do_step(tree, "make gen", changed=False))
    for step in STEPS["deleted and made anew"]:
        indexer.update_paths(do_step(tree, step, changed=True))

    assert nodes_of(index, "gen") == ids


@pytest.mark.req("D.01", "D.05")
def test_a_file_that_is_renamed_for_good_keeps_its_nodes_though_another_takes_its_place(
    index: Index, tree: WorkingTree
) -> None:
    tree.write("a.py", MODULE)
    index()
    ids = index.ids("a.py")
    indexer = index.keep_running()
    tree.rename("a.py", "b.py")
    indexer.update_paths(["a.py", "b.py"])
    tree.write("a.py", "from b import parse\n\n\ndef render(rows):\n    return parse(str(rows))\n")
    indexer.update_paths(["a.py"])

    assert index.ids("b.py") == ids
    index.clock.advance(24 * 3_600_000)
    tree.remove("b.py")
    indexer.update_paths(["b.py"])

    assert "render" in index.ids("a.py") and ids["render"] not in index.ids("a.py").values()


@pytest.mark.req("D.01", "D.05")
def test_a_file_known_for_long_that_takes_the_place_of_another_keeps_its_nodes(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    tree.write("c.py", MODULE.replace("line.split", "line.strip().split"))
    index()
    ids = index.ids("c.py")
    index.clock.advance(24 * 3_600_000)
    tree.remove("a.py")
    index.update("a.py")
    tree.rename("c.py", "a.py")

    index.update("a.py", "c.py")

    assert index.ids("a.py") == ids


@pytest.mark.req("E.16")
def test_a_snippet_that_somebody_forgot_stays_forgotten_though_its_file_is_made_anew(
    index: Index, tree: WorkingTree
) -> None:
    tree.write("a.py", MODULE)
    index()
    ids = index.ids("a.py")
    with index.store.transaction():
        index.store.nodes.delete_node(ids["parse"], now=index.clock(), reason="on request")
    tree.remove("a.py")
    index.update("a.py")
    tree.write("a.py", MODULE.replace("close()", "shutdown()"))

    index.update("a.py")

    assert index.ids("a.py") == {symbol: id for symbol, id in ids.items() if symbol != "parse"}


# -- what goes, and comes back ---------------------------------------------------------------------------------------


@pytest.mark.req("E.16")
def test_a_deleted_file_is_forgotten_and_comes_back_with_its_ids(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    added = index().added
    ids = index.ids()

    tree.remove("a.py")
    assert index().removed == added and not index.nodes()
    logged = index.store.connection.execute("SELECT reasoning FROM evolution_log WHERE operation = 'forget'")
    assert {row[0] for row in logged} == {"file deleted"}

    tree.write("a.py", MODULE)
    assert index().added == added and index.ids() == ids


def test_a_branch_switch_and_back_leaves_every_node_as_it_was(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    index()
    ids = index.ids()

    tree.write("a.py", MODULE[: MODULE.index("def parse")])
    index()
    tree.write("a.py", MODULE)
    index()

    assert index.ids() == ids


def test_a_file_that_becomes_ignored_is_forgotten(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    tree.write("private/b.py", "def secret():\n    return 1\n")
    index()

    tree.write(".gitignore", "private/\n")
    report = index()

    assert "secret" not in index.ids() and report.removed == 1


def test_a_snippet_that_somebody_forgot_stays_forgotten_until_its_text_changes(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    index()
    node_id = index.ids()["parse"]
    with index.store.transaction():
        index.store.nodes.delete_node(node_id, now=index.clock(), reason="not useful")

    tree.write("a.py", MODULE + "\n\nX = 1\n")
    index()
    assert "parse" not in index.ids()

    tree.write("a.py", MODULE.replace("Split a line.", "Split one line."))
    index()
    assert "parse" in index.ids()


def test_a_snippet_that_somebody_forgot_stays_forgotten_though_its_file_is_cut_otherwise(
    index: Index, tree: WorkingTree
) -> None:
    long = MODULE.replace("Split a line.", "Split a line.\n\n    " + "It splits a line into its parts. " * 8)
    tree.write("a.py", long)
    index()
    whole = index.store.nodes.get_node(index.ids()["parse"])
    assert whole is not None
    with index.store.transaction():
        # As a version stored it that made one snippet of the function and of what stands above it.
        index.store.nodes.update_node(
            whole.id, now=index.clock(), content=long[: long.index(whole.content)] + whole.content
        )
        index.store.nodes.delete_node(whole.id, now=index.clock(), reason="not useful")
        index.store.connection.execute("UPDATE files SET content_hash = x'', mtime_ns = -1")
    index()

    assert "parse" not in index.ids()


@pytest.mark.parametrize("edit", ["", "how"])
def test_a_fact_on_a_symbol_is_told_of_edits_and_not_of_a_newer_cut(index: Index, tree: WorkingTree, edit: str) -> None:
    text = (
        "interface Store {\n    default void open() {\n        readToken(1);\n    }\n\n    void readToken(int id);\n}\n"
    )
    tree.write("A.java", text)
    index()
    store, ids, now = index.store, index.ids(), index.clock()
    with store.transaction():
        # As a version stored it that knew of no method without a body.
        store.nodes.update_node(ids["Store.open"], now=now, content=text.partition("\n")[2])
        store.nodes.delete_node(ids["Store.readToken"], now=now, reason="file changed")
        fact = add(store, "`Store.open` comes first")
        anchor_fact(store, fact, store.scopes.ensure_scope(index.project.id, now=now))
        store.connection.execute("UPDATE files SET content_hash = x'', mtime_ns = -1")
    assert len(store.positions.list_anchors([fact.key])) == 1
    tree.write("A.java", text.replace("readToken(1)", f"readToken{edit}(1)"))
    index()

    assert "Store.readToken" in index.ids()
    assert bool(describe_code_changes(store, [fact.key])) == bool(edit)


def test_a_missing_project_folder_forgets_nothing(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    added = index().added
    tree.root.rename(tree.root.with_name("elsewhere"))

    with pytest.raises(NotFoundError, match="nothing was forgotten"):
        index()

    assert len(index.nodes()) == added


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user for whom permissions count")
def test_a_folder_that_may_not_be_read_is_not_forgotten(index: Index, tree: WorkingTree) -> None:
    tree.write("locked/a.py", MODULE)
    added = index().added
    (tree.root / "locked").chmod(0)
    try:
        report = index()
    finally:
        (tree.root / "locked").chmod(0o700)

    assert len(index.nodes()) == added and report.removed == 0


# -- parts of a project ----------------------------------------------------------------------------------------------


def test_only_the_folder_asked_for_is_looked_at(index: Index, tree: WorkingTree) -> None:
    tree.write("a/one.py", "def one():\n    return 1\n")
    tree.write("b/two.py", "def two():\n    return 2\n")

    assert index("a").files == 1 and set(index.ids()) == {"one"}

    tree.remove("a/one.py")
    tree.remove("b/two.py")
    assert index("a").removed == 1


def test_one_file_is_indexed_alone(index: Index, tree: WorkingTree) -> None:
    tree.write("a/one.py", "def one():\n    return 1\n")
    tree.write("a/two.py", "def two():\n    return 2\n")

    assert index(str(tree.root / "a" / "two.py")).files == 1 and set(index.ids()) == {"two"}


def test_a_path_outside_names_the_project(index: Index, tree: WorkingTree, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("x = 1\n")
    for path in ("../outside.py", str(tmp_path)):
        with pytest.raises(BadRequestError) as raised:
            index(path)
        assert str(tree.root) in str(raised.value)
    with pytest.raises(NotFoundError):
        index("nowhere.py")


def test_a_project_that_is_too_broad_is_not_indexed(store: Store, settings: Settings, tree: WorkingTree) -> None:
    project = identify_project(tree.root, home=tree.root)

    with pytest.raises(BadRequestError, match="too broad"):
        Indexer(store, settings, project).index_tree()


def test_a_watcher_reports_files_folders_and_what_is_gone(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", "def one():\n    return 1\n")
    tree.write("pkg/b.py", "def two():\n    return 2\n")
    tree.write("pkg/c.py", "def three():\n    return 3\n")

    index.update("a.py", str(tree.root / "pkg"))
    assert set(index.ids()) == {"one", "two", "three"}

    tree.remove("pkg/b.py")
    tree.write("a.py", "def one():\n    return 10\n")
    report = index.update("pkg/b.py", "a.py", "never/there.py")
    assert (report.changed, report.removed) == (1, 1)

    tree.rename("pkg", "lib")
    report = index.update("pkg", "lib")
    assert report.moved == 1 and set(index.ids("lib/c.py")) == {"three"}


def test_a_changed_ignore_file_is_heeded_everywhere(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", "def one():\n    return 1\n")
    tree.write("out/b.py", "def two():\n    return 2\n")
    index()

    tree.write(".gitignore", "out\n")
    index.update(".gitignore")

    assert set(index.ids()) == {"one"}


def test_a_batch_of_many_files_reads_the_rules_of_each_folder_once(
    index: Index, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"src/{folder}/{number}.md" for folder in "abc" for number in range(20)]
    for path in paths:
        tree.write(path, f"# {path}\n")
    read: list[str] = []
    read_rules = ignore_files.read_folder_rules

    def count(folder: Path, base: str) -> ignore_files.Chain:
        read.append(base)
        return read_rules(folder, base)

    monkeypatch.setattr(tree_walk, "read_folder_rules", count)
    assert index.update(*paths).files == 60
    assert sorted(read) == ["", "src/", "src/a/", "src/b/", "src/c/"]


def test_a_file_that_goes_away_while_another_of_its_batch_is_judged_is_forgotten(
    index: Index, tree: WorkingTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("a.md", "b.md"):
        tree.write(path, f"# {path}\n")
    index()

    def open_and_remove_another(path: Path) -> Any:
        (tree.root / "b.md").unlink(missing_ok=True)
        return open_regular_file(path)

    monkeypatch.setattr(tree_walk, "open_regular_file", open_and_remove_another)
    assert index.update("a.md", "b.md").removed == 1


def test_only_what_is_under_a_path_that_was_told_is_forgotten(index: Index, tree: WorkingTree) -> None:
    paths = ("a/one.md", "ab/two.md", "a.md", "a/b/three.md")
    for path in paths:
        tree.write(path, f"# {path}\n")
    index()
    for path in paths:
        tree.remove(path)

    assert index.update("a/b").removed == 1
    assert index.update("a").removed == 1
    assert index.update("a.md", "b").removed == 1
    assert set(index.ids()) == {"ab/two.md"}


# -- what holds what -------------------------------------------------------------------------------------------------


def test_a_class_holds_its_methods(index: Index, tree: WorkingTree) -> None:
    tree.write("a.py", MODULE)
    index()
    assert index.contains() == {("Client", "Client.connect"), ("Client", "Client.close")}

    tree.write("a.py", MODULE.replace("\n\ndef parse", "\n    def send(self):\n        return 1\n\n\ndef parse"))
    index()
    assert index.contains() == {("Client", f"Client.{name}") for name in ("connect", "close", "send")}


# -- interruption and company ----------------------------------------------------------------------------------------


def test_a_run_cut_off_at_any_file_is_finished_by_the_next(
    settings: Settings, clock: FakeClock, tree: WorkingTree, tmp_path: Path
) -> None:
    start, end = MODULE.index("def parse"), MODULE.index("def render")
    for cut in range(12):
        root = WorkingTree(tmp_path / f"project{cut}")
        for name in ("a", "b", "c", "d"):
            root.write(f"{name}.py", MODULE.replace("parse", f"parse_{name}"))
        with Store.open(tmp_path / f"{cut}.db") as store:
            index = Index(store, settings, clock, root.root)
            index()
            ids = index.ids("a.py")["parse_a"]
            moved = (MODULE[start:end]).replace("parse", "parse_a")
            root.write("a.py", MODULE[:start] + MODULE[end:])
            root.write("d.py", MODULE.replace("parse", "parse_d") + "\n\n" + moved)
            root.remove("b.py")
            root.write("e.py", "def fresh():\n    return 1\n")
            answers = iter([False] * cut)

            index(cancelled=lambda answers=answers: next(answers, True))
            index()

            assert index.ids("d.py")["parse_a"] == ids
            assert index.contents() == fresh_contents(tmp_path / f"{cut}-fresh.db", settings, clock, root.root)


def fresh_contents(path: Path, settings: Settings, clock: FakeClock, root: Path) -> Counter[Any]:
    with Store.open(path) as store:
        index = Index(store, settings, clock, root)
        index()
        return index.contents()


def index_in_process(settings: Settings, root: Path) -> None:
    with Store.open(settings.database) as store:
        Indexer(store, settings, identify_project(root)).index_tree()


def test_two_processes_that_index_at_once_make_what_one_makes(
    settings: Settings, clock: FakeClock, tree: WorkingTree, tmp_path: Path
) -> None:
    for i in range(12):
        tree.write(f"m{i}.py", MODULE.replace("parse", f"parse_{i}") * 3)
    context = multiprocessing.get_context("spawn")
    for edit in ("", "Split a line."):
        for i in range(12):
            tree.write(f"m{i}.py", (MODULE.replace("parse", f"parse_{i}") * 3).replace(edit or "\0", "Cut."))
        processes = [context.Process(target=index_in_process, args=(settings, tree.root)) for _ in range(3)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(60)
        assert [process.exitcode for process in processes] == [0, 0, 0]

    with Store.open(settings.database) as store:
        index = Index(store, settings, clock, tree.root)
        assert index.contents() == fresh_contents(tmp_path / "fresh.db", settings, clock, tree.root)
        before = store.connection.total_changes
        index()
        assert store.connection.total_changes == before


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
def test_a_killed_run_is_finished_by_the_next(
    settings: Settings, clock: FakeClock, tree: WorkingTree, tmp_path: Path
) -> None:
    for i in range(40):
        tree.write(f"m{i}.py", MODULE.replace("parse", f"parse_{i}") * 10)
    program = (
        "import sys\nfrom pathlib import Path\nfrom hyperloci.config import Settings\n"
        "from hyperloci.indexing.indexer import Indexer\nfrom hyperloci.project.identity import identify_project\n"
        "from hyperloci.store import Store\nd = Path(sys.argv[1])\n"
        "s = Settings(database=d / 'memory.db', state_dir=d, runtime_dir=d)\n"
        "Indexer(Store.open(s.database), s, identify_project(Path(sys.argv[2]))).index_tree("
        "progress=lambda *step: (print(step[0], flush=True), step[0] < 8 or sys.stdin.read()))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), str(tree.root)],
        stdin=subprocess.PIPE,  # At its eighth file it waits, in case nobody gets to kill it in time.
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while (line := process.stdout.readline().strip()) != "5":
        assert line
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)

    with Store.open(settings.database) as store:
        index = Index(store, settings, clock, tree.root)
        assert index.nodes()
        index()
        assert index.contents() == fresh_contents(tmp_path / "fresh.db", settings, clock, tree.root)


# -- any history of edits --------------------------------------------------------------------------------------------

FUNCTIONS = [f"def f{i}(value):\n    return value + {i}\n" for i in range(5)]
step = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "pkg/c.py"]),
    st.one_of(st.none(), st.lists(st.sampled_from(FUNCTIONS), max_size=4).map("\n\n".join)),
    min_size=1,
)


@pytest.mark.req("D.05", "E.03")
@given(st.lists(step, min_size=1, max_size=4))
@hypothesis_settings(max_examples=examples(25))
def test_after_any_edits_the_index_is_that_of_the_files_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    tree, clock = WorkingTree(folder / "project"), FakeClock()
    settings = Settings(database=folder / "memory.db", state_dir=folder, runtime_dir=folder)
    with Store.open(settings.database) as store:
        index = Index(store, settings, clock, tree.root)
        for changes in steps:
            before = {node.id: node.content for node in index.nodes()}
            for path, text in changes.items():
                if text is not None:
                    tree.write(path, text)
                elif (tree.root / path).exists():
                    tree.remove(path)
            index()
            now = {node.id: node.content for node in index.nodes()}
            created = Counter(text for node_id, text in now.items() if node_id not in before)
            gone = Counter(text for node_id, text in before.items() if node_id not in now)
            assert not created & gone, "a text that moved got another node"
        assert index.contents() == fresh_contents(folder / "fresh.db", settings, clock, tree.root)
        before_changes = store.connection.total_changes
        index()
        assert store.connection.total_changes == before_changes


@pytest.mark.req("W5")
def test_nothing_is_indexed_while_it_cannot_be_told_what_the_project_excludes(index: Index, tree: WorkingTree) -> None:
    settings = replace(index.settings, exclude_fault="x.toml cannot be read.")
    with pytest.raises(ConfigurationError, match="Nothing is indexed until it is corrected"):
        Indexer(index.store, settings, index.project, index.clock).index_tree()


@pytest.mark.req("D.05")
def test_a_file_that_goes_on_to_another_name_leaves_the_stand_in_at_its_first_one_alone(
    index: Index, tree: WorkingTree
) -> None:
    tree.write("a.py", MODULE)
    index()
    indexer, ids = index.keep_running(), index.ids("a.py")
    tree.rename("a.py", "b.py")
    indexer.update_paths(["a.py", "b.py"])
    tree.write("a.py", "import b\n\n\ndef parse(line):\n    return b.parse(line)\n")
    indexer.update_paths(["a.py"])
    stand_in = index.ids("a.py")
    tree.rename("b.py", "c.py")
    indexer.update_paths(["b.py", "c.py"])
    assert index.ids("c.py") == ids and index.ids("a.py") == stand_in


@pytest.mark.req("D.05")
def test_a_file_of_a_project_that_was_indexed_just_now_is_renamed_onto_another_that_was_deleted(
    index: Index, tree: WorkingTree
) -> None:
    """Nothing tells then which of both is old."""
    tree.write("a.py", "def first():\n    return 1\n")
    tree.write("c.py", MODULE)
    index()
    indexer, ids = index.keep_running(), index.ids("c.py")
    tree.remove("a.py")
    indexer.update_paths(["a.py"])
    tree.rename("c.py", "a.py")
    indexer.update_paths(["a.py", "c.py"])
    assert index.ids("a.py") == ids
