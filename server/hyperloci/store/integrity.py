"""Integrity checks: find what is wrong in a database, and rebuild derived data from the primary rows."""

from __future__ import annotations

import sqlite3
from typing import Final

from hyperloci.errors import StoreCorruptError
from hyperloci.store.archive.compressed_turns import JOIN_PACKED, WHOLE_TEXT, uncomplaining
from hyperloci.store.database.error_translation import translate_error
from hyperloci.store.store import Store
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """One invariant: a query that counts violations, and the statements that repair them."""

    name: str
    count: str
    repair_statements: tuple[str, ...] = ()


CHECKS: Final = (
    HealthCheck(
        name="nodes without keywords",
        count="SELECT count(*) FROM nodes n WHERE NOT EXISTS (SELECT 1 FROM keywords k WHERE k.node_key = n.key)",
    ),
    HealthCheck(
        name="keywords without node",
        count="SELECT count(*) FROM keywords k WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.key = k.node_key)",
        repair_statements=("DELETE FROM keywords WHERE node_key NOT IN (SELECT key FROM nodes)",),
    ),
    HealthCheck(
        name="nodes with neither fingerprint nor place in the queue",
        count="SELECT count(*) FROM nodes n WHERE NOT EXISTS (SELECT 1 FROM fingerprints f WHERE f.node_key = n.key)"
        " AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.node_key = n.key)",
        repair_statements=(
            "INSERT OR IGNORE INTO pending(node_key, queued_at) SELECT key, updated_at FROM nodes"
            " WHERE key NOT IN (SELECT node_key FROM fingerprints)",
        ),
    ),
    HealthCheck(
        name="hyperedges with fewer than two members",
        count="SELECT count(*) FROM hyperedges h WHERE"
        " (SELECT count(*) FROM membership m WHERE m.hyperedge_key = h.key) < 2",
        repair_statements=(
            "DELETE FROM hyperedges WHERE"
            " (SELECT count(*) FROM membership m WHERE m.hyperedge_key = hyperedges.key) < 2",
        ),
    ),
    HealthCheck(
        name="wrong totals of keywords",
        count="SELECT NOT EXISTS (SELECT 1 FROM keyword_totals WHERE nodes = (SELECT count(*) FROM keywords)"
        " AND terms = (SELECT coalesce(sum(length), 0) FROM keywords))",
        repair_statements=(
            "INSERT OR REPLACE INTO keyword_totals(key, nodes, terms, rewritten)"
            " SELECT 1, count(*), coalesce(sum(length), 0), coalesce((SELECT rewritten FROM keyword_totals), 0) + 1"
            " FROM keywords",
        ),
    ),
    HealthCheck(
        name="terms with a wrong count of postings",
        count="SELECT count(*) FROM sparse_terms t WHERE t.postings <> coalesce("
        "(SELECT sum(length(p.postings) / 3) FROM sparse_postings p WHERE p.term_key = t.key), 0)",
        repair_statements=(),  # with the postings themselves
    ),
    HealthCheck(
        name="packed turns whose text is in no chunk",
        count="SELECT count(*) FROM chunk_turns q JOIN chunks c ON c.key = q.chunk_key"
        " WHERE q.packed = 1 AND c.ctf IS NULL AND c.archive_day IS NULL",
        repair_statements=(
            "UPDATE chunk_turns SET packed = 0 WHERE packed = 1 AND chunk_key IN"
            " (SELECT key FROM chunks WHERE ctf IS NULL AND archive_day IS NULL)",
        ),
    ),
    HealthCheck(
        name="entities with a wrong count of mentions",
        count="SELECT count(*) FROM entities e WHERE e.mention_count <>"
        " (SELECT count(*) FROM mentions m WHERE m.entity_key = e.node_key)",
        repair_statements=(
            "UPDATE entities SET mention_count ="
            " (SELECT count(*) FROM mentions m WHERE m.entity_key = entities.node_key) WHERE mention_count <>"
            " (SELECT count(*) FROM mentions m WHERE m.entity_key = entities.node_key)",
        ),
    ),
    HealthCheck(
        name="rows that refer to nothing",
        count="SELECT count(*) FROM pragma_foreign_key_check",
    ),
)


WRONG_CODES: Final = "blocks of vector codes that differ from the vectors"

WRONG_POSTINGS: Final = "an inverted index that differs from the memories' terms"

OPTIONAL_REFERENCES: Final = frozenset(
    {("nodes", "session_key"), ("positions", "file_key"), ("chunks", "node_key"), ("commits", "node_key")}
)
"""References that a row can do without."""


