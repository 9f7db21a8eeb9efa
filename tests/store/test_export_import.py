"""Export and import: nothing lost on the way, nothing added twice, and damage named by its line."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError, StoreError, StoreFullError
from hyperloci.memory import Memory
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.edge import EdgeMember
from hyperloci.model.kinds import NodeType, Origin, Role, Tier
from hyperloci.model.node import NewNode
from hyperloci.model.position import Position
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, entity_merges, export, export_reading, integrity
from hyperloci.store.conversations.passing_statements import PassingStatement
from hyperloci.store.conversations.sessions import TranscriptMark
from hyperloci.store.database import database_copy
from hyperloci.store.export import export_memory
from hyperloci.store.export_reading import import_memory
from hyperloci.store.export_selection import ExportChoice
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.store.memories.positions import StoredAnchor
from hyperloci.store.memories.shared import ExchangeState, SharedRecord
from tests.support import NOW, FakeClock, add, examples

DERIVED = {
    "openings",
    "meta",
    "pending",
    "unlinked",
    "models",
    "fingerprints",
    "code_blocks",
    "sparse_terms",
    "sparse_docs",
    "sparse_postings",
    "keyword_totals",
    "sqlite_sequence",
    # Git is asked anew.
    "line_commits",
    "line_commit_files",
    # Folders of one machine.
    "places",
    "place_links",
    "place_link_rows",
    "unplaced_scopes",
    "shared_folders",
    # Who may come in here, and who did: of no use elsewhere, or of too much.
    "access_tokens",
    "access_log",
    # What one machine exchanges with its team.
    "team_projects",
    "team_rows",
    "team_outbox",
    "team_conflicts",
    "topics",
    "topic_members",
    "topic_runs",
    "histories",
    "renames",
    "node_changes",
    "set_aside",
    "keyword_index",
    "keyword_index_config",
    "keyword_index_data",
    "keyword_index_docsize",
    "keyword_index_idx",
    "keyword_vocabulary",
}
"""Made anew by whoever imports, or of no meaning elsewhere."""


def fill(store: Store) -> None:
    """Write something into every table that travels."""
    with store.transaction():
        scope = store.scopes.ensure_scope("p", now=NOW, name="rocket", root="/src")
        session = store.sessions.note_seen("s", scope, now=NOW)
        store.sessions.take_sequence_number(session.key)
        store.consolidations.advance_causes(session.key, 1, now=NOW)
        store.sessions.set_transcript_mark("/t.jsonl", TranscriptMark(3, b"\xff\0head"), now=NOW)
        fact = add(store, 'a fact with "quotes"\nand lines\u2028 and \0', scope="p", session_key=session.key, seq=0)
        store.consolidations.queue_review(fact.key)
        store.shared.queue_comparison(fact.key)
        store.shared.put_record(
            scope,
            SharedRecord(id=fact.id, hash=b"\0", state=ExchangeState.SENT, node_key=fact.key),
            now=NOW,
        )
        store.withheld.withhold(add(store, "never recalled", scope="p").key, now=NOW)
        file = store.files.put_file(scope, "a.py", size=1, mtime_ns=2, content_hash=b"\0\1", now=NOW)
        code = add(store, "def f(): ...", type=NodeType.SNIPPET, scope="p", extra_terms="context", title="t")
        store.positions.put_position(code.key, Position(path="a.py", symbol="f", section_path=("ü",)), file)
        store.positions.put_code_facts(code.key, CodeFacts(kind="function", name="f", calls=("g",)))
        store.positions.put_anchor(StoredAnchor(fact.key, scope, "a.py", "f", b"\x80"))
        store.connection.execute("INSERT INTO facets(node_key, diataxis, authority) VALUES (?, 'x', 0.5)", (code.key,))
        store.connection.execute("INSERT INTO domain_tags(tag, node_key) VALUES ('sql', ?)", (code.key,))
        # Its key differs from its place among entities, so that a mix-up would show.
        thing = add(store, "Valve", type=NodeType.ENTITY, subtype="tool")
        store.entities.register_entity(thing.key, "Valve", now=NOW)
        store.entities.add_alias(thing.key, "the valve")
        store.entities.add_mention(fact.key, thing.key, now=NOW)
        same = add(store, "Faucet", type=NodeType.ENTITY, subtype="tool")
        store.entities.register_entity(same.key, "Faucet", now=NOW)
        store.entities.add_mention(fact.key, same.key, now=NOW)
        entity_merges.merge_entities(store, same.key, thing.key, now=NOW, reason="the same", score=1.0)
        commit = add(store, "Fix it", type=NodeType.DECISION, subtype="commit", scope="p")
        store.files.put_commit(scope, "sha", commit.key)
        store.edges.create_edge(
            "changed", [EdgeMember(commit.key, Role.CAUSE), EdgeMember(code.key, Role.EFFECT, 1)], now=NOW, evidence="e"
        )
        store.nodes.update_node(fact.id, now=NOW + 1, tier=Tier.LONGTERM, metadata={"a": [1, None, "ü"]})
        gone = add(store, "gone", scope="p")
        store.nodes.delete_node(gone.id, now=NOW + 2, reason="wrong")
        turn = add(store, "said", type=NodeType.EXPERIENCE, subtype="episode", session_key=session.key, seq=1)
        store.chunks.create_chunk(PyramidLevel.MICRO, session.key, [turn], [2], now=NOW)
        store.turns.add_spoken_times(turn.key, [(1, 2, "yesterday")])
        store.passing_statements.add(PassingStatement(turn, "said", "sai"), turn)
        for _ in range(2):
            store.log.add_entry("seen", [fact.id, code.id], now=NOW)


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return every table's rows with keys replaced by what they stand for, in an order of their own."""
    names = {
        "scopes": "SELECT key, id FROM scopes",
        "sessions": "SELECT key, id FROM sessions",
        "nodes": "SELECT key, id FROM nodes",
        "hyperedges": "SELECT key, id FROM hyperedges",
        "files": "SELECT f.key, s.id || f.path FROM files f JOIN scopes s ON s.key = f.scope_key",
    }
    known = {table: dict(store.connection.execute(sql).fetchall()) for table, sql in names.items()}
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table in export.TABLES:
        references = dict(table.references)
        rows = []
        for row in store.connection.execute(f"SELECT * FROM {table.name}"):
            values = dict(row)
            if table.key:
                values.pop(table.key)
            for column, parent in references.items():
                if parent in known and values[column] is not None:
                    values[column] = known[parent][values[column]]
                elif parent not in known:
                    values.pop(column)
            rows.append(tuple(sorted(values.items())))
        found[table.name] = sorted(rows, key=repr)
    return found


