"""Facts about code are tied to the symbols they name, and say so when those change."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.clock import Clock
from hyperloci.config import Settings
from hyperloci.knowledge.graph.anchors import (
    anchor_fact,
    anchor_pending,
    describe_code_changes,
)
from hyperloci.knowledge.graph.renames import hash_symbol
from hyperloci.knowledge.names.written_names import find_code_names
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import NewNode
from hyperloci.model.position import Position
from hyperloci.store import Store
from tests.support import NOW, add, examples
from tests.working_tree import WorkingTree

PROJECT = "project:1"


class Code:
    """Indexed code of one project, written straight into the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.transaction():
            self.scope = store.scopes.ensure_scope(PROJECT, now=NOW)

    def write(self, path: str, **symbols: str) -> None:
        """Index a file anew; `Class__method` stands for `Class.method`."""
        self.remove(path)
        with self._store.transaction():
            file = self._store.files.put_file(self.scope, path, size=1, mtime_ns=1, content_hash=b"", now=NOW)
            for place, (name, text) in enumerate(symbols.items()):
                self._snippet(file, path, name.replace("__", "."), text, place)

    def _snippet(self, file: int, path: str, symbol: str, text: str, place: int) -> None:
        new = NewNode(type=NodeType.SNIPPET, subtype="code", content=text, scope=PROJECT)
        node = self._store.nodes.create_node(new, now=NOW, place=f"{path}:{place}:{text}")
        holder, _, name = symbol.rpartition(".")
        is_class = name[0].isupper()
        position = Position(
            path=path,
            symbol=symbol,
            class_name=name if is_class else holder or None,
            function_name=None if is_class else name,
            char_start=1_000 * place,
        )
        self._store.positions.put_position(node.key, position, file)

    def remove(self, path: str) -> None:
        with self._store.transaction():
            known = self._store.files.get_file(self.scope, path)
            for chunk in self._store.files.list_chunks([known.key] if known else []).get(known.key if known else 0, []):
                self._store.nodes.delete_node(chunk.node_id, now=NOW)


@pytest.fixture
def code(store: Store) -> Code:
    return Code(store)


def fact(store: Store, text: str, scope: str = PROJECT) -> NodeKey:
    """Store a fact and anchor it to the project's code."""
    node = add(store, text, scope=scope)
    with store.transaction():
        anchor_fact(store, node, store.scopes.ensure_scope(PROJECT, now=NOW))
    return node.key


def anchored(store: Store, key: NodeKey) -> list[tuple[str, str]]:
    return [(anchor.path, anchor.symbol) for anchor in store.positions.list_anchors([key])]


FETCH = "def fetch(self, url):\n    return get(url)\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("`fetch` retries, and so does `Client.fetch(url)`", ["fetch", "Client.fetch"]),
        ("retry_request calls parseUrl()", ["retry_request", "parseUrl"]),
        ("close() waits", ["close"]),
        ("app.client.fetch never raises", ["app.client.fetch"]),
        ("self.fetch is slow", ["fetch"]),
        ("`Client::fetch` and `Foo#bar`", ["Client.fetch", "Foo.bar"]),
        ("Anna prefers short functions", []),
        ("see https://example.org/some_page and a-b_c", []),
        ("HTTPServer and `x`", ["HTTPServer", "x"]),
    ],
)
def test_names_of_code_are_told_from_prose(text: str, names: list[str]) -> None:
    assert find_code_names(text) == names


def test_a_changed_symbol_outdates_the_fact_and_says_which(store: Store, code: Code) -> None:
    code.write("src/client.py", Client="class Client:", Client__fetch=FETCH)
    key = fact(store, "`Client.fetch` never retries")
    assert anchored(store, key) == [("src/client.py", "Client.fetch")]
    assert describe_code_changes(store, [key]) == {}
    code.write("src/client.py", Client="class Client:", Client__fetch=FETCH + "    # retries now\n")
    assert describe_code_changes(store, [key]) == {key: "`Client.fetch` in src/client.py changed since this was stored"}


