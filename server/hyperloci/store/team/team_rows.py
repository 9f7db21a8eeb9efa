"""Team rows: what of the team's memories is on this machine, and what waits to be told."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from hyperloci.model.kinds import NodeId, NodeKey
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamProject:
    """A project of ours that is one of the team's, and the last of its changes that was taken in."""

    scope_key: int
    scope_id: str
    project: str
    cursor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRow:
    """A memory as it was exchanged last: its revision there, and the digest of what is here of it."""

    node_id: str
    project: str
    revision: int
    digest: bytes
    is_mine: bool
    has_vector: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamConflict:
    """A change that a member told without having seen another's; `copy_id` holds their text where that differs."""

    node_id: str
    revision: int
    editor: str
    reason: str
    copy_id: str | None
    noted_at: int


class TeamRows:
    """What one database knows of its team. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # -- projects ----------------------------------------------------------------------------------------------------

    def link_project(self, scope_key: int, project: str, *, now: int) -> None:
        """Take part in a project of the team; all that is shared of it here is told with the next exchange."""
        self._connection.execute(
            "INSERT INTO team_projects(scope_key, project, joined_at) VALUES (?, ?, ?)"
            " ON CONFLICT(scope_key) DO UPDATE SET project = excluded.project, cursor = 0,"
            " joined_at = excluded.joined_at",
            (scope_key, project, now),
        )
        self._connection.execute(
            "INSERT INTO team_outbox(node_id) SELECT id FROM nodes"
            " WHERE visibility = 'shared' AND scope_key = ? ORDER BY key",
            (scope_key,),
        )

    def unlink_project(self, scope_key: int) -> None:
        """Take part in a project no longer; what was received stays."""
        found = self._connection.execute(
            "DELETE FROM team_projects WHERE scope_key = ? RETURNING project", (scope_key,)
        ).fetchall()
        for row in found:
            self._connection.execute("DELETE FROM team_rows WHERE project = ?", (row[0],))

    def unlink_all(self) -> None:
        """Take part in nothing any more."""
        for table in ("team_projects", "team_rows", "team_outbox", "team_conflicts"):
            self._connection.execute(f"DELETE FROM {table}")

    def list_projects(self) -> list[TeamProject]:
        """Return the projects that are the team's too."""
        rows = self._connection.execute(
            "SELECT p.scope_key, s.id, p.project, p.cursor FROM team_projects p JOIN scopes s ON s.key = p.scope_key"
            " ORDER BY p.scope_key"
        )
        return [TeamProject(scope_key=row[0], scope_id=row[1], project=row[2], cursor=row[3]) for row in rows]

    def set_cursor(self, project: str, change: int) -> None:
        """Note up to which change a project was taken in."""
        self._connection.execute("UPDATE team_projects SET cursor = ? WHERE project = ?", (change, project))

    def restart_project(self, project: TeamProject) -> None:
        """Take in a project from its beginning and tell everything again: the truth has lost what it had."""
        self._connection.execute("DELETE FROM team_rows WHERE project = ? AND is_mine = 0", (project.project,))
        self._connection.execute(
            "UPDATE team_rows SET revision = 0, digest = x'', has_vector = 0 WHERE project = ?", (project.project,)
        )
        self.set_cursor(project.project, 0)
        self._connection.execute(
            "INSERT INTO team_outbox(node_id) SELECT node_id FROM team_rows WHERE project = ?", (project.project,)
        )

    # -- the outbox --------------------------------------------------------------------------------------------------

    def read_outbox(self, limit: int) -> tuple[int, list[NodeId]]:
        """Return the first ids in the outbox, each once, and the number of the last entry that was read."""
        rows = self._connection.execute(
            "SELECT seq, node_id FROM team_outbox ORDER BY seq LIMIT ?", (limit,)
        ).fetchall()
        return (rows[-1][0] if rows else 0), list(dict.fromkeys(NodeId(row[1]) for row in rows))

    def find_last_entry(self) -> int:
        """Return the number of the outbox's last entry, 0 of none."""
        return int(self._connection.execute("SELECT coalesce(max(seq), 0) FROM team_outbox").fetchone()[0])

    def drop_entries(self, ids: Iterable[str], after: int) -> None:
        """Remove the entries of some memories that were added after another one."""
        self._connection.execute(
            "DELETE FROM team_outbox WHERE seq > ? AND node_id IN (SELECT value FROM json_each(?))",
            (after, json.dumps(list(ids))),
        )

    def clear_outbox(self, ids: Iterable[str], up_to: int) -> None:
        """Remove the entries of some memories; what was added later stays."""
        self._connection.execute(
            "DELETE FROM team_outbox WHERE seq <= ? AND node_id IN (SELECT value FROM json_each(?))",
            (up_to, json.dumps(list(ids))),
        )

    def tell_again(self, ids: Iterable[str]) -> None:
        """Put memories that were exchanged into the outbox, whatever the team knows of them."""
        wanted = (json.dumps(list(ids)),)
        self._connection.execute(
            "UPDATE team_rows SET digest = x'' WHERE node_id IN (SELECT value FROM json_each(?))", wanted
        )
        self._connection.execute(
            "INSERT INTO team_outbox(node_id) SELECT node_id FROM team_rows"
            " WHERE node_id IN (SELECT value FROM json_each(?))",
            wanted,
        )

    def select_waiting(self, ids: Iterable[str]) -> set[str]:
        """Return which of some memories are in the outbox."""
        rows = self._connection.execute(
            "SELECT DISTINCT node_id FROM team_outbox WHERE node_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0] for row in rows}

    def count_waiting(self) -> int:
        """Return how many memories may have to be told."""
        return int(self._connection.execute("SELECT count(DISTINCT node_id) FROM team_outbox").fetchone()[0])

    # -- rows --------------------------------------------------------------------------------------------------------

    def get_rows(self, ids: Iterable[str]) -> dict[str, TeamRow]:
        """Return what is known of some memories, by id."""
        rows = self._connection.execute(
            "SELECT node_id, project, revision, digest, is_mine, has_vector FROM team_rows"
            " WHERE node_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {
            row[0]: TeamRow(
                node_id=row[0],
                project=row[1],
                revision=row[2],
                digest=row[3],
                is_mine=bool(row[4]),
                has_vector=bool(row[5]),
            )
            for row in rows
        }

    def put_row(self, row: TeamRow) -> None:
        """Note a memory as it was exchanged now."""
        self._connection.execute(
            "INSERT INTO team_rows(node_id, project, revision, digest, is_mine, has_vector) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(node_id) DO UPDATE SET project = excluded.project, revision = excluded.revision,"
            " digest = excluded.digest, is_mine = excluded.is_mine, has_vector = excluded.has_vector",
            (row.node_id, row.project, row.revision, row.digest, row.is_mine, row.has_vector),
        )

    def list_without_vector(self, project: str, after: str, limit: int) -> list[tuple[NodeKey, str, int]]:
        """Return memories of ours that were told without their vector and have one now, in the order of their ids.

        Args:
            project: as the team names it.
            after: an id; those after it, '' for the first.
            limit: how many at most.

        Returns:
            For each its key, its id and its revision.
        """
        rows = self._connection.execute(
            "SELECT n.key, r.node_id, r.revision FROM team_rows r JOIN nodes n ON n.id = r.node_id"
            " JOIN fingerprints f ON f.node_key = n.key"
            " WHERE r.project = ? AND r.is_mine AND NOT r.has_vector AND n.deleted_at IS NULL"
            " AND n.visibility = 'shared' AND r.node_id > ? ORDER BY r.node_id LIMIT ?",
            (project, after, limit),
        )
        return [(NodeKey(row[0]), row[1], row[2]) for row in rows]

    def note_vectors(self, ids: Sequence[str]) -> None:
        """Note that the vectors of some memories were told."""
        self._connection.execute(
            "UPDATE team_rows SET has_vector = 1 WHERE node_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )

    def count_rows(self) -> tuple[int, int]:
        """Return how many memories of ours and of others are here and there."""
        row = self._connection.execute(
            "SELECT coalesce(sum(is_mine), 0), count(*) FROM team_rows WHERE revision > 0"
        ).fetchone()
        return int(row[0]), int(row[1]) - int(row[0])

    # -- conflicts ---------------------------------------------------------------------------------------------------

    def add_conflict(self, conflict: TeamConflict) -> bool:
        """Note that two members changed one memory; False if that was noted before."""
        return bool(
            self._connection.execute(
                "INSERT OR IGNORE INTO team_conflicts(node_id, revision, editor, reason, copy_id, noted_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    conflict.node_id,
                    conflict.revision,
                    conflict.editor,
                    conflict.reason,
                    conflict.copy_id,
                    conflict.noted_at,
                ),
            ).rowcount
        )

    def list_conflicts(self, limit: int = 20) -> list[TeamConflict]:
        """Return what members changed without having seen each other's change, latest first."""
        rows = self._connection.execute(
            "SELECT node_id, revision, editor, reason, copy_id, noted_at FROM team_conflicts"
            " ORDER BY noted_at DESC, node_id LIMIT ?",
            (limit,),
        )
        return [
            TeamConflict(node_id=row[0], revision=row[1], editor=row[2], reason=row[3], copy_id=row[4], noted_at=row[5])
            for row in rows
        ]