def copy(store: Store, folder: Path, *, into: Callable[[Store], None] | None = None) -> Store:
    exported = folder / "export.jsonl"
    export_memory(store, exported)
    target = Store.open(folder / "target.db", clock=lambda: NOW)
    if into:
        into(target)
    import_memory(target, exported, clock=lambda: NOW + 99)
    return target


def test_every_table_that_is_not_derived_travels_with_all_its_references(store: Store) -> None:
    tables = {
        row[0]: store.connection.execute(f"PRAGMA foreign_key_list({row[0]})").fetchall()
        for row in store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    assert {table.name for table in export.TABLES} == set(tables) - DERIVED
    order = [table.name for table in export.TABLES]
    for table in export.TABLES:
        parents = {key["from"]: key["table"] for key in tables[table.name]}
        # An entity's key is that of its node.
        expected = {column: "nodes" if parent == "entities" else parent for column, parent in parents.items()}
        assert dict(table.references) == expected, table.name
        assert all(order.index(parent) < order.index(table.name) for parent in parents.values())


def test_a_memory_comes_over_whole(store: Store, tmp_path: Path) -> None:
    fill(store)
    with copy(store, tmp_path) as target:
        assert contents(target) == contents(store)
        assert all(rows for rows in contents(target).values())
        assert integrity.check_integrity(target) == [] and integrity.count_violations(target) == {}
        assert target.vectors.count_pending() == store.vectors.count_pending()
        everything = SearchFilter(types=("fact", "snippet", "entity"))
        for words in ("quotes", "context", "valve"):
            found = [
                s.keyword_search.rank_by_bm25(analyse_query(words), s.filters.select_allowed(everything), 9)
                for s in (store, target)
            ]
            assert [len(hits) for hits in found] == [1, 1]


def test_a_memory_comes_over_into_one_that_holds_something_already(store: Store, tmp_path: Path) -> None:
    fill(store)

    def occupy(target: Store) -> None:
        with target.transaction():
            scope = target.scopes.ensure_scope("other", now=NOW)
            target.files.put_file(scope, "a.py", size=9, mtime_ns=9, content_hash=b"9", now=NOW)
        for number in range(3):
            thing = add(target, f"thing {number}", type=NodeType.ENTITY, subtype="tool", scope="other")
            with target.transaction():
                target.entities.register_entity(thing.key, "Valve", now=NOW)

    with copy(store, tmp_path, into=occupy) as target:
        everything = contents(target)
        for table, rows in contents(store).items():
            assert set(rows) <= set(everything[table]), table
        assert len(everything["nodes"]) == len(contents(store)["nodes"]) + 3
        imported = list(target.entities.find_by_name("the valve"))
        assert [entity.aliases for entity in imported] == [("Faucet", "the valve")]
        assert [node.content for node in target.nodes.query_nodes(scopes=["other"])] == [
            "thing 2",
            "thing 1",
            "thing 0",
        ]
        assert integrity.check_integrity(target) == [] and integrity.count_violations(target) == {}


def test_importing_twice_adds_nothing_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    fill(store)
    with copy(store, tmp_path) as target:
        node = target.nodes.query_nodes(type="fact")[0]
        with target.transaction():
            target.nodes.update_node(node.id, now=NOW + 5, content="said better since")
        before = contents(target)
        assert sum(import_memory(target, tmp_path / "export.jsonl").values()) == 0
        assert contents(target) == before


def test_what_came_over_can_go_back(store: Store, tmp_path: Path) -> None:
    fill(store)
    with copy(store, tmp_path) as target:
        export_memory(target, tmp_path / "back.jsonl")
    assert sum(import_memory(store, tmp_path / "back.jsonl").values()) == 0


@pytest.fixture
def two_machines(settings: Settings, tmp_path: Path, clock: FakeClock) -> Iterator[tuple[Memory, Memory]]:
    """Open a project's memory on two machines."""
    there = replace(settings, database=tmp_path / "there.db")
    with Memory.open(settings, tmp_path, clock=clock) as here, Memory.open(there, tmp_path, clock=clock) as other:
        yield here, other


def test_what_was_replaced_on_another_machine_no_longer_holds_here(
    two_machines: tuple[Memory, Memory], tmp_path: Path, clock: FakeClock
) -> None:
    (here, there), file = two_machines, tmp_path / "export.jsonl"
    old, kept = (here.remember_fact(text).id for text in ("The port is 8000", "The queue is Redis"))
    export_memory(here.store, file)
    import_memory(there.store, file)
    clock.advance(1_000)
    newer = there.correct_fact(old, "The port is 8080").id
    newest = there.correct_fact(newer, "The port is 9000").id
    there.forget(kept)
    export_memory(there.store, file)
    for _ in range(2):
        import_memory(here.store, file)
        assert {hit.id for hit in here.search("port").results} == {newest, kept}
        assert here.get(old).valid_until == there.get(old).valid_until
        assert here.get_facets(old)["verification"] == "outdated"
    # What replaced it is known here by now, and what holds again since stays.
    with here.store.transaction():
        here.store.nodes.update_node(old, now=clock(), valid_until=None)
    import_memory(here.store, file)
    assert here.get(old).valid_until is None


def _find_end(memory: Memory, id: str) -> int | None:
    node = memory.store.nodes.get_node(id)
    assert node is not None
    return node.valid_until


def test_an_export_ends_nothing_without_what_replaced_it_nor_at_a_time_that_is_none(
    two_machines: tuple[Memory, Memory], tmp_path: Path, clock: FakeClock
) -> None:
    (here, there), file = two_machines, tmp_path / "export.jsonl"
    old = here.remember_fact("The port is 8000").id
    export_memory(here.store, file)
    import_memory(there.store, file)
    clock.advance(1_000)
    there.correct_fact(old, "The port is 8080")
    export_memory(there.store, file)
    whole = file.read_text(encoding="utf-8")
    ended = _find_end(there, old)
    for time in (2**62, -(2**62)):
        file.write_text(whole.replace(f'"valid_until": {ended}', f'"valid_until": {time}'), encoding="utf-8")
        with pytest.raises(BadRequestError, match="valid_until is no time"):
            import_memory(here.store, file)
    lines = whole.splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"role": "subject"' not in line), encoding="utf-8")
    import_memory(here.store, file)
    assert _find_end(here, old) is None
    file.write_text(whole, encoding="utf-8")
    import_memory(here.store, file)
    assert _find_end(here, old) == ended


@pytest.mark.parametrize("choice", [ExportChoice(), ExportChoice(kinds=("decision",))])
def test_what_mentions_a_thing_is_counted_as_it_is_here(
    two_machines: tuple[Memory, Memory], tmp_path: Path, choice: ExportChoice
) -> None:
    (here, there), file = two_machines, tmp_path / "export.jsonl"
    here.remember_fact("AuthService runs in zone one.", category="decision")
    here.remember_fact("AuthService runs at night.")
    export_memory(here.store, file, choice)
    import_memory(there.store, file)
    assert integrity.count_violations(there.store) == {}
    there.remember_fact("AuthService has three nodes.", category="decision")
    export_memory(there.store, file)
    import_memory(here.store, file)
    assert integrity.count_violations(here.store) == {}
    assert here.get_entity_info("AuthService").entity.mention_count == 3


def test_a_part_of_a_memory_repeats_nothing_of_what_is_left_out(
    two_machines: tuple[Memory, Memory], tmp_path: Path
) -> None:
    (here, there), file = two_machines, tmp_path / "export.jsonl"
    here.remember_fact("AuthService is the part that hides heliotrope.")
    rule = here.remember_fact("AuthService never logs tokens", category="constraint").id
    (entity,) = here.store.entities.find_by_name("AuthService")
    with here.store.transaction():
        here.store.entities.set_summary(entity.node_key, "It is the part that hides heliotrope.", now=NOW)
    export_memory(here.store, file, ExportChoice(kinds=("constraint",)))
    assert "heliotrop" not in file.read_text(encoding="utf-8")
    import_memory(there.store, file)
    assert [hit.id for hit in there.search("tokens").results] == [rule]
    assert integrity.count_violations(there.store) == {}


def test_a_part_of_a_memory_has_the_names_by_which_commits_are_found(
    two_machines: tuple[Memory, Memory], tmp_path: Path
) -> None:
    (here, there), file = two_machines, tmp_path / "export.jsonl"
    commit = NewNode(
        type=NodeType.DECISION,
        subtype="commit",
        content="Retry uploads",
        origin=Origin.COMMIT,
        scope=here.project.id,
        extra_terms="0c6bd1f4e2 Grace",
    )
    with here.store.transaction():
        id = here.store.nodes.create_node(commit, now=NOW).id
    export_memory(here.store, file, ExportChoice(kinds=("commit",)))
    import_memory(there.store, file)
    assert [hit.id for hit in there.search("0c6bd1f4e2").results] == [id]


def test_an_import_cut_short_goes_on_when_it_is_run_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_reading, "BATCH", 5)
    fill(store)
    exported = tmp_path / "export.jsonl"
    export_memory(store, exported)
    add_line = export_reading._Importer.add_line
    for cut in range(1, len(exported.read_bytes().splitlines()), 7):

        def stop(self: Any, number: int, line: bytes, cut: int = cut) -> None:
            if number > cut:
                raise KeyboardInterrupt
            add_line(self, number, line)

        with Store.open(tmp_path / f"{cut}.db", clock=lambda: NOW) as target:
            with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
                patched.setattr(export_reading._Importer, "add_line", stop)
                import_memory(target, exported)
            import_memory(target, exported)
            assert contents(target) == contents(store)


