"""Every kind of damage that a check knows is found when it is injected, and mended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from hyperloci.errors import StoreError
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.store.vectors import fingerprints, float16
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from tests.support import NOW, add, vector_of


@pytest.fixture
def filled(store: Store) -> Iterator[Store]:
    """A healthy memory, in which foreign keys are not enforced while a test does its damage."""
    with store.transaction():
        scope = store.scopes.ensure_scope("p", now=NOW)
        session = store.sessions.note_seen("s", scope, now=NOW)
        file = store.files.put_file(scope, "a.py", size=1, mtime_ns=1, content_hash=b"", now=NOW)
        model = store.vectors.use_model("m", 384, now=NOW)
        nodes = [add(store, f"needle {number}", scope="p", session_key=session.key) for number in range(4)]
        for node in nodes[:3]:
            store.vectors.put_fingerprint(node.key, model, {"e1": float16.pack_half(vector_of(node.content))}, now=NOW)
        store.sparse_index.put_terms("e13", {node.key: {"needle": 1.0, f"number{node.key}": 2.0} for node in nodes[:3]})
        store.connection.execute("INSERT INTO positions(node_key, file_key, path) VALUES (1, ?, 'a.py')", (file,))
        store.connection.execute("INSERT INTO facets(node_key) VALUES (2)")
        turn = store.nodes.get_by_key(nodes[3].key)
        assert turn is not None
        store.chunks.create_chunk(PyramidLevel.MICRO, session.key, [replace(turn, seq=0)], [2], now=NOW)
        store.entities.register_entity(nodes[1].key, "Needle", now=NOW)
        store.entities.add_mention(nodes[0].key, nodes[1].key, now=NOW)
        store.edges.link_nodes("supports", nodes[0].key, [nodes[1].key], now=NOW)
        store.edges.link_nodes("supports", nodes[2].key, [nodes[3].key], now=NOW)
        store.nodes.update_node(nodes[0].id, now=NOW, tier="session")
    assert integrity.count_violations(store) == {} and integrity.check_integrity(store) == []
    store.connection.execute("PRAGMA foreign_keys = OFF")
    yield store
    store.connection.execute("PRAGMA foreign_keys = ON")


DAMAGE = [
    ("nodes without keywords", "DELETE FROM keywords WHERE node_key = 1", 1),
    ("keywords without node", "INSERT INTO keywords VALUES (99, '', 'needl', '', 1)", 1),
    ("nodes with neither fingerprint nor place in the queue", "DELETE FROM pending", 1),
    ("nodes with neither fingerprint nor place in the queue", "DELETE FROM fingerprints WHERE node_key < 3", 2),
    ("hyperedges with fewer than two members", "DELETE FROM membership WHERE node_key = 1", 1),
    ("wrong totals of keywords", "UPDATE keyword_totals SET terms = terms + 1", 1),
    ("wrong totals of keywords", "DELETE FROM keyword_totals", 1),
    (integrity.WRONG_CODES, "DELETE FROM code_blocks", 1),
    (integrity.WRONG_CODES, "UPDATE code_blocks SET codes = zeroblob(length(codes))", 1),
    (integrity.WRONG_CODES, "UPDATE code_blocks SET codes = x'00'", 1),
    (integrity.WRONG_POSTINGS, "DELETE FROM sparse_postings WHERE term_key = 1", 1),
    (integrity.WRONG_POSTINGS, "UPDATE sparse_postings SET postings = x'00'", 1),
    (integrity.WRONG_POSTINGS, "UPDATE sparse_postings SET postings = postings || x'000001' WHERE term_key = 1", 1),
    (integrity.WRONG_POSTINGS, "DELETE FROM sparse_docs WHERE node_key = 2", 1),
    ("terms with a wrong count of postings", "UPDATE sparse_terms SET postings = 9 WHERE key = 1", 1),
    ("packed turns whose text is in no chunk", "UPDATE chunk_turns SET packed = 1", 1),
    ("entities with a wrong count of mentions", "UPDATE entities SET mention_count = 7", 1),
    ("rows that refer to nothing", "UPDATE nodes SET session_key = 77 WHERE key = 1", 1),
    ("rows that refer to nothing", "UPDATE nodes SET scope_key = 77 WHERE key < 3", 2),
    ("rows that refer to nothing", "DELETE FROM scopes WHERE id = 'p'", 6),
    ("rows that refer to nothing", "UPDATE positions SET file_key = 77", 1),
    ("rows that refer to nothing", "INSERT INTO membership VALUES (1, 99, 'object', 2)", 1),
    ("rows that refer to nothing", "INSERT INTO membership VALUES (99, 1, 'object', 2)", 1),
    ("rows that refer to nothing", "INSERT INTO evolution_nodes VALUES ('x', 99)", 1),
    ("rows that refer to nothing", "INSERT INTO facets(node_key) VALUES (99)", 1),
    ("rows that refer to nothing", "INSERT INTO mentions VALUES (1, 99)", 1),
    ("rows that refer to nothing", "INSERT INTO aliases(alias, entity_key) VALUES ('x', 99)", 1),
    ("rows that refer to nothing", "DELETE FROM models", 3),
    ("rows that refer to nothing", "DELETE FROM sessions", 5),
]


@pytest.mark.parametrize(("name", "damage", "count"), DAMAGE)
def test_damage_is_found_counted_and_mended_and_no_memory_is_lost(
    filled: Store, name: str, damage: str, count: int
) -> None:
    before = [node.content for node in filled.nodes.query_nodes()]
    filled.connection.execute(damage)
    assert integrity.count_violations(filled)[name] == count
    filled.connection.execute("PRAGMA foreign_keys = ON")
    integrity.repair_store(filled)
    assert integrity.count_violations(filled) == {}
    assert integrity.check_integrity(filled) == []
    assert [node.content for node in filled.nodes.query_nodes()] == before
    found = filled.keyword_search.rank_by_bm25(
        analyse_query("needle"), filled.filters.select_allowed(SearchFilter()), 9
    )
    assert len(found) == 4


def test_every_check_has_its_damage() -> None:
    assert {name for name, _, _ in DAMAGE} == {check.name for check in integrity.CHECKS} | {
        integrity.WRONG_CODES,
        integrity.WRONG_POSTINGS,
    }


def test_a_memory_whose_scope_is_gone_keeps_to_itself(filled: Store) -> None:
    filled.connection.execute("UPDATE nodes SET scope_key = 77 WHERE key = 1")
    integrity.repair_store(filled)
    node = filled.nodes.get_by_key(1)
    assert node is not None and node.scope == "recovered-77"


def test_all_damage_at_once_is_mended_at_once(filled: Store) -> None:
    for _, damage, _ in DAMAGE:
        filled.connection.execute(damage)
    assert integrity.count_violations(filled)
    filled.connection.execute("PRAGMA foreign_keys = ON")
    integrity.repair_store(filled)
    assert integrity.count_violations(filled) == {} and integrity.check_integrity(filled) == []
    assert len(filled.nodes.query_nodes()) == 4


def test_repairing_what_is_well_changes_nothing_that_is_told(filled: Store) -> None:
    before = filled.count_everything()
    integrity.repair_store(filled)
    after = filled.count_everything()
    assert {**before, "database_bytes": 0} == {**after, "database_bytes": 0}


def test_what_fails_halfway_is_not_half_repaired(filled: Store) -> None:
    filled.connection.execute("DELETE FROM pending")
    filled.connection.execute(
        "CREATE TEMP TRIGGER fail BEFORE DELETE ON main.code_blocks BEGIN SELECT RAISE(ABORT, 'injected'); END"
    )
    with pytest.raises(StoreError, match="injected"):
        integrity.repair_store(filled)
    filled.connection.execute("DROP TRIGGER fail")
    assert integrity.count_violations(filled) == {"nodes with neither fingerprint nor place in the queue": 1}


@pytest.mark.parametrize(
    "damage",
    [
        "INSERT INTO keyword_index(keyword_index, rowid, title, body, extra) VALUES ('delete', 1, '', 'needl', '')",
        "INSERT INTO keyword_index(rowid, title, body, extra) VALUES (1, '', 'phantom', '')",
        "INSERT INTO keyword_index(keyword_index) VALUES ('delete-all')",
        "DELETE FROM keyword_index_data WHERE id > 10",
    ],
)
def test_an_index_out_of_step_with_its_table_is_found_and_made_anew(filled: Store, damage: str) -> None:
    filled.connection.execute(damage)
    assert any("keyword index" in problem for problem in integrity.check_integrity(filled))
    integrity.repair_store(filled)
    assert integrity.check_integrity(filled) == []
    found = filled.keyword_search.rank_by_bm25(
        analyse_query("needle"), filled.filters.select_allowed(SearchFilter()), 9
    )
    assert len(found) == 4


def test_codes_of_vectors_that_are_gone_are_no_damage(filled: Store) -> None:
    filled.connection.execute("UPDATE fingerprints SET e1 = NULL WHERE node_key = 1")
    assert integrity.count_violations(filled) == {}


def test_codes_are_made_anew_as_wide_as_the_latest_models(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    with filled.transaction():
        model = filled.vectors.use_model("wider", 1024, now=NOW)
        row = vector_of("x", 1024)
        filled.vectors.put_fingerprint(
            filled.nodes.query_nodes()[0].key, model, {"e1": float16.pack_half(row)}, now=NOW + 1
        )
    assert integrity.count_violations(filled) == {}
    filled.connection.execute("DELETE FROM code_blocks")
    integrity.repair_store(filled)
    assert filled.connection.execute("SELECT length(codes) FROM code_blocks").fetchone()[0] == 2 * 128 * BLOCK_ROWS
    found, cosines = filled.vectors.find_nearest(row, filled.filters.select_allowed(SearchFilter()), model, 3)
    assert found.tolist() == [4] and np.allclose(cosines, [1.0], atol=1e-4)


def test_turns_whose_archive_is_gone_or_damaged_are_counted_and_left_as_they_are(filled: Store) -> None:
    assert integrity.count_unreadable_turns(filled) == 0
    filled.connection.execute("UPDATE chunk_turns SET packed = 1")
    filled.connection.execute("UPDATE chunks SET ctf = x'00ff'")
    assert integrity.count_unreadable_turns(filled) == 1
    filled.connection.execute(
        "UPDATE chunks SET ctf = NULL, archive_day = '2026-01-01', archive_offset = 0, archive_length = 9"
    )
    assert integrity.count_unreadable_turns(filled) == 1
    integrity.repair_store(filled)
    assert integrity.count_unreadable_turns(filled) == 1
    assert integrity.count_violations(filled) == {}
