"""Purge: removes memories from a database file so that no byte of their text stays in it."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hyperloci.errors import BadRequestError, StoreBusyError, StoreError
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import NodeId, NodeKey
from hyperloci.model.node import Node
from hyperloci.model.pyramid import Digest
from hyperloci.store.archive.compressed_turns import JOIN_PACKED, WHOLE_TEXT
from hyperloci.store.database.connection import APPLICATION_ID, BUSY_TIMEOUT_MS
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.store.database.file_guard import RESCUED_INFIX
from hyperloci.store.ids import SHORT_ID
from hyperloci.store.memories.decay import has_faded
from hyperloci.store.memories.entities import Entity
from hyperloci.store.memories.facets import FacetRows
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.store.migration import latest_version, schema_version
from hyperloci.store.store import Store
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from hyperloci.system.data_paths import is_copy_of_another
from hyperloci.system.values import dataclass

PURGE_OPERATION: Final = "purge"
"""What the log says of a memory that somebody purged; its id, which tells nothing, stays there."""

DELETE_OPERATION: Final = "delete"
"""What it says of one that was forgotten for too long to be restored: nobody said that it is to be nowhere."""

_GONE: Final = (PURGE_OPERATION, DELETE_OPERATION)

PROBE_CHARS: Final = 20
"""A shorter text is compared whole: every other memory holds a word like `ok`."""

_DERIVING_LABELS: Final = ("derived_from", "supersedes", "summarizes", "updates")
"""Relations whose other end may repeat a memory in its own words."""


@dataclass(frozen=True, slots=True)
class ErasedMemory:
    """What was erased with a memory, and what remains.

    Attributes:
        id: the memory's.
        entities: names of entities that only this memory mentioned; they were erased too.
        alike: ids of memories that hold the same text or were made from it; they stay.
        source: the path of the file it was indexed from, which may bring it back.
    """

    id: NodeId
    entities: tuple[str, ...]
    alike: tuple[NodeId, ...]
    source: str | None


def was_purged(store: Store, node_id: str) -> bool:
    """Tell whether a memory of this id was here and is gone for good; an export may have brought it back since."""
    if store.nodes.get_node(node_id) is not None:
        return False
    return any(entry.operation in _GONE for entry in store.log.list_of_node(NodeId(node_id)))


def was_deleted(store: Store, node_id: str) -> bool:
    """Tell of a memory that is gone whether its thirty days were over, and nobody purged it."""
    ends = [entry.operation for entry in store.log.list_of_node(NodeId(node_id)) if entry.operation in _GONE]
    return bool(ends) and ends[-1] == DELETE_OPERATION


def find_purged(store: Store, said: str) -> NodeId | None:
    """Return the id of a memory that was here and is gone for good, by it or a beginning of it; None if there is none.

    The log has the ids of all that ever expired, of every project. A beginning shorter than lists show, mistyped, would
    be one of theirs by chance, and the backups would lose it.

    Raises:
        BadRequestError: several begin so.
    """
    if was_purged(store, said):
        return NodeId(said)
    if len(said) < SHORT_ID:
        return None
    ids = [id for id in store.log.find_ids(said, _GONE) if was_purged(store, id)]
    if len(ids) > 1:
        raise BadRequestError(f"id={said!r} matches several ids: {', '.join(ids)}. Give more characters of the id.")
    return ids[0] if ids else None


def erase_memory(store: Store, node_id: NodeId, *, now: int) -> ErasedMemory | None:
    """Delete a memory with everything attached to it, in one transaction; None if no memory has this id.

    Its log keeps the events without their texts. Traces in free pages go when the file is swept.
    """
    # Cells that are freed are overwritten with zeros from here on.
    store.connection.execute("PRAGMA secure_delete = ON")
    with store.transaction():
        node = store.nodes.get_node(node_id)
        if node is None:
            return None
        position = store.positions.get_positions([node.key]).get(node.key)
        _remove_from_chunk(store, node, now)
        alike = _find_alike(store, node)
        spoken_of = store.entities.list_of_node(node.key)
        _remove_from_context(store, node)
        lonely = _delete_with_entities(store, node, spoken_of, now)
    return ErasedMemory(
        node.id, tuple(entity.canonical_name for entity in lonely), alike, None if position is None else position.path
    )


def delete_expired(store: Store, node_id: NodeId, *, now: int) -> bool:
    """Delete a memory that was forgotten for too long to be restored; False if it is not forgotten.

    Unlike `erase_memory` it leaves to SQLite what becomes of the freed pages. Runs in a transaction.
    """
    node = store.nodes.get_node(node_id)
    if node is None or node.deleted_at is None:
        return False
    row = store.team.get_rows([node_id]).get(node_id)
    is_shared = node.visibility is Visibility.SHARED
    # Of what its author shares no longer, the team must not keep the text, nor have it again from a backup.
    is_withdrawn = not is_shared and row is not None and row.is_mine
    is_told = not has_faded(store.log, node_id) if is_shared else is_withdrawn
    is_news = is_told and bool(store.team.select_waiting([node_id]))
    _remove_from_chunk(store, node, now)
    _remove_from_context(store, node)
    operation = PURGE_OPERATION if is_withdrawn else DELETE_OPERATION
    _delete_with_entities(store, node, store.entities.list_of_node(node.key), now, operation)
    if not is_news:
        # Nobody purged it: the team knows that it was forgotten, and another member may have restored it since.
        # What fades here is nobody else's loss, also where the team could not be reached all the time.
        store.team.clear_outbox([node_id], store.team.find_last_entry())
    return True


def _delete_with_entities(
    store: Store, node: Node, spoken_of: Sequence[Entity], now: int, operation: str = PURGE_OPERATION
) -> list[Entity]:
    """Delete a memory, and the entities that only it spoke of; return those."""
    _delete_memory(store, node, now, operation)
    lonely = [entity for entity in spoken_of if _is_unused_entity(store.connection, entity.node_key)]
    for entity in lonely:
        known = store.nodes.get_by_key(entity.node_key)
        assert known is not None
        _delete_memory(store, known, now, operation)
    return lonely


def _remove_from_chunk(store: Store, node: Node, now: int) -> None:
    """Take a turn's text out of its chunk, and drop the summaries that may quote it; maintenance makes new ones."""
    found = store.chunks.find_place(node.key)
    if found is None or node.seq is None:
        return
    store.chunks.blank_turn(node.key)
    for chunk in store.chunks.find_covering(found[0].session_key, node.seq):
        store.chunks.set_digest(chunk, Digest(""), now=now)
        summary = None if chunk.node_key is None else store.nodes.get_by_key(chunk.node_key)
        if summary is not None:
            _delete_memory(store, summary, now)