def test_nothing_is_left_of_a_damaged_file_however_late_the_damage_is(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_reading, "BATCH", 5)
    fill(store)
    export_memory(store, tmp_path / "export.jsonl")
    lines = (tmp_path / "export.jsonl").read_bytes().splitlines(keepends=True)
    unknown = lines[-1].replace(b'"log_id": ', b'"log_id": 99')
    lacking = (b'{"table": "sessions", "row": {"key": 1}}\n', b'{"table": "files", "row": {"key": 1, "path": "a"}}\n')
    for last in (lines[-1][:-5], b'{"table": "secrets", "row": {}}\n', unknown, *lacking):
        (tmp_path / "damaged.jsonl").write_bytes(b"".join(lines[:-1]) + last)
        with Store.open(tmp_path / "target.db", clock=lambda: NOW) as target:
            before = contents(target)
            with pytest.raises(BadRequestError, match=f"line {len(lines)}: "):
                import_memory(target, tmp_path / "damaged.jsonl")
            assert contents(target) == before


def test_a_file_that_was_cut_between_two_lines_is_refused_and_one_of_an_older_version_needs_no_end(
    store: Store, tmp_path: Path
) -> None:
    fill(store)
    file = tmp_path / "export.jsonl"
    export_memory(store, file)
    lines = file.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines)):
        file.write_bytes(b"".join(lines[:cut]))
        with Store.open(tmp_path / "target.db", clock=lambda: NOW) as target:
            before = contents(target)
            with pytest.raises(BadRequestError, match=f"line {cut + 1}: the export ends before its last line"):
                import_memory(target, file)
            assert contents(target) == before
    file.write_bytes(b"".join((*lines, lines[1])))
    with pytest.raises(BadRequestError, match=f"line {len(lines) + 1}: the export has ended before it"):
        import_memory(store, file)
    assert all(set(json.loads(line)) >= {"table", "row"} for line in lines[1:]), "older versions read no other lines"
    file.write_bytes(b"".join(lines).replace(b', "ends": true}', b"}").replace(b', "end": true}', b"}"))
    with Store.open(tmp_path / "target.db", clock=lambda: NOW) as target:
        import_memory(target, file)
        assert contents(target) == contents(store)


