"""Indexed files: their snippets, the commits that changed them, and the folder they were read from.

All worktrees of a repository are one project, whose table of files shows one tree at a time: the one that was indexed
last. What stands in another tree only is forgotten then, and comes back with its ids and vectors when that one is
indexed again. A session in another tree is told whose files it is shown.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store.database.meta import Meta
from hyperloci.store.database.path_columns import path_as_text
from hyperloci.store.json_keys import encode_keys
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedFile:
    """What was known of a file when it was last indexed."""

    key: int
    path: str
    size: int
    mtime_ns: int
    content_hash: bytes

    @property
    def is_cut_anew(self) -> bool:
        """Whether the program wants it read anew though nobody is known to have changed it: a migration, or a retry."""
        return not self.content_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A snippet of a file as it stands in the database, enough to match it with a new chunk."""

    node_key: NodeKey
    node_id: str
    content_hash: bytes
    symbol: str | None
    char_start: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenChunk:
    """A snippet that was forgotten: which, where it stood, and why it was last forgotten."""

    node_id: str
    content_hash: bytes
    path: str | None
    symbol: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePiece:
    """A living snippet of a file: its text, where it stands, the symbol it is of and the headings above it."""

    node_id: str
    kind: str
    content: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    symbol: str | None
    symbol_kind: str | None
    section_path: tuple[str, ...]


MAX_VALUES: Final = 500
"""Values bound in one statement; SQLite's own limit was 999 for long."""

_INDEXED_ROOT: Final = "indexed_from."
"""In the table of named values, before the scope's id."""


_LAST_REASON: Final = (
    "(SELECT l.reasoning FROM evolution_nodes e JOIN evolution_log l ON l.id = e.log_id"
    " WHERE e.node_id = n.id AND l.operation = 'forget' ORDER BY l.id DESC LIMIT 1)"
)
"""Why the node `n` was last forgotten."""


