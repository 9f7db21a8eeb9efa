"""Numbered migrations, databases of older and newer programs, and backups."""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from numpy.typing import NDArray

from hyperloci.errors import (
    BadRequestError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity, migration
from hyperloci.store.database import database_copy, database_files
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.store.migration import Migration, latest_version, load_migrations, split_statements
from hyperloci.store.vectors import fingerprints, float16, int8
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from hyperloci.store.vectors.fingerprints import Fingerprints
from hyperloci.store.vectors.scan_codes import make_sign_code, words_per_code
from hyperloci.store.vectors.stored_vectors import make_code
from hyperloci.system.data_paths import name_copies
from tests.support import NOW, FakeClock, add, random_rows

Matrix = NDArray[np.float32]

DATA = Path(__file__).parents[1] / "data"
KEPT = sorted(DATA.glob("schema-v*.db.gz"))


def unpacked(kept: Path, folder: Path) -> Path:
    path = folder / "memory.db"
    path.write_bytes(gzip.decompress(kept.read_bytes()))
    return path


def schema_of(path: Path) -> list[tuple[str, str, str | None]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    return [tuple(row) for row in rows]


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [step.number for step in load_migrations()] == list(range(1, len(load_migrations()) + 1))


def test_a_database_of_every_schema_that_was_released_is_kept() -> None:
    assert {kept.name for kept in KEPT} == {f"schema-v{number}.db.gz" for number in (1, 9, 18)}


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.name)
def test_a_database_of_every_released_schema_opens_with_all_it_held(kept: Path, tmp_path: Path) -> None:
    path = unpacked(kept, tmp_path)
    with Store.open(path) as store:
        facts = store.nodes.query_nodes(type="fact")
        assert [(node.content, node.scope) for node in facts] == [("The launch window opens on Tuesdays.", "git:1234")]
        hits = store.keyword_search.rank_by_bm25(
            analyse_query("launch window"), store.filters.select_allowed(SearchFilter()), 5
        )
        assert list(hits) == [facts[0].key]
        (edge,) = store.edges.list_of_node(facts[0].key)
        forgotten = store.nodes.get_by_key(edge.members[0].node)
        assert forgotten is not None and forgotten.deleted_at == NOW
        assert store.nodes.restore_node(forgotten.id, now=NOW)
        assert [entity.canonical_name for entity in store.entities.list_of_node(forgotten.key)] == ["Valve"]
        assert integrity.check_integrity(store) == []
        assert integrity.count_violations(store) == {}


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.name)
def test_an_old_database_ends_with_the_schema_of_a_new_one(kept: Path, tmp_path: Path) -> None:
    old = unpacked(kept, tmp_path)
    Store.open(old).close()
    Store.open(tmp_path / "new.db").close()
    assert schema_of(old) == schema_of(tmp_path / "new.db")


def test_memories_of_a_program_that_knew_no_authors_are_private_and_name_nobody(tmp_path: Path) -> None:
    with Store.open(unpacked(DATA / "schema-v18.db.gz", tmp_path)) as store:
        (fact,) = store.nodes.query_nodes(type="fact")
        assert (fact.author, fact.agent, fact.visibility) == (None, None, "private")
        assert fact.session_id is not None
        session = store.sessions.get_session(fact.session_id)
        assert session is not None and (session.client, session.client_version) == (None, None)


@pytest.mark.req("B.03")
def test_a_queue_from_before_knows_whose_its_nodes_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, steps = tmp_path / "memory.db", load_migrations()[:28]
    with monkeypatch.context() as patch:
        patch.setattr(migration, "load_migrations", lambda: steps)
        with Store.open(path) as store:
            nodes = [add(store, f"{number}", scope=scope) for number, scope in enumerate(("one", "two", "two"))]
            with store.transaction():
                store.nodes.delete_node(nodes[2].id, now=NOW)

    with Store.open(path) as store:
        keys = {scope.id: scope.key for scope in store.scopes.list_scopes()}
        rows = store.connection.execute("SELECT node_key, scope_key FROM pending ORDER BY node_key").fetchall()
        assert [tuple(row) for row in rows] == [
            (nodes[0].key, keys["one"]),
            (nodes[1].key, keys["two"]),
            (nodes[2].key, None),
        ]


# Step 9: vectors of E1 take two bytes a dimension instead of four, and their codes two bits instead of one.