def _delete_memory(store: Store, node: Node, now: int, operation: str = PURGE_OPERATION) -> None:
    connection = store.connection
    connection.execute(
        "UPDATE entities SET mention_count = mention_count - 1, summary = NULL, last_updated = ?"
        " WHERE node_key IN (SELECT entity_key FROM mentions WHERE node_key = ?)",
        (now, node.key),
    )
    FacetRows(connection).settle_disputes(node.key)
    joined = connection.execute("SELECT DISTINCT hyperedge_key FROM membership WHERE node_key = ?", (node.key,))
    edges = json.dumps([row[0] for row in joined])
    connection.execute(
        # Two others are enough: a commit joins thousands, and each of them may go.
        "DELETE FROM hyperedges WHERE key IN (SELECT value FROM json_each(?1)) AND (SELECT count(*) FROM"
        " (SELECT 1 FROM membership m WHERE m.hyperedge_key = hyperedges.key AND m.node_key <> ?2 LIMIT 2)) < 2",
        (edges, node.key),
    )
    connection.execute("UPDATE hyperedges SET evidence = NULL WHERE key IN (SELECT value FROM json_each(?))", (edges,))
    connection.execute(
        "UPDATE evolution_log SET reasoning = NULL WHERE id IN (SELECT log_id FROM evolution_nodes WHERE node_id = ?)",
        (node.id,),
    )
    _zero_codes(connection, node.key)
    store.sparse_index.drop_memories([node.key])
    store.topics.clear_keywords(node.key)
    connection.execute("DELETE FROM nodes WHERE key = ?", (node.key,))
    store.log.add_entry(operation, [node.id], now=now)


def _zero_codes(connection: sqlite3.Connection, key: NodeKey) -> None:
    """Overwrite a memory's codes; readers load its blocks anew."""
    block, slot = divmod(int(key), BLOCK_ROWS)
    rows = connection.execute(
        "UPDATE code_blocks SET version = random() WHERE block = ? RETURNING key, length(codes)", (block,)
    ).fetchall()
    for row in rows:
        width = row[1] // BLOCK_ROWS
        with connection.blobopen("code_blocks", "codes", int(row[0])) as blob:
            blob.seek(slot * width)
            blob.write(bytes(width))


def _remove_from_context(store: Store, node: Node) -> None:
    """Take a memory's words out of what helps find the turns right after it, or the facts told soon after it."""
    rows = store.connection.execute(
        f"SELECT n.key, n.title, {WHOLE_TEXT} AS content FROM nodes n{JOIN_PACKED} JOIN nodes purged ON purged.key = ?1"
        " WHERE n.session_key = purged.session_key AND n.seq > purged.seq AND n.seq <= coalesce("
        " (SELECT min(e.seq) FROM nodes e WHERE e.session_key = purged.session_key AND e.seq > purged.seq"
        " AND e.subtype = 'episode'), n.seq)",
        (node.key,),
    ).fetchall()
    for row in rows:
        store.keywords.put_text(row["key"], title=row["title"], body=row["content"], extra="")
    store.nodes.drop_told_before(node)


