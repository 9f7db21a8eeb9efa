"""Line commits: the commits that wrote most of the lines of a snippet, as they stand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from hyperloci.model.kinds import NodeKey
from hyperloci.store.database.meta import Meta
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile:
    """A file with code.

    `blob`: Git's id of the content that its commits were asked for; None where no branch leads to one of them now.
    """

    key: int
    path: str
    content_hash: bytes
    blob: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnippetLines:
    """Where a living snippet of a file stands: its first and last line, from 1."""

    node_key: NodeKey
    first: int
    last: int


class LineCommits:
    """The line commits of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._meta = Meta(connection)

    def get_head(self, scope_key: int) -> tuple[str, str]:
        """Return the commit at which all of a project's files were asked for, and the mark of where it was cut off.

        The commit is empty before all were.
        """
        head, _, cut_off = (self._meta.get(f"line_commits.{scope_key}") or "").partition(" ")
        return head, cut_off

    def set_head(self, scope_key: int, head: str, cut_off: str) -> None:
        """Note at which commit all files of a project were asked for, and the mark of where it is cut off."""
        self._meta.set(f"line_commits.{scope_key}", f"{head} {cut_off}".rstrip())

    def forget_files(self, scope_key: int, cut_off: str) -> None:
        """Have all files of a project asked for anew, once, as its history is cut off elsewhere now."""
        self._connection.execute(
            "DELETE FROM line_commit_files WHERE file_key IN (SELECT key FROM files WHERE scope_key = ?)", (scope_key,)
        )
        self.set_head(scope_key, "", cut_off)

    def list_code_files(self, scope_key: int) -> list[CodeFile]:
        """Return a project's files that hold living snippets of code, in the order of their paths."""
        rows = self._connection.execute(
            "WITH rewritten AS (SELECT p.file_key FROM commits c JOIN nodes n ON n.key = c.node_key"
            " JOIN line_commits l ON l.commit_key = n.key JOIN positions p ON p.node_key = l.node_key"
            " JOIN nodes s ON s.key = l.node_key"
            " WHERE c.scope_key = ?1 AND n.valid_until IS NOT NULL AND s.subtype = 'code' AND s.deleted_at IS NULL)"
            "SELECT f.key, f.path, f.content_hash, iif(f.key IN (SELECT file_key FROM rewritten), NULL, l.blob)"
            " FROM files f"
            " LEFT JOIN line_commit_files l ON l.file_key = f.key"
            " WHERE f.scope_key = ?1 AND EXISTS (SELECT 1 FROM positions p JOIN nodes n ON n.key = p.node_key"
            " WHERE p.file_key = f.key AND n.subtype = 'code' AND n.deleted_at IS NULL) ORDER BY f.path",
            (scope_key,),
        )
        return [CodeFile(key=row[0], path=row[1], content_hash=row[2], blob=row[3]) for row in rows]

    def list_snippets(self, file_key: int) -> list[SnippetLines]:
        """Return the living snippets of code of a file."""
        rows = self._connection.execute(
            "SELECT n.key, p.line_start, p.line_end FROM positions p JOIN nodes n ON n.key = p.node_key"
            " WHERE p.file_key = ? AND n.subtype = 'code' AND n.deleted_at IS NULL",
            (file_key,),
        )
        return [SnippetLines(node_key=NodeKey(row[0]), first=row[1], last=row[2]) for row in rows]

    def put_file(self, file: CodeFile, blob: str, found: Mapping[NodeKey, Sequence[str]], scope_key: int) -> None:
        """Replace the line commits of a file's snippets.

        Args:
            file: the file.
            blob: Git's id of the content that was asked for.
            found: hashes of commits by snippet; those that are not stored are left out.
            scope_key: the project's scope.
        """
        self._connection.executemany("DELETE FROM line_commits WHERE node_key = ?", [(int(key),) for key in found])
        self._connection.execute(
            "INSERT INTO line_commits(node_key, commit_key)"
            " SELECT s.key, c.node_key FROM json_each(?1) s, json_each(s.value) j"
            " CROSS JOIN commits c ON c.scope_key = ?2 AND c.sha = j.value WHERE c.node_key IS NOT NULL",
            (json.dumps({str(int(key)): list(shas) for key, shas in found.items()}), scope_key),
        )
        self._connection.execute(
            "INSERT OR REPLACE INTO line_commit_files(file_key, blob) VALUES (?, ?)", (file.key, blob)
        )

    def find_commits(self, keys: Iterable[int]) -> dict[NodeKey, list[NodeKey]]:
        """Return the commits behind the lines of each of these snippets; forgotten and withheld ones are left out."""
        found: dict[NodeKey, list[NodeKey]] = {}
        for row in self._connection.execute(
            "SELECT l.node_key, l.commit_key FROM json_each(?) j CROSS JOIN line_commits l ON l.node_key = j.value"
            f" JOIN nodes n ON n.key = l.commit_key WHERE n.deleted_at IS NULL AND {NOT_WITHHELD}",
            (encode_keys(keys),),
        ):
            found.setdefault(NodeKey(row[0]), []).append(NodeKey(row[1]))
        return found