@pytest.fixture
def version_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty database as schema 8 was; whoever opens it afterwards takes it to the newest."""
    path = tmp_path / "memory.db"
    steps = load_migrations()[:8]
    with monkeypatch.context() as patch:
        patch.setattr(migration, "load_migrations", lambda: steps)
        Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        assert old.execute("PRAGMA user_version").fetchone()[0] == 8
    yield path


def fill_8(path: Path, rows: Matrix, *, model: str = "m", first: int = 1, spaces: Sequence[str] = ("e1", "e7")) -> None:
    """Write memories with vectors as programs of schema 8 did: E1 as float32, codes by signs alone."""
    packed = {"e1": [row.tobytes() for row in rows], "e7": [int8.pack_int8(row) for row in rows]}
    keys = range(first, first + len(rows))
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        old.execute("INSERT INTO models(id, dimensions, first_used) VALUES (?, ?, 1)", (model, rows.shape[1]))
        old.execute("INSERT OR REPLACE INTO meta(name, value) VALUES ('model_in_use', ?)", (model,))
        (model_key,) = old.execute("SELECT key FROM models WHERE id = ?", (model,)).fetchone()
        old.executemany(
            "INSERT INTO nodes(key, id, type, content, origin, scope_key, content_hash, event_time, created_at,"
            " updated_at, last_accessed, valid_from)"
            " VALUES (?, hex(randomblob(16)), 'fact', 'x', 'tool', 1, x'00', 1, 1, 1, 1, 1)",
            [(key,) for key in keys],
        )
        old.executemany(
            "INSERT INTO keywords(node_key, title, body, extra, length) VALUES (?, '', 'x', '', 1)", zip(keys)
        )
        old.executemany(
            f"INSERT INTO fingerprints(node_key, model_key, made_at, {', '.join(spaces)}, e9)"
            f" VALUES (?, ?, ?, {', '.join('?' * len(spaces))}, x'0a')",
            [(key, model_key, key, *(packed[space][key - first] for space in spaces)) for key in keys],
        )
        old.execute("DELETE FROM pending WHERE node_key IN (SELECT node_key FROM fingerprints)")
        block, slot = divmod(first, BLOCK_ROWS)
        codes = [bytes(8 * words_per_code(rows.shape[1]))] * slot + [make_sign_code(row) for row in rows]
        old.executemany(
            "INSERT OR REPLACE INTO code_blocks(space, block, version, codes) VALUES (?, ?, 1, ?)",
            [(space, block, b"".join(codes).ljust(BLOCK_ROWS * len(codes[0]), b"\0")) for space in spaces],
        )


def vectors_in(path: Path) -> dict[int, tuple[bytes | None, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[0]: row[1:] for row in connection.execute("SELECT node_key, e1, e7, e9 FROM fingerprints")}


@pytest.mark.req("E.01")
@pytest.mark.parametrize("exact_below", [0, 10_000])
def test_vectors_of_four_bytes_become_halves_and_find_what_they_found(
    version_8: Path, monkeypatch: pytest.MonkeyPatch, exact_below: int
) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", exact_below)
    rows = random_rows(400)
    fill_8(version_8, rows)
    before = vectors_in(version_8)
    with Store.open(version_8) as store:
        assert vectors_in(version_8) == {key: (float16.pack_half(rows[key - 1]), *before[key][1:]) for key in before}
        assert integrity.count_violations(store) == {} and integrity.check_integrity(store) == []
        widths = store.connection.execute("SELECT space, length(codes) / ? FROM code_blocks", (BLOCK_ROWS,)).fetchall()
        assert {tuple(row) for row in widths} == {("e1", 2 * 48), ("e7", 48), ("e9", 8)}
        for query in random_rows(5, seed=8):
            exact = rows @ query
            wanted = np.argsort(-exact)[:10]
            found, cosines = store.vectors.find_nearest(query, store.filters.select_allowed(SearchFilter()), 1, 10)
            assert found.tolist() == (wanted + 1).tolist()
            np.testing.assert_allclose(cosines, exact[wanted], atol=1e-4)


def test_codes_of_every_block_are_made_of_the_vectors_that_were_there(version_8: Path) -> None:
    one, other = random_rows(3), random_rows(3, seed=8)
    fill_8(version_8, one)
    fill_8(version_8, other, model="another", first=BLOCK_ROWS + 4, spaces=["e1"])
    with Store.open(version_8) as store:
        found = store.connection.execute("SELECT space, block, codes FROM code_blocks WHERE space <> 'e9'").fetchall()
        codes = {(row["space"], row["block"]): row["codes"] for row in found}
        assert codes.keys() == {("e1", 0), ("e7", 0), ("e1", 1)}
        for block, slot, row in ((0, 1, one[0]), (0, 3, one[2]), (1, 4, other[0])):
            assert codes["e1", block][slot * 96 : (slot + 1) * 96] == make_code("e1", float16.pack_half(row))
        assert codes["e7", 0][48 : 2 * 48] == make_code("e7", int8.pack_int8(one[0]))
        assert store.vectors.count_wrong_blocks() == 0


def test_vectors_of_two_models_become_halves_and_codes_are_those_of_the_later(version_8: Path) -> None:
    old, new = random_rows(3, 384), random_rows(2, 128)
    fill_8(version_8, old, model="old")
    fill_8(version_8, new, model="new", first=4)
    with Store.open(version_8) as store:
        assert [row[0] for row in vectors_in(version_8).values()] == [float16.pack_half(row) for row in (*old, *new)]
        assert integrity.count_violations(store) == {}
        model = store.vectors.find_model("new")
        assert model is not None
        everyone = store.filters.select_allowed(SearchFilter())
        assert store.vectors.find_nearest(new[1], everyone, model, 1)[0].tolist() == [5]
        assert store.vectors.find_nearest(new[1], everyone, model, 9, roughly=True)[0].tolist() == [5, 4]


def test_a_memory_that_e1_did_not_see_still_is_not_seen(version_8: Path) -> None:
    rows = random_rows(2)
    fill_8(version_8, rows, spaces=["e7"])
    with Store.open(version_8) as store:
        assert vectors_in(version_8) == {key: (None, int8.pack_int8(rows[key - 1]), b"\x0a") for key in (1, 2)}
        spaces = store.connection.execute("SELECT space FROM code_blocks ORDER BY space").fetchall()
        assert [row["space"] for row in spaces] == ["e7", "e9"]
        assert integrity.count_violations(store) == {}
        found, _ = store.vectors.find_nearest(rows[0], store.filters.select_allowed(SearchFilter()), 1, 5)
        assert found.tolist() == []


def test_a_memory_without_a_vector_of_any_kind_needs_no_codes(version_8: Path) -> None:
    with Store.open(version_8) as store:
        assert migration.schema_version(store.connection) == latest_version()
        assert store.connection.execute("SELECT count(*) FROM code_blocks").fetchone()[0] == 0
        assert integrity.count_violations(store) == {}


def test_the_copy_from_before_has_the_vectors_as_they_were(version_8: Path, tmp_path: Path) -> None:
    fill_8(version_8, random_rows(3))
    before = vectors_in(version_8)
    Store.open(version_8, backup_dir=tmp_path / "backups", clock=lambda: 77).close()
    copy = tmp_path / "backups" / f"{name_copies(str(version_8))}-v8-77.db"
    assert vectors_in(copy) == before
    # And can be migrated itself, when it is restored.
    Store.open(copy).close()
    assert vectors_in(copy) == vectors_in(version_8) != before


def test_vectors_stay_as_they_were_when_their_codes_can_not_be_made(
    version_8: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_8(version_8, random_rows(3))
    before = vectors_in(version_8)
    with monkeypatch.context() as patch, pytest.raises(StoreFullError):
        patch.setattr(Fingerprints, "rebuild_codes", no_room_for_codes)
        Store.open(version_8)
    assert vectors_in(version_8) == before
    with Store.open(version_8) as store:
        assert integrity.count_violations(store) == {}
    assert [row[0] for row in vectors_in(version_8).values()] == [float16.pack_half(row) for row in random_rows(3)]


def no_room_for_codes(_: Fingerprints) -> None:
    raise StoreFullError("no room")


def test_a_new_database_says_whose_and_how_new_it_is(store: Store) -> None:
    assert store.connection.execute("PRAGMA application_id").fetchone()[0] == int.from_bytes(b"HYLC", "big")
    assert migration.schema_version(store.connection) == migration.latest_version()


@pytest.fixture
def next_step(monkeypatch: pytest.MonkeyPatch) -> Migration:
    """A migration after the present ones."""
    steps = load_migrations()
    step = Migration(len(steps) + 1, "next.sql", "CREATE TABLE further(x);\nINSERT INTO further VALUES (1);\n")
    monkeypatch.setattr(migration, "load_migrations", lambda: (*steps, step))
    return step


def test_a_database_in_use_is_copied_before_it_is_migrated_and_that_is_said(
    tmp_path: Path, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    path, backups = tmp_path / "memory.db", tmp_path / "backups"
    with Store.open(path, backup_dir=backups) as store:
        add(store, "kept")
    assert not backups.exists() and caplog.text == ""
    step: Migration = request.getfixturevalue("next_step")
    with Store.open(path, backup_dir=backups, clock=lambda: 77) as store:
        assert migration.schema_version(store.connection) == step.number
        assert store.connection.execute("SELECT x FROM further").fetchone()[0] == 1
    (backup,) = backups.iterdir()
    assert backup.name == f"{name_copies(str(path))}-v{step.number - 1}-77.db"
    assert f"upgrading {path} to schema {step.number}; as it was: {backup}" in caplog.text
    with closing(sqlite3.connect(backup)) as copy:
        assert copy.execute("PRAGMA user_version").fetchone()[0] == step.number - 1
        assert copy.execute("SELECT content FROM nodes").fetchall() == [("kept",)]


@pytest.mark.usefixtures("next_step")
def test_a_new_database_takes_every_step_and_needs_no_backup(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        assert store.connection.execute("SELECT x FROM further").fetchone()[0] == 1
    assert not (tmp_path / "backups").exists()


def test_a_step_that_fails_leaves_no_trace_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, next_step: Migration
) -> None:
    path = tmp_path / "memory.db"
    broken = replace(next_step, sql=next_step.sql + "INSERT INTO nowhere VALUES (1);\n")
    good = migration.load_migrations()
    monkeypatch.setattr(migration, "load_migrations", lambda: (*good[:-1], broken))
    with pytest.raises(StoreError, match="no such table"):
        Store.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == next_step.number - 1
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'further'").fetchone()[0] == 0
    monkeypatch.setattr(migration, "load_migrations", lambda: good)
    with Store.open(path) as store:
        assert store.connection.execute("SELECT x FROM further").fetchone()[0] == 1


def test_a_step_that_another_process_took_is_not_taken_twice(tmp_path: Path, next_step: Migration) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        assert migration._apply_step(store.connection, next_step) is False
        assert store.connection.execute("SELECT count(*) FROM further").fetchone()[0] == 1


def test_whoever_waits_too_long_for_a_migration_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_files, "LOCK_SECONDS", 0.01)
    path = tmp_path / "memory.db"
    with FileLock(f"{path}.migrate.lock"), pytest.raises(StoreBusyError, match="migrating"):
        Store.open(path)
    Store.open(path).close()


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_database_opened_by_a_link_waits_for_the_lock_of_the_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_files, "LOCK_SECONDS", 0.01)
    (tmp_path / "link.db").symlink_to(tmp_path / "memory.db")
    with FileLock(f"{tmp_path / 'memory.db'}.migrate.lock"), pytest.raises(StoreBusyError):
        Store.open(tmp_path / "link.db")


def with_version(path: Path, version: int) -> bytes:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_schema_is_refused_and_left_as_it_is(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "memory.db"
    Store.open(path).close()
    before = with_version(path, migration.latest_version() + 1)
    with pytest.raises(StoreVersionError, match="Update it: README"):
        Store.open(path, read_only=read_only)
    assert path.read_bytes() == before


def test_a_reader_does_not_migrate_and_says_who_does(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store.open(path).close()
    before = with_version(path, 0)
    with pytest.raises(StoreVersionError, match="hyperloci migrate"):
        Store.open(path, read_only=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE bookmarks(url)",
        "PRAGMA application_id = 1234",
        "PRAGMA user_version = 1; VACUUM",
        f"CREATE TABLE bookmarks(url); PRAGMA application_id = 5; PRAGMA user_version = {10**6}",
    ],
)
def test_a_database_of_another_program_is_refused_and_not_a_byte_is_changed(
    tmp_path: Path, script: str, read_only: bool
) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.executescript(script)
    os.chmod(path, 0o644)
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="another program, so it was left alone"):
        Store.open(path, read_only=read_only)
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o644
    assert [entry.name for entry in tmp_path.iterdir()] == ["theirs.db"]


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with Store.open(path) as store:
        assert len(store.scopes.list_scopes()) == 1


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        ("  \n\n", []),
        ("-- only a comment\n", []),
        ("SELECT 1;\nSELECT 2;\n", ["SELECT 1;\n", "SELECT 2;\n"]),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT\n  ';'\n;\n", ["SELECT\n  ';'\n;\n"]),
        ("-- a; b\nSELECT 1;\n", ["-- a; b\nSELECT 1;\n"]),
        (
            "CREATE TRIGGER t AFTER INSERT ON x BEGIN\n  SELECT 1;\n  SELECT 2;\nEND;\nSELECT 3;\n",
            ["CREATE TRIGGER t AFTER INSERT ON x BEGIN\n  SELECT 1;\n  SELECT 2;\nEND;\n", "SELECT 3;\n"],
        ),
    ],
)
def test_a_script_is_cut_into_its_statements(script: str, statements: list[str]) -> None:
    assert list(split_statements(script)) == statements


def test_no_statement_of_a_shipped_migration_is_lost_in_cutting() -> None:
    for step in load_migrations():
        pieces = list(split_statements(step.sql))
        assert "".join(pieces).strip() == step.sql.strip()
        assert all(sqlite3.complete_statement(piece) for piece in pieces)


def test_a_backup_is_a_whole_database_in_one_private_file(store: Store, tmp_path: Path) -> None:
    node = add(store, "kept")
    target = store.back_up(tmp_path / "backups" / "copy.db")
    assert target == tmp_path / "backups" / "copy.db"
    assert [entry.name for entry in target.parent.iterdir()] == ["copy.db"]
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
    with Store.open(target) as opened:
        assert opened.nodes.get_node(node.id) == node


def test_a_backup_of_a_database_that_others_write_to_is_one_state_of_it(store: Store, tmp_path: Path) -> None:
    with Store.open(store.path) as other:
        for number in range(20):
            with other.transaction():
                first, second = (add(other, f"{name} {number}") for name in ("left", "right"))
                other.edges.link_nodes("relates_to", first.key, [second.key], now=NOW)
            with Store.open(store.back_up(tmp_path / f"{number}.db")) as copy:
                stats = copy.count_everything()
                assert (stats["nodes"], stats["edges"]) == (2 * (number + 1), number + 1)
                assert integrity.count_violations(copy) == {}


def test_a_backup_replaces_an_older_one_and_what_lay_beside_it(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    store.back_up(target)
    with Store.open(tmp_path / "older.db") as older:
        add(older, "older")
        stale = Path(f"{older.path}-wal").read_bytes()
    Path(f"{target}-wal").write_bytes(stale)
    node = add(store, "newer")
    store.back_up(target)
    with Store.open(target) as copy:
        assert copy.nodes.query_nodes() == [node]


def test_a_backup_that_fails_leaves_the_older_one_and_no_half_file(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "backups" / "copy.db"
    node = add(store, "kept")
    store.back_up(target)
    before = target.read_bytes()

    def no_room(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(StoreFullError, match="No space left"):
        store.back_up(target)
    assert target.read_bytes() == before
    assert [entry.name for entry in target.parent.iterdir()] == ["copy.db"]
    assert store.nodes.get_node(node.id) == node


@pytest.mark.parametrize("target", ["memory.db", "./memory.db", "link.db"])
def test_the_database_is_no_place_for_its_own_backup(store: Store, target: str) -> None:
    (store.path.parent / "link.db").symlink_to(store.path)
    add(store, "kept")
    with pytest.raises(BadRequestError, match="the database itself"):
        store.back_up(store.path.parent / target)
    assert len(store.nodes.query_nodes()) == 1


@pytest.mark.skipif(os.name != "posix", reason="links that anybody may make")
def test_a_backup_by_a_link_is_where_it_leads_and_the_link_stays(store: Store, tmp_path: Path) -> None:
    node = add(store, "kept")
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "link.db", tmp_path / "elsewhere" / "copy.db"
    link.symlink_to(target)
    for _ in range(2):
        assert store.back_up(link) == link
    assert link.is_symlink() and [entry.name for entry in target.parent.iterdir()] == ["copy.db"]
    with Store.open(target) as copy:
        assert copy.nodes.query_nodes() == [node]


@pytest.mark.skipif(os.name != "posix", reason="pipes with a name")
def test_a_backup_takes_the_place_of_no_pipe_or_device(store: Store, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadRequestError, match="is no regular file"):
        store.back_up(pipe)
    assert pipe.is_fifo()


def test_a_backup_into_a_file_instead_of_a_folder_is_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        store.back_up(tmp_path / "file" / "copy.db")


def test_a_copy_over_a_locked_database_gives_up(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    monkeypatch.setattr(database_copy, "LOCK_SECONDS", 0.01)
    with closing(sqlite3.connect(tmp_path / "other.db", isolation_level=None, timeout=0)) as target:
        target.execute("CREATE TABLE t(x)")
        with closing(sqlite3.connect(tmp_path / "other.db", isolation_level=None)) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreBusyError):
                database_copy.copy_database(store.connection, target)


def test_a_program_that_still_runs_writes_nothing_into_what_a_newer_one_has_changed(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as newer:
        newer.execute(f"PRAGMA user_version = {latest_version() + 1}")
    with pytest.raises(StoreVersionError, match="Restart it"):
        add(store, "written as it used to be")
    assert store.nodes.query_nodes() == []