def test_an_edit_elsewhere_in_the_file_and_blank_lines_outdate_nothing(store: Store, code: Code) -> None:
    code.write("src/client.py", Client__fetch=FETCH, Client__close="def close(self): ...")
    key = fact(store, "`Client.fetch` never retries")
    code.write(
        "src/client.py", helper="def helper(): ...", Client__fetch=FETCH + "\n\n", Client__close="def close(self): 1"
    )
    assert describe_code_changes(store, [key]) == {}


def test_a_removed_symbol_outdates_the_fact_and_a_restored_one_mends_it(store: Store, code: Code) -> None:
    code.write("src/client.py", Client__fetch=FETCH)
    key = fact(store, "`Client.fetch` never retries")
    code.remove("src/client.py")
    assert describe_code_changes(store, [key]) == {
        key: "`Client.fetch` in src/client.py was removed since this was stored"
    }
    code.write("src/client.py", Client__fetch=FETCH)
    assert describe_code_changes(store, [key]) == {}


def test_a_moved_symbol_keeps_its_facts_unless_it_changed_too(store: Store, code: Code) -> None:
    code.write("src/client.py", Client__fetch=FETCH)
    key = fact(store, "`Client.fetch` never retries")
    code.remove("src/client.py")
    code.write("src/http/client.py", Client__fetch=FETCH)
    assert describe_code_changes(store, [key]) == {}
    code.write("src/http/client.py", Client__fetch=FETCH + "    # changed\n")
    assert key in describe_code_changes(store, [key])


def test_a_name_that_means_several_symbols_anchors_nothing_unless_it_is_qualified(store: Store, code: Code) -> None:
    code.write("src/client.py", Client__fetch=FETCH)
    code.write("src/server.py", Server__fetch=FETCH)
    assert anchored(store, fact(store, "`fetch` is slow")) == []
    assert anchored(store, fact(store, "`Server.fetch` is slow")) == [("src/server.py", "Server.fetch")]
    assert anchored(store, fact(store, "`fetch` in client.py is slow")) == [("src/client.py", "Client.fetch")]


def test_a_path_is_that_of_a_file_and_never_the_end_of_another_name(store: Store, code: Code) -> None:
    code.write("client.py", Client__fetch=FETCH)
    code.write("my_client.py", Mine__fetch=FETCH)
    assert anchored(store, fact(store, "`fetch` in client.py is slow")) == [("client.py", "Client.fetch")]


def test_a_name_may_be_qualified_by_its_module(store: Store, code: Code) -> None:
    code.write("src/app/client.py", fetch=FETCH)
    code.write("src/app/__init__.py", fetch=FETCH)
    assert anchored(store, fact(store, "app.client.fetch is slow")) == [("src/app/client.py", "fetch")]
    assert anchored(store, fact(store, "app.fetch is slow")) == [("src/app/__init__.py", "fetch")]
    assert anchored(store, fact(store, "other.fetch is slow")) == []


def test_a_class_is_all_of_it(store: Store, code: Code) -> None:
    code.write("src/client.py", Client="class Client:", Client__fetch=FETCH)
    key = fact(store, "`Client` is thread-safe")
    assert anchored(store, key) == [("src/client.py", "Client")]
    code.write("src/client.py", Client="class Client:", Client__fetch=FETCH + "    # changed\n")
    assert "`Client`" in describe_code_changes(store, [key])[key]


def test_several_changed_symbols_are_all_named(store: Store, code: Code) -> None:
    code.write("src/a.py", open_file="def open_file(): 1", close_file="def close_file(): 1")
    key = fact(store, "open_file must be paired with close_file")
    code.write("src/a.py", open_file="def open_file(): 2", close_file="def close_file(): 2")
    assert describe_code_changes(store, [key])[key].count("changed since") == 2


def test_a_global_fact_is_anchored_to_the_project_it_was_stored_from(store: Store, code: Code) -> None:
    code.write("src/a.py", open_file="def open_file(): 1")
    key = fact(store, "The user dislikes open_file", scope="global")
    code.write("src/a.py", open_file="def open_file(): 2")
    assert key in describe_code_changes(store, [key])


