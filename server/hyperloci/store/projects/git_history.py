"""Git history in the database: which commits are known, how far the rest has been read, former names of files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHistoryState:
    """How far a project's history is stored.

    Attributes:
        whole_to: the commit before which every commit that is wanted is known; None while some are missing.
        basis: what that rests on: where the clone is cut off, and how many commits are wanted.
        waiting: commits that are wanted and not known yet.
        older: commits that are not wanted, by the setting `history_commits`.
        tips: commits that all stored ones are before, or are themselves.
    """

    whole_to: str | None = None
    basis: str = ""
    waiting: int = 0
    older: int = 0
    tips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCommit:
    """A commit that is stored; `date` is that of its author, in ms since 1970."""

    key: NodeKey
    sha: str
    title: str
    content: str
    date: int


_STORED_COMMIT: Final = (
    "SELECT n.key, c.sha, coalesce(n.title, ''), n.content, n.event_time"
    " FROM commits c JOIN nodes n ON n.key = c.node_key WHERE c.scope_key = ? AND n.deleted_at IS NULL"
)


class CommitHistory:
    """The commits of one database's projects. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get_state(self, scope_key: int) -> CommitHistoryState | None:
        """Return how far a project's history is stored, None before it was looked at."""
        row = self._connection.execute(
            "SELECT whole_to, basis, waiting, older, tips FROM histories WHERE scope_key = ?", (scope_key,)
        ).fetchone()
        if row is None:
            return None
        return CommitHistoryState(
            whole_to=row[0], basis=row[1], waiting=row[2], older=row[3], tips=tuple(json.loads(row[4]))
        )

    def put_state(self, scope_key: int, state: CommitHistoryState) -> None:
        """Note how far a project's history is stored."""
        self._connection.execute(
            "INSERT OR REPLACE INTO histories(scope_key, whole_to, basis, waiting, older, tips)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (scope_key, state.whole_to, state.basis, state.waiting, state.older, json.dumps(state.tips)),
        )

    def count_commits(self, scope_key: int) -> int:
        """Return how many commits of a project are stored that a branch leads to."""
        row = self._connection.execute(
            "SELECT count(*) FROM commits c JOIN nodes n ON n.key = c.node_key"
            " WHERE c.scope_key = ? AND n.valid_until IS NULL",
            (scope_key,),
        ).fetchone()
        return int(row[0])

    def reduce_waiting(self, scope_key: int, commits: int) -> None:
        """Note that so many commits wait no longer."""
        self._connection.execute(
            "UPDATE histories SET waiting = max(0, waiting - ?) WHERE scope_key = ?", (commits, scope_key)
        )

    # -- commits -----------------------------------------------------------------------------------------------------

    def find_known(self, scope_key: int, shas: Sequence[str]) -> set[str]:
        """Return those of some commits that are known, with a node or without."""
        rows = self._connection.execute(
            "SELECT c.sha FROM json_each(?2) j CROSS JOIN commits c ON c.scope_key = ?1 AND c.sha = j.value",
            (scope_key, json.dumps(shas)),
        )
        return {row[0] for row in rows}

    def get_node_ids(self, scope_key: int, shas: Iterable[str]) -> dict[str, str]:
        """Return the ids of the nodes that commits became, by hash."""
        rows = self._connection.execute(
            "SELECT c.sha, n.id FROM json_each(?2) j CROSS JOIN commits c ON c.scope_key = ?1 AND c.sha = j.value"
            " JOIN nodes n ON n.key = c.node_key",
            (scope_key, json.dumps(list(shas))),
        )
        return {row[0]: row[1] for row in rows}

    def list_commits(self, scope_key: int) -> dict[str, str]:
        """Return the ids of all nodes that a project's commits became, by hash."""
        rows = self._connection.execute(
            "SELECT c.sha, n.id FROM commits c JOIN nodes n ON n.key = c.node_key WHERE c.scope_key = ?", (scope_key,)
        )
        return {row[0]: row[1] for row in rows}

    def list_cut_off(self, scope_key: int) -> dict[str, str]:
        """Return the ids of the nodes of commits that a shallow clone was cut off at when they were stored, by hash."""
        rows = self._connection.execute(
            "SELECT c.sha, n.id FROM commits c JOIN nodes n ON n.key = c.node_key"
            " WHERE c.scope_key = ? AND json_extract(n.metadata, '$.cut_off') AND n.deleted_at IS NULL",
            (scope_key,),
        )
        return {row[0]: row[1] for row in rows}

    def list_reverting(self, scope_key: int, label: str) -> list[StoredCommit]:
        """Return the commits whose message may say that they revert others and that no edge of a label begins with."""
        rows = self._connection.execute(
            f"{_STORED_COMMIT} AND (n.content LIKE '%revert%' OR n.content LIKE '%reapply%') AND NOT EXISTS ("
            "SELECT 1 FROM membership m JOIN hyperedges h ON h.key = m.hyperedge_key"
            " WHERE m.node_key = n.key AND m.position = 0 AND h.label = ?) ORDER BY n.key",
            (scope_key, label),
        )
        return [_commit_from_row(row) for row in rows]

    def find_by_hash(self, scope_key: int, beginnings: Iterable[str]) -> dict[str, StoredCommit]:
        """Return the stored commits by hashes or their beginnings; where several begin so, none."""
        found: dict[str, StoredCommit] = {}
        for beginning in beginnings:
            rows = self._connection.execute(
                f"{_STORED_COMMIT} AND c.sha >= ? AND c.sha < ? LIMIT 2",
                (scope_key, beginning, f"{beginning}g"),
            ).fetchall()
            if len(rows) == 1:
                found[beginning] = _commit_from_row(rows[0])
        return found

    def find_by_title(self, scope_key: int, titles: Iterable[str]) -> dict[str, list[StoredCommit]]:
        """Return the stored commits by their subjects."""
        rows = self._connection.execute(
            f"{_STORED_COMMIT} AND n.title IN (SELECT value FROM json_each(?)) ORDER BY n.key",
            (scope_key, json.dumps(list(titles))),
        )
        found: dict[str, list[StoredCommit]] = {}
        for row in rows:
            found.setdefault(row[2], []).append(_commit_from_row(row))
        return found

    def list_latest(self, scopes: Sequence[str]) -> list[NodeKey]:
        """Return the commits of some projects that a branch leads to, those committed last first."""
        rows = self._connection.execute(
            "SELECT n.key FROM scopes s JOIN commits c ON c.scope_key = s.key JOIN nodes n ON n.key = c.node_key"
            " WHERE s.id IN (SELECT value FROM json_each(?)) AND n.valid_until IS NULL AND n.deleted_at IS NULL"
            " ORDER BY coalesce(json_extract(n.metadata, '$.committed'), n.event_time) DESC,"
            " n.event_time DESC, n.key DESC",
            (json.dumps(list(scopes)),),
        )
        return [NodeKey(row[0]) for row in rows]

    def list_ended(self, scope_key: int) -> dict[str, str]:
        """Return the ids of the nodes of commits that no branch leads to any more, by hash."""
        rows = self._connection.execute(
            "SELECT c.sha, n.id FROM commits c JOIN nodes n ON n.key = c.node_key"
            " WHERE c.scope_key = ? AND n.valid_until IS NOT NULL",
            (scope_key,),
        )
        return {row[0]: row[1] for row in rows}

    # -- renames -----------------------------------------------------------------------------------------------------

    def get_renames(self, scope_key: int) -> dict[str, str]:
        """Return what files that commits still to be read speak of are called now, by their names then."""
        rows = self._connection.execute("SELECT old_path, path FROM renames WHERE scope_key = ?", (scope_key,))
        return {row[0]: row[1] for row in rows}

    def put_renames(self, scope_key: int, renames: Mapping[str, str]) -> None:
        """Note what files are called now, by their names in older commits."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO renames(scope_key, old_path, path) VALUES (?, ?, ?)",
            [(scope_key, old, new) for old, new in renames.items()],
        )

    def forget_renames(self, scope_key: int) -> None:
        """Forget what files were called: no older commits wait."""
        self._connection.execute("DELETE FROM renames WHERE scope_key = ?", (scope_key,))

    def mark_missing(self, scope_key: int, shas: Iterable[str]) -> None:
        """Take back that commits which could not be stored are known, so that the next walk finds them missing."""
        known = self._connection.execute(
            "DELETE FROM commits WHERE scope_key = ? AND node_key IS NULL AND sha IN (SELECT value FROM json_each(?))",
            (scope_key, json.dumps(list(shas))),
        )
        if known.rowcount:
            self._connection.execute("UPDATE histories SET whole_to = NULL WHERE scope_key = ?", (scope_key,))


def _commit_from_row(row: sqlite3.Row) -> StoredCommit:
    return StoredCommit(key=NodeKey(row[0]), sha=row[1], title=row[2], content=row[3], date=row[4])