def check_integrity(store: Store) -> list[str]:
    """Return what SQLite finds wrong with the file and the keyword index; empty if the file is healthy."""
    problems = [row[0] for row in store.connection.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
    try:
        # Rank 1: compared with the table it indexes too, not only with itself.
        store.connection.execute("INSERT INTO keyword_index(keyword_index, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        if not isinstance(translate_error(error), StoreCorruptError):
            raise
        problems.append("keyword index: damaged")
    return problems


def count_violations(store: Store) -> dict[str, int]:
    """Return how often each check is violated, those that hold left out."""
    counts = {check.name: int(store.connection.execute(check.count).fetchone()[0]) for check in CHECKS}
    counts[WRONG_CODES] = store.vectors.count_wrong_blocks()
    counts[WRONG_POSTINGS] = int(store.sparse_index.differs_from_terms())
    return {name: count for name, count in counts.items() if count}


def count_unreadable_turns(store: Store) -> int:
    """Return of how many packed turns the whole text can't be read: their chunk, or its archive, is damaged or gone.

    This cannot be repaired: only the beginning of each text is in the database.
    """
    with uncomplaining():
        row = store.connection.execute(
            f"SELECT count(*) FROM nodes n{JOIN_PACKED} WHERE packed.node_key IS NOT NULL"
            " AND (chunk.ctf IS NOT NULL OR chunk.archive_day IS NOT NULL)"
            " AND packed_text(chunk.id, length(chunk.ctf), chunk.archive_day, chunk.archive_offset,"
            " chunk.archive_length, packed.place) IS NULL"
        ).fetchone()
    return int(row[0])


def repair_store(store: Store) -> None:
    """Repair every violation: derived data is rebuilt, and rows that refer to nothing are dropped.

    No memory is dropped: one whose scope is gone gets a scope of its own (`recovered-N`).
    """
    with store.transaction():
        store.connection.execute("INSERT INTO keyword_index(keyword_index) VALUES ('rebuild')")
        # Readers drop what they cached of the broken one.
        store.connection.execute("UPDATE keyword_totals SET rewritten = rewritten + 1")
        _repair_references(store.connection)
        for check in CHECKS:
            for statement in check.repair_statements:
                store.connection.execute(statement)
        rows = store.connection.execute(
            f"SELECT n.key, n.title, {WHOLE_TEXT} AS content FROM nodes n{JOIN_PACKED}"
            " WHERE n.key NOT IN (SELECT node_key FROM keywords)"
        ).fetchall()
        for row in rows:
            store.keywords.put_text(row["key"], title=row["title"], body=row["content"])
        store.vectors.rebuild_codes()
        store.sparse_index.rebuild_postings()


def _repair_references(connection: sqlite3.Connection) -> None:
    """Give lost scopes back, and empty or drop what else refers to nothing; cascades may leave more, so until none."""
    while broken := {(row[0], row[3]) for row in connection.execute("PRAGMA foreign_key_check")}:
        for table, number in sorted(broken):
            keys = connection.execute(f"PRAGMA foreign_key_list({table})")
            _, _, parent, column, parent_column, _, _, _ = next(tuple(key) for key in keys if key["id"] == number)
            lost = (
                f"{column} IS NOT NULL AND NOT EXISTS"
                f" (SELECT 1 FROM {parent} parent WHERE parent.{parent_column} = {table}.{column})"
            )
            if parent == "scopes":
                connection.execute(
                    "INSERT INTO scopes(key, id, name, created_at)"
                    f" SELECT DISTINCT {column}, 'recovered-' || {column}, 'recovered-' || {column}, 0"
                    f" FROM {table} WHERE {lost}"
                )
            elif (table, column) == ("chunks", "session_key"):
                # A chunk holds the texts of its turns: its session is recreated, the chunk is not dropped.
                connection.execute(
                    "INSERT INTO sessions(key, id, scope_key, started_at, last_seen_at, next_seq)"
                    " SELECT session_key, 'recovered-' || session_key, coalesce((SELECT n.scope_key FROM nodes n"
                    " WHERE n.session_key = chunks.session_key), (SELECT min(s.key) FROM scopes s)),"
                    f" min(started_at), max(ended_at), max(last_seq) + 1 FROM chunks WHERE {lost} GROUP BY session_key"
                )
            elif (table, column) in OPTIONAL_REFERENCES:
                connection.execute(f"UPDATE {table} SET {column} = NULL WHERE {lost}")
            else:
                connection.execute(f"DELETE FROM {table} WHERE {lost}")