class Files:
    """The indexed files of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._meta = Meta(connection)

    def get_indexed_root(self, scope_id: str) -> str | None:
        """Return the folder whose files a project's are, None where none were indexed."""
        return self._meta.get(_INDEXED_ROOT + scope_id)

    def is_indexed_root(self, scope_id: str, root: str) -> bool:
        """Tell whether a project's files are those of the folder `root`."""
        return self.get_indexed_root(scope_id) == path_as_text(root)

    def set_indexed_root(self, scope_id: str, root: str) -> None:
        """Note that a project's files are those of the folder `root`."""
        self._meta.set(_INDEXED_ROOT + scope_id, path_as_text(root))

    def was_indexed_before(self, scope_key: int, before: int) -> bool:
        """Tell whether a file of a project was last indexed before a time, in milliseconds."""
        row = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM files WHERE scope_key = ? AND indexed_at < ?)", (scope_key, before)
        ).fetchone()
        return bool(row[0])

    def list_files(self, scope_key: int) -> dict[str, IndexedFile]:
        """Return a project's indexed files by path."""
        rows = self._connection.execute(
            "SELECT key, path, size, mtime_ns, content_hash FROM files WHERE scope_key = ?", (scope_key,)
        )
        return {row["path"]: _file_from_row(row) for row in rows}

    def get_file(self, scope_key: int, path: str) -> IndexedFile | None:
        """Return one indexed file, or None."""
        row = self._connection.execute(
            "SELECT key, path, size, mtime_ns, content_hash FROM files WHERE scope_key = ? AND path = ?",
            (scope_key, path),
        ).fetchone()
        return _file_from_row(row) if row else None

    def find_paths(self, scope_key: int, name: str, limit: int) -> list[str]:
        """Return the paths of indexed files that are, or end in, a path as people write it: `sync.py`, `io/sync.py`."""
        rows = self._connection.execute(
            "SELECT path FROM files WHERE scope_key = ?1 AND (path = ?2 OR substr(path, -length(?2) - 1) = '/' || ?2)"
            " ORDER BY path LIMIT ?3",
            (scope_key, name, limit),
        )
        return [row[0] for row in rows]

    def put_file(self, scope_key: int, path: str, *, size: int, mtime_ns: int, content_hash: bytes, now: int) -> int:
        """Store what is known of a file and return its key."""
        row = self._connection.execute(
            """
            INSERT INTO files(scope_key, path, size, mtime_ns, content_hash, indexed_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT(scope_key, path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns,
                content_hash = excluded.content_hash, indexed_at = excluded.indexed_at
            RETURNING key
            """,
            (scope_key, path, size, mtime_ns, content_hash, now),
        ).fetchone()
        return int(row[0])

    def update_stat(self, key: int, *, size: int, mtime_ns: int) -> None:
        """Remember a new size and time of a file whose content did not change."""
        self._connection.execute("UPDATE files SET size = ?, mtime_ns = ? WHERE key = ?", (size, mtime_ns, key))

    def clear_stat(self, scope_key: int, path: str) -> None:
        """Have a file read and compared again the next time, whatever its size and time say."""
        self._connection.execute(
            "UPDATE files SET mtime_ns = -1, content_hash = x'' WHERE scope_key = ? AND path = ?", (scope_key, path)
        )

    def rename_file(self, key: int, path: str) -> None:
        """Give a file, the positions in it and the anchors to it a new path; its nodes stay."""
        self._connection.execute(
            "UPDATE OR REPLACE anchors SET path = ?2 FROM files f"
            " WHERE f.key = ?1 AND anchors.path = f.path AND anchors.scope_key = f.scope_key",
            (key, path),
        )
        self._connection.execute("UPDATE files SET path = ? WHERE key = ?", (path, key))
        self._connection.execute("UPDATE positions SET path = ? WHERE file_key = ?", (path, key))

    def remove_file(self, key: int) -> None:
        """Forget that a file was indexed; its nodes are the caller's to move or forget."""
        self._connection.execute("DELETE FROM files WHERE key = ?", (key,))

    def list_chunks(self, file_keys: Iterable[int]) -> dict[int, list[StoredChunk]]:
        """Return the living snippets of each file, in their order."""
        found: dict[int, list[StoredChunk]] = {}
        for row in self._connection.execute(
            """
            SELECT p.file_key, n.key, n.id, n.title, n.content_hash, p.symbol, p.char_start
            FROM json_each(?) j JOIN positions p ON p.file_key = j.value JOIN nodes n ON n.key = p.node_key
            WHERE n.deleted_at IS NULL ORDER BY p.file_key, p.char_start, n.key
            """,
            (json.dumps(list(file_keys)),),
        ):
            found.setdefault(row["file_key"], []).append(_chunk_from_row(row))
        return found

    def list_forgotten_at(self, scope_key: int, path: str, *, reason: str, since: int) -> list[StoredChunk]:
        """Return the snippets of a path that were last forgotten for a reason since a time, in their order."""
        rows = self._connection.execute(
            f"""
            SELECT n.key, n.id, n.title, n.content_hash, p.symbol, p.char_start
            FROM positions p INDEXED BY idx_positions_path CROSS JOIN nodes n ON n.key = p.node_key
            WHERE p.path = ? AND n.scope_key = ? AND n.type = 'snippet' AND n.deleted_at >= ? AND {_LAST_REASON} = ?
            ORDER BY p.char_start, n.key
            """,
            (path, scope_key, since, reason),
        )
        return [_chunk_from_row(row) for row in rows]

    def list_texts_forgotten_at(self, scope_key: int, path: str, *, but_for: Collection[str]) -> list[str]:
        """Return the texts of a path's snippets that were last forgotten for a reason that is none of some."""
        rows = self._connection.execute(
            f"""
            SELECT n.content FROM positions p INDEXED BY idx_positions_path CROSS JOIN nodes n ON n.key = p.node_key
            WHERE p.path = ? AND n.scope_key = ? AND n.type = 'snippet' AND n.deleted_at IS NOT NULL
                AND coalesce({_LAST_REASON}, '') NOT IN (SELECT value FROM json_each(?))
            """,
            (path, scope_key, json.dumps(sorted(but_for))),
        )
        return [row[0] for row in rows]

    def list_pieces(self, scope_key: int, path: str) -> list[FilePiece]:
        """Return the living snippets of a file with their texts, in their order."""
        rows = self._connection.execute(
            """
            SELECT n.id, n.subtype, n.content, p.char_start, p.char_end, p.line_start, p.line_end, p.symbol,
                p.section_path, json_extract(c.facts, '$.kind') AS symbol_kind
            FROM files f JOIN positions p ON p.file_key = f.key JOIN nodes n ON n.key = p.node_key
            LEFT JOIN code_facts c ON c.node_key = n.key
            WHERE f.scope_key = ? AND f.path = ? AND n.deleted_at IS NULL ORDER BY p.char_start, n.key
            """,
            (scope_key, path),
        )
        return [
            FilePiece(
                node_id=row["id"],
                kind=row["subtype"],
                content=row["content"],
                char_start=row["char_start"],
                char_end=row["char_end"],
                line_start=row["line_start"],
                line_end=row["line_end"],
                symbol=row["symbol"],
                symbol_kind=row["symbol_kind"],
                section_path=tuple(json.loads(row["section_path"] or "[]")),
            )
            for row in rows
        ]

    def list_documents(self, scope_key: int) -> list[tuple[str, str]]:
        """Return path and text of every living Markdown snippet of a project's files, in the order of the files."""
        rows = self._connection.execute(
            "SELECT f.path, n.content FROM files f JOIN positions p ON p.file_key = f.key"
            " JOIN nodes n ON n.key = p.node_key WHERE f.scope_key = ? AND n.subtype = 'markdown'"
            " AND n.deleted_at IS NULL ORDER BY f.path, p.char_start, n.key",
            (scope_key,),
        )
        return [(row[0], row[1]) for row in rows]

    def count_chunks(self, file_keys: Iterable[int]) -> int:
        """Return how many living snippets these files have."""
        row = self._connection.execute(
            "SELECT count(*) FROM json_each(?) j JOIN positions p ON p.file_key = j.value"
            " JOIN nodes n ON n.key = p.node_key WHERE n.deleted_at IS NULL",
            (json.dumps(list(file_keys)),),
        ).fetchone()
        return int(row[0])

    def find_forgotten_chunks(self, scope_key: int, hashes: Sequence[bytes]) -> list[ForgottenChunk]:
        """Return the forgotten snippets of a project that have one of these texts, latest first."""
        found: list[ForgottenChunk] = []
        for start in range(0, len(hashes), MAX_VALUES):
            some = hashes[start : start + MAX_VALUES]
            rows = self._connection.execute(
                f"""
                SELECT n.id, n.content_hash, p.path, p.symbol, {_LAST_REASON} AS reason
                FROM nodes n INDEXED BY idx_nodes_content LEFT JOIN positions p ON p.node_key = n.key
                WHERE n.content_hash IN ({", ".join("?" * len(some))}) AND n.scope_key = ?
                    AND n.type = 'snippet' AND n.deleted_at IS NOT NULL
                ORDER BY n.deleted_at DESC, n.key DESC
                """,
                (*some, scope_key),
            )
            found.extend(
                ForgottenChunk(
                    node_id=row["id"],
                    content_hash=row["content_hash"],
                    path=row["path"],
                    symbol=row["symbol"],
                    reason=row["reason"],
                )
                for row in rows
            )
        return found

    def put_place(self, node: NodeKey, place: str) -> None:
        """Note where a snippet stands now, once it moved (`nodes.place`)."""
        self._connection.execute("UPDATE nodes SET place = ? WHERE key = ?", (place, node))

    def find_nodes_at_lines(self, scope_key: int, path: str, start: int, end: int) -> list[NodeKey]:
        """Return the living snippets of a file that overlap lines `start`..`end` (1-based, inclusive)."""
        rows = self._connection.execute(
            """
            SELECT n.key FROM files f JOIN positions p ON p.file_key = f.key JOIN nodes n ON n.key = p.node_key
            WHERE f.scope_key = ? AND f.path = ? AND p.line_start <= ? AND p.line_end >= ? AND n.deleted_at IS NULL
            ORDER BY n.key
            """,
            (scope_key, path, end, start),
        )
        return [NodeKey(row[0]) for row in rows]

    def has_commit(self, scope_key: int, sha: str) -> bool:
        """Whether a commit is known: stored, or not wanted."""
        row = self._connection.execute(
            "SELECT 1 FROM commits WHERE scope_key = ? AND sha = ?", (scope_key, sha)
        ).fetchone()
        return row is not None

    def put_commit(self, scope_key: int, sha: str, node: NodeKey | None) -> None:
        """Remember which node a commit became; None for one that can't be stored."""
        self._connection.execute(
            "INSERT OR REPLACE INTO commits(scope_key, sha, node_key) VALUES (?, ?, ?)", (scope_key, sha, node)
        )

    def get_commits(self, nodes: Iterable[int]) -> dict[NodeKey, str]:
        """Return the hash of the commit behind each of `nodes` that is one."""
        rows = self._connection.execute(
            "SELECT c.node_key, c.sha FROM json_each(?) j JOIN commits c ON c.node_key = j.value",
            (encode_keys(nodes),),
        )
        return {NodeKey(row[0]): row[1] for row in rows}


def _chunk_from_row(row: sqlite3.Row) -> StoredChunk:
    return StoredChunk(
        node_key=NodeKey(row["key"]),
        node_id=row["id"],
        content_hash=row["content_hash"],
        symbol=row["symbol"],
        char_start=row["char_start"],
        title=row["title"],
    )


def _file_from_row(row: sqlite3.Row) -> IndexedFile:
    return IndexedFile(
        key=row["key"],
        path=row["path"],
        size=row["size"],
        mtime_ns=row["mtime_ns"],
        content_hash=row["content_hash"],
    )
