"""Places: which folder has which id, which project its memories belong to, and what the user linked."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any, Final

from hyperloci.model.kinds import Origin
from hyperloci.store.database.path_columns import decode_path, encode_path, path_as_text
from hyperloci.system.values import dataclass

FROM_FILES: Final = (Origin.CODE, Origin.MARKDOWN, Origin.COMMIT)
"""Origins of memories that a project's files and history give, and give again: a link leaves them where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPlace:
    """A folder that was opened.

    Attributes:
        id: what identifies the place itself (`project.identity.identify_project`).
        scope: id of the scope that its memories have.
        path: the Git folder, or the plain folder.
        root: the working tree that was opened first.
        token_hash: of the token in the Git folder.
        inode: `device:inode` of `path`, None where the system gives none.
        remote, root_commit, claimed_name: what the repository claims.
        reason: why it has this scope: `place`, `moved`, `adopted` (from an older version) or `linked`.
        first_seen_at, last_seen_at, told_at: milliseconds; `told_at`: when the user was told what looks like it.
    """

    id: str
    scope: str
    path: str
    root: str
    token_hash: str | None
    inode: str | None
    remote: str | None
    root_commit: str | None
    claimed_name: str | None
    reason: str
    first_seen_at: int
    last_seen_at: int
    told_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProject:
    """A scope with what people need to recognise it.

    Attributes:
        scope: its id.
        name: for people.
        root: where it lies, or lay last, as text.
        remote, root_commit: what its repository claimed.
        memories: living ones that don't come from its files or history.
        indexed: pieces of its code and documents, and its commits.
        last_used_at: milliseconds; None where nothing was ever stored.
    """

    scope: str
    name: str
    root: str | None
    remote: str | None
    root_commit: str | None
    memories: int
    indexed: int
    last_used_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeLink:
    """One place that the user joined to a project's memory.

    Attributes:
        key: of its row.
        place_id: the place; `root` is its folder.
        joined: the scope joined to, `name` is its name.
        own: the scope that the place had.
        linked_at, unlinked_at: milliseconds; `unlinked_at` is None while it holds.
    """

    key: int
    place_id: str
    root: str
    joined: str
    name: str
    own: str
    linked_at: int
    unlinked_at: int | None


_PATHS: Final = frozenset({"path", "root"})
_PLACE_COLUMNS: Final = ", ".join(f"p.{field.name}" for field in fields(ProjectPlace) if field.name != "scope")
_PLACE: Final = f"SELECT s.id AS scope, {_PLACE_COLUMNS} FROM places p JOIN scopes s ON s.key = p.scope_key"
_IS_FROM_FILES: Final = "(" + ", ".join(f"'{origin}'" for origin in FROM_FILES) + ")"


