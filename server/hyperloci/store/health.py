"""Checking a database against itself, and mending what is derived from the rows of truth."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from hyperloci.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that must hold: a query that counts violations, and the statements that mend them."""

    name: str
    count: str
    mend: tuple[str, ...] = ()


CHECKS: Final = (
    Check(
        name="nodes without keywords",
        count="SELECT count(*) FROM nodes n WHERE NOT EXISTS (SELECT 1 FROM keywords k WHERE k.node_key = n.key)",
    ),
    Check(
        name="keywords without node",
        count="SELECT count(*) FROM keywords k WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.key = k.node_key)",
        mend=("DELETE FROM keywords WHERE node_key NOT IN (SELECT key FROM nodes)",),
    ),
    Check(
        name="nodes with neither fingerprint nor place in the queue",
        count="SELECT count(*) FROM nodes n WHERE NOT EXISTS (SELECT 1 FROM fingerprints f WHERE f.node_key = n.key)"
        " AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.node_key = n.key)",
        mend=(
            "INSERT OR IGNORE INTO pending(node_key, queued_at) SELECT key, updated_at FROM nodes"
            " WHERE key NOT IN (SELECT node_key FROM fingerprints)",
        ),
    ),
    Check(
        name="hyperedges with fewer than two members",
        count="SELECT count(*) FROM hyperedges h WHERE"
        " (SELECT count(*) FROM membership m WHERE m.hyperedge_key = h.key) < 2",
        mend=(
            "DELETE FROM hyperedges WHERE"
            " (SELECT count(*) FROM membership m WHERE m.hyperedge_key = hyperedges.key) < 2",
        ),
    ),
    Check(
        name="rows that refer to nothing",
        count="SELECT count(*) FROM pragma_foreign_key_check",
    ),
)


def integrity(connection: sqlite3.Connection) -> list[str]:
    """Return what SQLite finds wrong with the file and the keyword index; empty when all is well."""
    problems = [row[0] for row in connection.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
    try:
        connection.execute("INSERT INTO keyword_index(keyword_index) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        problems.append(f"keyword index: {error}")
    return problems


def violations(store: Store) -> dict[str, int]:
    """Return how often each check is violated, those that hold left out."""
    counts = {check.name: int(store.connection.execute(check.count).fetchone()[0]) for check in CHECKS}
    return {name: count for name, count in counts.items() if count}


def repair(store: Store) -> None:
    """Rebuild what is derived: the keyword index, missing keywords, the queue; drop what refers to nothing."""
    with store.transaction():
        for check in CHECKS:
            for statement in check.mend:
                store.connection.execute(statement)
        rows = store.connection.execute(
            "SELECT key, title, content FROM nodes WHERE key NOT IN (SELECT node_key FROM keywords)"
        ).fetchall()
        for row in rows:
            store.keywords.put(row["key"], title=row["title"], body=row["content"])
        store.connection.execute("INSERT INTO keyword_index(keyword_index) VALUES ('rebuild')")