def test_anchoring_anew_takes_the_present_text_as_right(store: Store, code: Code) -> None:
    code.write("src/a.py", open_file="def open_file(): 1", close_file="def close_file(): 1")
    key = fact(store, "open_file must be paired with close_file")
    code.write("src/a.py", open_file="def open_file(): 2")
    assert key in describe_code_changes(store, [key])
    node = store.nodes.get_by_key(key)
    assert node is not None
    with store.transaction():
        assert anchor_fact(store, node, code.scope) == 1
    assert describe_code_changes(store, [key]) == {}


def test_facts_older_than_the_index_are_anchored_once_their_symbols_are_there(store: Store, code: Code) -> None:
    key = fact(store, "open_file must be closed")
    other = fact(store, "Anna owns the release")
    assert anchored(store, key) == []
    code.write("src/a.py", open_file="def open_file(): 1")
    with store.transaction():
        assert anchor_pending(store, code.scope, now=NOW) == 1
        assert anchor_pending(store, code.scope, now=NOW) == 0
    assert anchored(store, key) == [("src/a.py", "open_file")]
    assert anchored(store, other) == []


def test_snippets_are_never_anchored(store: Store, code: Code) -> None:
    code.write("src/a.py", open_file="def open_file(): 1")
    node = add(store, "open_file()", type=NodeType.SNIPPET, subtype="code", scope=PROJECT)
    with store.transaction():
        assert anchor_fact(store, node, code.scope) == 0


@settings(max_examples=examples(80))
@given(st.text(max_size=400))
def test_any_text_has_names_without_repetition(text: str) -> None:
    names = find_code_names(text)
    assert len(names) == len(set(names))
    assert all(name and "::" not in name for name in names)


@settings(max_examples=examples(80))
@given(st.text(alphabet="ab \n\t", max_size=60))
def test_only_blank_lines_and_trailing_space_leave_a_hash_as_it_is(text: str) -> None:
    padded = "\n\n".join(line + "  " for line in text.splitlines())
    assert hash_symbol(padded) == hash_symbol(text)
    assert hash_symbol(text + "\nx") != hash_symbol(text)


def test_a_remembered_fact_is_shown_as_outdated_after_the_indexed_file_changed(
    settings: Settings, clock: Clock, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    source = project / "src" / "client.py"
    other = "\n\ndef unrelated_helper(value: int) -> int:\n    return value + {}\n"
    source.write_text("def fetch_page(url: str) -> str:\n    return url\n" + other.format(1), encoding="utf-8")
    with Memory.open(settings, project, clock=clock) as memory:
        memory.index_path("src")
        id = memory.remember_fact("`fetch_page` never retries").id
        source.write_text("def fetch_page(url: str) -> str:\n    return url\n" + other.format(2), encoding="utf-8")
        memory.index_path("src")
        assert memory.get(id).notes == ()
        source.write_text("def fetch_page(url: str) -> str:\n    return url * 2\n" + other.format(2), encoding="utf-8")
        memory.index_path("src")
        assert memory.get(id).notes == ("outdated: `fetch_page` in src/client.py changed since this was stored",)


def test_a_session_that_begins_after_the_code_changed_is_told(memory: Memory, tree: WorkingTree) -> None:
    code = "def frobnicate_gamma(count):\n    return [number * 3 for number in range(count)]\n"
    tree.write("gamma.py", code)
    memory.index_path()
    memory.remember_fact("`frobnicate_gamma` must never get negative numbers", category="constraint")
    assert memory.prepare_opening()
    assert not memory.prepare_opening(), "nothing has changed"
    tree.write("gamma.py", code.replace("frobnicate_gamma", "frobnicate_delta").replace("3", "4"))
    memory.index_path()
    assert memory.prepare_opening()
    opening = memory.store.openings.get_opening(memory.project.id)
    assert opening is not None
    assert "outdated: `frobnicate_gamma` in gamma.py was removed" in opening.text