def _find_alike(store: Store, node: Node) -> tuple[NodeId, ...]:
    """Return the memories that repeat this one: its copies, its versions, and what was concluded from it."""
    long_enough = len(node.content) >= PROBE_CHARS
    rows = store.connection.execute(
        f"{SELECT_NODE} WHERE n.key <> ?1 AND (CASE WHEN ?3 THEN instr({WHOLE_TEXT}, ?2) > 0 ELSE {WHOLE_TEXT} = ?2 END"
        " OR n.key IN (SELECT b.node_key FROM membership a JOIN membership b ON b.hyperedge_key = a.hyperedge_key"
        " JOIN hyperedges h ON h.key = a.hyperedge_key"
        " WHERE a.node_key = ?1 AND h.label IN (SELECT value FROM json_each(?4)))) ORDER BY n.key",
        (node.key, node.content, long_enough, json.dumps(_DERIVING_LABELS)),
    )
    return tuple(node_from_row(row).id for row in rows)


def _is_unused_entity(connection: sqlite3.Connection, entity: NodeKey) -> bool:
    row = connection.execute(
        "SELECT NOT EXISTS (SELECT 1 FROM mentions WHERE entity_key = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM membership WHERE node_key = ?1)",
        (entity,),
    ).fetchone()
    return bool(row[0])


def sweep_file(store: Store) -> None:
    """Rewrite the database file from what is in it, and empty its write-ahead log.

    It needs as much free room as the database has, twice, while it runs.

    Raises:
        StoreBusyError: another session reads or writes for too long; what was erased may still lie in the log.
        StoreError: the disk is full, or the like.
    """
    connection = store.connection
    with translate_block_errors(store.path):
        # In a file, and not in memory as usual: it is as large as the database.
        connection.execute("PRAGMA temp_store = FILE")
        try:
            sweep_keywords(store)
            connection.execute("VACUUM")
        finally:
            connection.execute("PRAGMA temp_store = MEMORY")
        blocked = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if blocked:
        raise StoreBusyError(
            "The memory was deleted, but its text may still be in the database's log, which another session reads: "
            "close the other sessions and purge the same id again."
        )


def sweep_keywords(store: Store) -> None:
    """Drop the words of erased memories from the keyword index, and overwrite where they were.

    Raises:
        StoreError: the disk is full, or the like.
    """
    store.connection.execute("PRAGMA secure_delete = ON")
    # Deleting marks terms as deleted; merging all segments into one drops them.
    with store.transaction():
        store.connection.execute("INSERT INTO keyword_index(keyword_index) VALUES ('optimize')")


@dataclass(frozen=True, slots=True)
class PurgedBackups:
    """What became of the copies of a database that lie in its managed places.

    Attributes:
        rewritten: held the memory and hold it no more.
        deleted: held it and have a schema that this program can no longer edit.
        unreadable: could not be read or written, or hold it with such a schema and are another database's.
    """

    rewritten: tuple[Path, ...] = ()
    deleted: tuple[Path, ...] = ()
    unreadable: tuple[Path, ...] = ()


def list_managed_backups(database: Path, backup_dir: Path) -> list[Path]:
    """Return the copies that Hyperloci makes by itself: before migrations, restores and repairs, and of lost files."""
    return _find_in_managed_places(database, backup_dir, ".db")


def list_unfinished_backups(database: Path, backup_dir: Path) -> list[Path]:
    """Return unfinished copies in the places of managed backups."""
    return _find_in_managed_places(database, backup_dir, ".db.partial*")


def _find_in_managed_places(database: Path, backup_dir: Path, ending: str) -> list[Path]:
    stem = glob.escape(database.stem)
    places = ((backup_dir, "*"), (database.parent, f"{stem}-before-re*"), (database.parent, f"{stem}{RESCUED_INFIX}*"))
    return sorted({path for folder, name in places for path in folder.glob(name + ending) if path.is_file()})


def purge_from_backups(database: Path, paths: Sequence[Path], node_ids: Sequence[NodeId], *, now: int) -> PurgedBackups:
    """Take memories out of backups in the places of a database's; one that is another's is never deleted."""
    done: dict[str, list[Path]] = {"rewritten": [], "deleted": [], "unreadable": []}
    for path in paths:
        try:
            may_delete = not is_copy_of_another(str(path), str(database))
            state = _purge_from_backup(path, node_ids, now, may_delete=may_delete)
        except (sqlite3.Error, StoreError, OSError):
            state = "unreadable"
        if state is not None:
            done[state].append(path)
    return PurgedBackups(**{state: tuple(found) for state, found in done.items()})


def _purge_from_backup(path: Path, node_ids: Sequence[NodeId], now: int, *, may_delete: bool) -> str | None:
    with _open_backup(path) as connection:
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            return None
        wanted = json.dumps(list(node_ids))
        found = connection.execute(
            "SELECT id FROM nodes WHERE id IN (SELECT value FROM json_each(?))", (wanted,)
        ).fetchall()
        if not found:
            return None
        if schema_version(connection) == latest_version():
            store = Store(connection, path)
            for row in found:
                erase_memory(store, NodeId(row[0]), now=now)
            sweep_keywords(store)
            connection.execute("VACUUM")
            return "rewritten"
    if not may_delete:
        return "unreadable"
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    return "deleted"


@contextlib.contextmanager
def _open_backup(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a backup as a single file, without leaving a log beside it."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_TIMEOUT_MS / 1_000, isolation_level=None
    )
    with contextlib.closing(connection):
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_mode = DELETE")
        yield connection
    os.chmod(path, 0o600)