def test_what_only_the_database_refuses_is_told_with_what_is_stored_already(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_reading, "BATCH", 3)
    lines = exported_lines(store, tmp_path)
    place = first(lines, "nodes") + 4
    lines[place]["row"]["tier"] = "forever"
    (tmp_path / "damaged.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Store.open(tmp_path / "target.db", clock=lambda: NOW) as target:
        with pytest.raises(BadRequestError, match="CHECK") as caught:
            import_memory(target, tmp_path / "damaged.jsonl")
        begun = (place - 1) // 3 * 3 + 2
        assert f"The lines before {begun} are stored" in str(caught.value)
        import_memory(target, tmp_path / "export.jsonl")
        assert contents(target) == contents(store)
    with Store.open(tmp_path / "rehearsal.db") as target:
        with target.transaction(), pytest.raises(BadRequestError) as rehearsed:
            import_memory(target, tmp_path / "damaged.jsonl")
        assert "are stored" not in str(rehearsed.value)


@pytest.mark.parametrize(("schema", "mtime"), [(29, -1), (None, 2)])
def test_what_another_version_cut_is_looked_at_anew(
    store: Store, tmp_path: Path, schema: int | None, mtime: int
) -> None:
    fill(store)
    export_memory(store, tmp_path / "export.jsonl")
    header, *rows = (tmp_path / "export.jsonl").read_text().splitlines(keepends=True)
    if schema is not None:
        header = json.dumps({**json.loads(header), "schema": schema}) + "\n"
    (tmp_path / "export.jsonl").write_text("".join([header, *rows]))
    with Store.open(tmp_path / "target.db", clock=lambda: NOW) as target:
        import_memory(target, tmp_path / "export.jsonl")
        assert [row[0] for row in target.connection.execute("SELECT mtime_ns FROM files")] == [mtime]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@hypothesis_settings(max_examples=examples(40))
@given(
    texts=st.lists(st.tuples(TEXT, st.text(st.characters(exclude_categories=["Cs"]))), min_size=1, max_size=6),
    confidence=st.floats(0, 1),
    metadata=st.dictionaries(
        TEXT,
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT),
        max_size=3,
    ),
    joins=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=4),
)
def test_any_memory_comes_over_whole(
    texts: list[tuple[str, str]], confidence: float, metadata: dict[str, Any], joins: list[tuple[int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as name, Store.open(Path(name) / "source.db", clock=lambda: NOW) as source:
        with source.transaction():
            nodes = [
                add(source, content, title=other, provenance=other, confidence=confidence, metadata=metadata, scope="p")
                for content, other in texts
            ]
            for a, b in joins:
                if a < len(nodes) and b < len(nodes):
                    source.edges.link_nodes("supports", nodes[a].key, [nodes[b].key], now=NOW, evidence=texts[a][1])
        with copy(source, Path(name)) as target:
            assert contents(target) == contents(source)
            for node in nodes:
                over = target.nodes.get_node(node.id)
                assert over is not None and (over.content, over.metadata) == (node.content, node.metadata)


def exported_lines(store: Store, folder: Path) -> list[dict[str, Any]]:
    fill(store)
    export_memory(store, folder / "export.jsonl")
    return [json.loads(line) for line in (folder / "export.jsonl").read_text(encoding="utf-8").split("\n") if line]


def refused(folder: Path, lines: list[Any], *, raw: bytes | None = None) -> str:
    """Import what is refused, into an empty database, and return the message."""
    file = folder / "damaged.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_bytes(text.encode() if raw is None else raw)
    with Store.open(folder / "empty.db") as target:
        with pytest.raises(BadRequestError) as caught:
            import_memory(target, file)
        assert target.count_everything()["nodes"] == 0
        assert integrity.check_integrity(target) == []
    return str(caught.value)


def first(lines: list[dict[str, Any]], table: str) -> int:
    return next(place for place, line in enumerate(lines) if line.get("table") == table)


@pytest.mark.parametrize(
    ("table", "column", "value", "complaint"),
    [
        ("nodes", "type", "idea", "CHECK"),
        ("nodes", "tier", "forever", "CHECK"),
        ("nodes", "confidence", 1.5, "CHECK"),
        ("nodes", "confidence", "high", "confidence is not of type REAL"),
        ("nodes", "created_at", "yesterday", "created_at is not of type INTEGER"),
        ("nodes", "created_at", 1.5, "created_at is not of type INTEGER"),
        ("nodes", "created_at", 2**63, "created_at has more than 64 bits"),
        ("nodes", "created_at", None, "NOT NULL"),
        ("nodes", "content", 5, "content is not of type TEXT"),
        ("nodes", "content", ["a"], "content is not of type TEXT"),
        ("nodes", "content", "\ud800", "surrogate"),
        ("nodes", "content", {"base64": "AAAA"}, "content is not of type TEXT"),
        ("nodes", "content_hash", "text", "content_hash is not of type BLOB"),
        ("nodes", "content_hash", {"base64": "!!!!"}, "base64"),
        ("nodes", "content_hash", {"other": 1}, "base64"),
        ("nodes", "metadata", "{", "CHECK"),
        ("nodes", "metadata", "[1]", "metadata is not an object"),
        ("nodes", "origin", "banana", "banana"),
        ("nodes", "scope_key", 77, "refers to scopes 77"),
        ("nodes", "scope_key", [1], "scope_key is not of type INTEGER"),
        ("nodes", "session_key", 77, "refers to sessions 77"),
        ("sessions", "status", "bored", "CHECK"),
    ],
)
def test_a_value_that_can_not_be_is_named_with_its_line(
    store: Store, tmp_path: Path, table: str, column: str, value: Any, complaint: str
) -> None:
    lines = exported_lines(store, tmp_path)
    place = first(lines, table)
    lines[place]["row"][column] = value
    message = refused(tmp_path, lines)
    assert message.startswith(f"line {place + 1}: ") and complaint in message


def test_rows_that_would_fail_every_later_reader_are_refused(store: Store, tmp_path: Path) -> None:
    lines = exported_lines(store, tmp_path)
    for table, column, value in (
        ("positions", "section_path", "5"),
        ("code_facts", "facts", '{"unheard_of": 1}'),
        ("membership", "role", "hero"),
        ("membership", "node_key", 999),
        ("aliases", "entity_key", 999),
    ):
        damaged = json.loads(json.dumps(lines))
        place = first(damaged, table)
        damaged[place]["row"][column] = value
        (tmp_path / "damaged.jsonl").write_text("\n".join(map(json.dumps, damaged)))
        complaint = pytest.raises(BadRequestError, match=f"line {place + 1}: ")
        with Store.open(tmp_path / f"{table}-{column}.db") as target, complaint:
            import_memory(target, tmp_path / "damaged.jsonl")


def test_lines_that_are_no_rows_are_named(store: Store, tmp_path: Path) -> None:
    lines: list[Any] = exported_lines(store, tmp_path)
    for damage, complaint in (
        ("{", "line 2: not JSON"),
        ("[]", "line 2: not an object"),
        ('{"table": "nodes"}', "line 2: not a row of a known table"),
        ('{"table": "secrets", "row": {}}', "line 2: not a row of a known table"),
        ('{"table": ["nodes"], "row": {}}', "line 2: not a row of a known table"),
        ('{"table": "nodes", "row": {}}', "line 2: the row has no"),
        ('{"table": "nodes", "row": {"content": NaN}}', "line 2: not JSON"),
        ('{"table": "nodes", "row": {"key": 1, "evil); DROP TABLE nodes; --": 1}}', "line 2: nodes has no column evil"),
        ("[" * 100_000, "line 2: not JSON"),
    ):
        assert refused(tmp_path, [lines[0], damage]).startswith(complaint)
    assert "line 2: not JSON" in refused(tmp_path, [], raw=json.dumps(lines[0]).encode() + b"\n\xff\xfe\n")


@pytest.mark.parametrize("header", ["", "{}", '{"hyperloci": 99}', "[1]", "not json", '{"table": "nodes", "row": {}}'])
def test_a_file_of_another_kind_is_refused_at_its_first_line(tmp_path: Path, header: str) -> None:
    assert refused(tmp_path, [header]).startswith("line 1: ")


def test_a_line_without_end_is_refused(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Any] = exported_lines(store, tmp_path)
    monkeypatch.setattr(export_reading, "MAX_LINE_BYTES", 1_000)
    assert "line 2: longer than 1000" in refused(tmp_path, [lines[0], " " * 1_001])


def test_what_is_not_there_can_not_be_imported(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no export at"):
        import_memory(store, tmp_path / "nothing.jsonl")


def test_the_present_database_is_untouched_by_a_damaged_batch(store: Store, tmp_path: Path) -> None:
    lines = exported_lines(store, tmp_path)
    lines[-1]["row"]["log_id"] = 999
    before = contents(store)
    (tmp_path / "damaged.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(BadRequestError):
        import_memory(store, tmp_path / "damaged.jsonl")
    assert contents(store) == before


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_an_export_is_private_and_whole_or_not_there(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    target = tmp_path / "out" / "export.jsonl"
    with pytest.raises(StoreError, match="cannot be written"):
        export_memory(store, target)
    target.parent.mkdir()
    counted = export_memory(store, target)
    rows = [line["row"] for line in map(json.loads, target.read_bytes().splitlines()) if line.get("table") == "nodes"]
    assert counted.total() == sum(row["type"] != "entity" for row in rows) > 0
    assert counted["forgotten"] == sum(row["deleted_at"] is not None for row in rows)
    assert target.stat().st_mode & 0o777 == 0o600
    before = target.read_bytes()

    def no_room(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(StoreFullError, match="No space left"):
        export_memory(store, target)
    assert target.read_bytes() == before
    assert [entry.name for entry in target.parent.iterdir()] == ["export.jsonl"]


def test_of_two_exports_to_one_file_each_is_whole_and_the_one_that_ends_last_stays(tmp_path: Path) -> None:
    target = tmp_path / "export.jsonl"

    def write_the_first(out: TextIO) -> int:
        out.write("first, ")
        assert export.write_private_file(target, lambda other: other.write("second")) == len("second")
        assert target.read_text() == "second"
        return out.write("whole")

    export.write_private_file(target, write_the_first)
    assert target.read_text() == "first, whole"
    assert [entry.name for entry in tmp_path.iterdir()] == [target.name]


def test_of_two_backups_to_one_file_each_is_whole(
    store: Store, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "of the first")
    target, copy = tmp_path / "copies" / "copy.db", database_copy.copy_database

    def copy_during_another(source: sqlite3.Connection, place: sqlite3.Connection) -> None:
        monkeypatch.setattr(database_copy, "copy_database", copy)
        with Store.open(tmp_path / "other.db", clock=clock) as other:
            other.back_up(target)
        copy(source, place)

    monkeypatch.setattr(database_copy, "copy_database", copy_during_another)
    store.back_up(target)
    with Store.open(target, read_only=True) as copied:
        assert [node.content for node in copied.nodes.query_nodes()] == ["of the first"]
    assert [entry.name for entry in target.parent.iterdir()] == [target.name]


def test_an_export_is_one_state_while_others_write(store: Store, tmp_path: Path, clock: FakeClock) -> None:
    fill(store)
    with Store.open(store.path, clock=clock) as other:
        records = export._iterate_records(store.connection)
        with store.snapshot():
            seen = [next(records) for _ in range(3)]
            add(other, "too late")
            seen.extend(records)
    assert not any(record.get("row", {}).get("content") == "too late" for record in seen)


def test_bytes_travel_as_base64() -> None:
    data = bytes(range(256))
    assert export.decode_value(export._encode_value(data)) == data
    assert export._encode_value(data) == {"base64": base64.b64encode(data).decode()}
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute("SELECT ?", (export.decode_value({"base64": "AAE="}),)).fetchone() == (b"\0\1",)