class Places:
    """The places of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get_place(self, place_id: str) -> ProjectPlace | None:
        """Return a place by its id."""
        return next(iter(self._select_places("WHERE p.id = ?", place_id)), None)

    def get_scope_id(self, place_id: str) -> str:
        """Return the scope that a place's memories have: that of its own, unless it is known to have another's."""
        row = self._connection.execute(
            "SELECT s.id FROM places p JOIN scopes s ON s.key = p.scope_key WHERE p.id = ?", (place_id,)
        ).fetchone()
        return str(row[0]) if row else place_id

    def find_by_token(self, token_hash: str) -> list[ProjectPlace]:
        """Return the places whose Git folder had this token, the one seen last first."""
        return self._select_places("WHERE p.token_hash = ? ORDER BY p.last_seen_at DESC, p.id", token_hash)

    def find_by_path(self, path: str) -> list[ProjectPlace]:
        """Return the places that lay at a path, the one seen last first."""
        return self._select_places("WHERE p.path = ? OR p.root = ?1 ORDER BY p.last_seen_at DESC, p.id", path)

    def list_of_scope(self, scope: str) -> list[ProjectPlace]:
        """Return the places whose memory is that of a scope."""
        return self._select_places("WHERE s.id = ? ORDER BY p.id", scope)

    def _select_places(self, condition: str, value: str) -> list[ProjectPlace]:
        rows = self._connection.execute(f"{_PLACE} {condition}", (encode_path(value),))
        return [ProjectPlace(**_decode_row(row)) for row in rows]

    def add_place(self, place: ProjectPlace) -> None:
        """Note a place, or what is known of it now; its scope must exist. Runs inside a transaction."""
        names = [field.name for field in fields(ProjectPlace) if field.name != "scope"]
        marks = ", ".join(f":{name}" for name in names)
        kept = ("id", "first_seen_at", "told_at")
        changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in kept)
        self._connection.execute(
            f"INSERT INTO places(scope_key, {', '.join(names)})"
            f" SELECT key, {marks} FROM scopes WHERE id = :scope"
            f" ON CONFLICT(id) DO UPDATE SET scope_key = excluded.scope_key, {changes}",
            {field.name: _encode_column(field.name, getattr(place, field.name)) for field in fields(ProjectPlace)},
        )
        self._connection.execute(
            "DELETE FROM unplaced_scopes WHERE scope_key = (SELECT key FROM scopes WHERE id = ?)", (place.scope,)
        )

    def note_seen(self, place_id: str, *, inode: str | None, now: int) -> None:
        """Note that a place was opened. Runs inside a transaction."""
        self._connection.execute(
            "UPDATE places SET last_seen_at = max(last_seen_at, ?), inode = ? WHERE id = ?", (now, inode, place_id)
        )

    def add_claims(self, place_id: str, *, remote: str | None, root_commit: str | None) -> None:
        """Note what a repository claims where nothing was known of it, also of its memory if that is not a linked one.

        Runs inside a transaction.
        """
        for statement in (
            "UPDATE places SET remote = coalesce(remote, ?1), root_commit = coalesce(root_commit, ?2) WHERE id = ?3",
            "UPDATE scopes SET remote = coalesce(remote, ?1), root_commit = coalesce(root_commit, ?2)"
            " WHERE key = (SELECT scope_key FROM places WHERE id = ?3 AND reason <> 'linked')",
        ):
            self._connection.execute(statement, (remote, root_commit, place_id))

    def mark_as_told(self, place_id: str, *, now: int) -> bool:
        """Note that the user is told now what a place looks like; False where they were. Runs inside a transaction."""
        cursor = self._connection.execute(
            "UPDATE places SET told_at = ? WHERE id = ? AND told_at IS NULL", (now, place_id)
        )
        return cursor.rowcount == 1

    def find_unplaced_scopes(self, scope_ids: Sequence[str]) -> list[tuple[str, str | None]]:
        """Return those of some scopes that an older version made and no place has taken over, with their folders."""
        found = []
        for scope_id in scope_ids:
            row = self._connection.execute(
                "SELECT s.id, s.root FROM scopes s JOIN unplaced_scopes u ON u.scope_key = s.key WHERE s.id = ?",
                (scope_id,),
            ).fetchone()
            if row is not None:
                found.append((str(row[0]), row[1]))
        return found

    def find_claiming_scopes(
        self, *, remote: str | None, root_commit: str | None, name: str | None, root: str
    ) -> list[str]:
        """Return the ids of the scopes that share a claim, or a folder, with a place."""
        rows = self._connection.execute(
            "SELECT id FROM scopes WHERE remote = ? OR root_commit = ? OR name = ? OR root = ?",
            (remote, root_commit, name, path_as_text(root)),
        )
        return [str(row[0]) for row in rows]

    def list_projects(self, scope_ids: Collection[str] | None = None) -> list[KnownProject]:
        """Return every project (of some scopes), the one used last first, without those joined to another."""
        chosen = None if scope_ids is None else json.dumps(list(scope_ids))
        rows = self._connection.execute(
            f"""
            SELECT s.id AS scope, s.name AS name, s.root AS root, s.remote AS remote, s.root_commit AS root_commit,
                count(n.key) FILTER (WHERE n.deleted_at IS NULL AND n.type <> 'entity'
                    AND n.origin NOT IN {_IS_FROM_FILES}) AS memories,
                count(n.key) FILTER (WHERE n.deleted_at IS NULL AND n.type <> 'entity'
                    AND n.origin IN {_IS_FROM_FILES}) AS indexed,
                max(n.last_accessed) AS last_used_at
            FROM scopes s LEFT JOIN nodes n ON n.scope_key = s.key
            WHERE s.id <> 'global' AND (?1 IS NULL OR s.id IN (SELECT value FROM json_each(?1))) AND NOT EXISTS (
                SELECT 1 FROM place_links l WHERE l.from_scope_key = s.key AND l.unlinked_at IS NULL
                AND NOT EXISTS (SELECT 1 FROM places p WHERE p.scope_key = s.key))
            GROUP BY s.key ORDER BY last_used_at DESC, s.id
            """,
            (chosen,),
        )
        return [KnownProject(**_decode_row(row)) for row in rows]

    def list_scopes_with_place(self) -> frozenset[str]:
        """Return the ids of the scopes that are the memory of a folder which was opened."""
        return frozenset(
            row[0] for row in self._connection.execute("SELECT s.id FROM places p JOIN scopes s ON s.key = p.scope_key")
        )

    # -- links -------------------------------------------------------------------------------------------------------

    def link_scope(self, place_id: str, target: str, *, now: int) -> None:
        """Give a place the memory of another scope, and bring along what was said and remembered at it.

        What its own files and history gave stays under its own scope: they are indexed anew. Runs inside a transaction.
        """
        own, joined = (
            self._fetch_key("SELECT scope_key FROM places WHERE id = ?", place_id),
            self._fetch_key("SELECT key FROM scopes WHERE id = ?", target),
        )
        cursor = self._connection.execute(
            "INSERT INTO place_links(place_id, from_scope_key, to_scope_key, linked_at) VALUES (?, ?, ?, ?)",
            (place_id, own, joined, now),
        )
        if not self._is_shared(place_id, own):
            self._connection.execute(
                f"""
                INSERT INTO place_link_rows(link_key, kind, row_key)
                SELECT ?1, 'node', key FROM nodes WHERE scope_key = ?2 AND origin NOT IN {_IS_FROM_FILES}
                UNION ALL SELECT ?1, 'session', key FROM sessions WHERE scope_key = ?2
                """,
                (cursor.lastrowid, own),
            )
            self._carry_sessions(int(cursor.lastrowid or 0), own, joined)
        self._connection.execute(
            "UPDATE places SET scope_key = ?, reason = 'linked', last_seen_at = ? WHERE id = ?", (joined, now, place_id)
        )

    def unlink_scope(self, link: ScopeLink, *, now: int) -> None:
        """Give a place its own memory back, with what came from there; what was stored since stays where it is.

        Runs inside a transaction.
        """
        own, joined = (
            self._fetch_key("SELECT key FROM scopes WHERE id = ?", scope) for scope in (link.own, link.joined)
        )
        self._carry_sessions(link.key, joined, own)
        self._connection.execute(
            "UPDATE places SET scope_key = ?, reason = 'place', last_seen_at = ? WHERE id = ?",
            (own, now, link.place_id),
        )
        self._connection.execute("UPDATE place_links SET unlinked_at = ? WHERE key = ?", (now, link.key))
        self._connection.execute("DELETE FROM place_link_rows WHERE link_key = ?", (link.key,))

    def list_links(self, place_id: str | None = None) -> list[ScopeLink]:
        """Return the links, of one place or of all, undone ones too, latest first."""
        rows = self._connection.execute(
            """
            SELECT l.key, l.place_id, p.root, t.id AS joined, t.name, o.id AS own, l.linked_at, l.unlinked_at
            FROM place_links l JOIN places p ON p.id = l.place_id
            JOIN scopes t ON t.key = l.to_scope_key JOIN scopes o ON o.key = l.from_scope_key
            WHERE ?1 IS NULL OR l.place_id = ?1 ORDER BY l.key DESC
            """,
            (place_id,),
        )
        return [ScopeLink(**_decode_row(row)) for row in rows]

    def _carry_sessions(self, link_key: int, from_key: int, to_key: int) -> None:
        for kind, table in (("node", "nodes"), ("session", "sessions")):
            self._connection.execute(
                f"UPDATE {table} SET scope_key = ?1 WHERE scope_key = ?2 AND key IN"
                " (SELECT row_key FROM place_link_rows WHERE link_key = ?3 AND kind = ?4)",
                (to_key, from_key, link_key, kind),
            )
        self._connection.execute(
            "UPDATE anchors SET scope_key = ?1 WHERE scope_key = ?2 AND node_key IN"
            " (SELECT row_key FROM place_link_rows WHERE link_key = ?3 AND kind = 'node')",
            (to_key, from_key, link_key),
        )

    def _is_shared(self, place_id: str, scope_key: int) -> bool:
        """Whether a scope is that of another place too, which is not just where this one lay before it moved."""
        row = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM places o JOIN places p ON p.id = ?1 WHERE o.scope_key = ?2 AND o.id <> p.id"
            " AND (o.reason = 'linked' OR o.token_hash IS NOT p.token_hash))",
            (place_id, scope_key),
        ).fetchone()
        return bool(row[0])

    def _fetch_key(self, statement: str, value: object) -> int:
        return int(self._connection.execute(statement, (value,)).fetchone()[0])


def _decode_row(row: sqlite3.Row) -> dict[str, Any]:
    return {name: decode_path(row[name]) if name in _PATHS else row[name] for name in row.keys()}  # noqa: SIM118


def _encode_column(name: str, value: Any) -> Any:
    return encode_path(value) if name in _PATHS else value
