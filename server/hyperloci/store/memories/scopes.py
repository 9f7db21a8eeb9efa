"""Scopes: `global`, and one for each project."""

from __future__ import annotations

import sqlite3

from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.store.database.path_columns import path_as_text
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True)
class StoredScope:
    """A stored scope: its key, id and a name for people."""

    key: int
    id: str
    name: str
    root: str | None


class Scopes:
    """The scopes of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ensure_scope(
        self,
        scope_id: str,
        *,
        now: int,
        name: str | None = None,
        root: str | None = None,
        remote: str | None = None,
        root_commit: str | None = None,
    ) -> int:
        """Return the key of a scope, making it if it is new; what is known better now is kept."""
        # Asked each time: a key remembered from a transaction that was rolled back, or from before another process
        # merged two scopes, may by now be another project's.
        known = self.find_key(scope_id)
        if known is not None and root is None:
            return known
        self._connection.execute(
            """
            INSERT INTO scopes(id, name, root, remote, root_commit, created_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT(id) DO UPDATE SET
                name = CASE WHEN excluded.name = excluded.id THEN name ELSE excluded.name END,
                root = coalesce(excluded.root, root),
                remote = coalesce(excluded.remote, remote),
                root_commit = coalesce(excluded.root_commit, root_commit)
            """,
            (scope_id, name or scope_id, None if root is None else path_as_text(root), remote, root_commit, now),
        )
        key = self.find_key(scope_id)
        assert key is not None
        return key

    def find_key(self, scope_id: str) -> int | None:
        """Return a scope's key, or None."""
        row = self._connection.execute("SELECT key FROM scopes WHERE id = ?", (scope_id,)).fetchone()
        return int(row[0]) if row else None

    def merge_into(self, old_id: str, new_id: str) -> bool:
        """Let a project that turned out to be a known one keep its memories: those of `old_id` go to `new_id`.

        Returns whether there was anything. Runs inside a transaction.
        """
        old, new = self.find_key(old_id), self.find_key(new_id)
        if old is None or old == new:
            return False
        if new is None:
            self._connection.execute("UPDATE scopes SET id = ? WHERE key = ?", (new_id, old))
        else:
            # Files are indexed anew under the id in force; their snippets are matched by content.
            self._connection.execute(
                "DELETE FROM files WHERE scope_key = ?1 AND path IN (SELECT path FROM files WHERE scope_key = ?2)",
                (old, new),
            )
            self._connection.execute(
                "DELETE FROM commits WHERE scope_key = ?1 AND sha IN (SELECT sha FROM commits WHERE scope_key = ?2)",
                (old, new),
            )
            for table in ("nodes", "sessions", "files", "commits", "anchors", "topics", "places"):
                self._connection.execute(f"UPDATE {table} SET scope_key = ? WHERE scope_key = ?", (new, old))
            # What both exchanged is known once; what is left of the other goes with it.
            self._connection.execute(
                "UPDATE OR IGNORE shared_records SET scope_key = ? WHERE scope_key = ?", (new, old)
            )
            # The project in force stays whose it is in the team; the other's place there is taken only if it has none.
            self._connection.execute("UPDATE OR IGNORE team_projects SET scope_key = ? WHERE scope_key = ?", (new, old))
            for column in ("from_scope_key", "to_scope_key"):
                self._connection.execute(f"UPDATE place_links SET {column} = ? WHERE {column} = ?", (new, old))
            self._connection.execute("DELETE FROM scopes WHERE key = ?", (old,))
        return True

    def list_scopes(self) -> list[StoredScope]:
        """Return every scope, `global` first."""
        rows = self._connection.execute(
            "SELECT key, id, name, root FROM scopes ORDER BY id <> ?, name", (GLOBAL_SCOPE,)
        )
        return [StoredScope(*row) for row in rows]
