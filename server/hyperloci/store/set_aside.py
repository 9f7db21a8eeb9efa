"""What was set aside: rows of things that failed by themselves, each with its reason, tried again once they changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from hyperloci import __version__
from hyperloci.model.kinds import NodeKey
from hyperloci.model.set_aside import SetAside, SetAsideKind

MAX_REASON_CHARS: Final = 300
"""A reason is one sentence."""

MAX_SUBJECT_CHARS: Final = 4_096
"""The longest path there is; a longer subject is cut."""

_SELECT: Final = (
    "SELECT s.id AS scope, a.kind, a.subject, a.reason, a.content, a.program, a.first_at, a.last_at, a.tries"
    " FROM set_aside a JOIN scopes s ON s.key = a.scope_key"
)


class SetAsideRows:
    """The set-aside things of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, program: str = __version__) -> None:
        self._connection = connection
        self._program = program

    def put(
        self,
        scope_key: int,
        kind: SetAsideKind,
        subject: str,
        reason: str,
        *,
        now: int,
        content: str = "",
        node: NodeKey | None = None,
    ) -> None:
        """Set a thing aside, or note that it failed again.

        Args:
            scope_key: the project's, or the global scope's.
            kind, subject: what it is.
            reason: why, in words; text of the thing itself has no place in it.
            now: the time in milliseconds.
            content: the state that failed; with another one it is tried again.
            node: the memory it is about: when that goes or its text changes, so does the row.
        """
        self._connection.execute(
            """
            INSERT INTO set_aside(scope_key, kind, subject, node_key, reason, content, program, first_at, last_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
            ON CONFLICT(scope_key, kind, subject) DO UPDATE SET node_key = excluded.node_key, reason = excluded.reason,
                content = excluded.content, program = excluded.program, last_at = excluded.last_at, tries = tries + 1
            """,
            (
                scope_key,
                str(kind),
                _storable(subject)[:MAX_SUBJECT_CHARS],
                node,
                _storable(reason)[:MAX_REASON_CHARS],
                _storable(content),
                self._program,
                now,
            ),
        )

    def is_set_aside(self, scope_key: int, kind: SetAsideKind, subject: str, content: str = "") -> bool:
        """Tell whether this very state of a thing failed already, with this very program: then it is skipped."""
        row = self._connection.execute(
            "SELECT content, program FROM set_aside WHERE scope_key = ? AND kind = ? AND subject = ?",
            (scope_key, str(kind), _storable(subject)[:MAX_SUBJECT_CHARS]),
        ).fetchone()
        return row is not None and (row[0], row[1]) == (_storable(content), self._program)

    def standing(self, scope_key: int, kind: SetAsideKind) -> Mapping[str, SetAside]:
        """Return what failed with this very program, by subject: it is skipped while its content is the same."""
        rows = self._connection.execute(
            f"{_SELECT} WHERE a.scope_key = ? AND a.kind = ? AND a.program = ?", (scope_key, str(kind), self._program)
        )
        return {row["subject"]: _from_row(row) for row in rows}

    def subjects(self, scope_key: int, kind: SetAsideKind) -> set[str]:
        """Return what is set aside, whichever program it was that failed."""
        rows = self._connection.execute(
            "SELECT subject FROM set_aside WHERE scope_key = ? AND kind = ?", (scope_key, str(kind))
        )
        return {row[0] for row in rows}

    def outdated(self, scope_key: int, kind: SetAsideKind) -> list[NodeKey]:
        """Return the memories that another version of the program failed on: they are due again."""
        rows = self._connection.execute(
            "SELECT node_key FROM set_aside WHERE scope_key = ? AND kind = ? AND program <> ? AND node_key IS NOT NULL",
            (scope_key, str(kind), self._program),
        )
        return [NodeKey(row[0]) for row in rows]

    def clear(self, scope_key: int, kind: SetAsideKind, subjects: Iterable[str]) -> int:
        """Take things back that work again or are gone; return how many were set aside."""
        return self._connection.execute(
            "DELETE FROM set_aside WHERE scope_key = ? AND kind = ? AND subject IN (SELECT value FROM json_each(?))",
            (scope_key, str(kind), json.dumps([_storable(subject)[:MAX_SUBJECT_CHARS] for subject in subjects])),
        ).rowcount

    def clear_all(self, scope_key: int | None = None) -> int:
        """Take everything back, of one project or of all, so that all of it is tried again; return how many."""
        return self._connection.execute(
            "DELETE FROM set_aside WHERE ?1 IS NULL OR scope_key = ?1", (scope_key,)
        ).rowcount

    def all(self, scope_key: int | None = None, *, limit: int = -1) -> list[SetAside]:
        """Return what is set aside, of one project or of all, the latest first."""
        rows = self._connection.execute(
            f"{_SELECT} WHERE ?1 IS NULL OR a.scope_key = ?1 ORDER BY a.last_at DESC, a.key DESC LIMIT ?2",
            (scope_key, limit),
        )
        return [_from_row(row) for row in rows]

    def count(self, scope_key: int | None = None) -> dict[str, int]:
        """Return how many things of each kind are set aside, of one project or of all."""
        rows = self._connection.execute(
            "SELECT kind, count(*) FROM set_aside WHERE ?1 IS NULL OR scope_key = ?1 GROUP BY kind ORDER BY kind",
            (scope_key,),
        )
        return {row[0]: row[1] for row in rows}


def _storable(text: str) -> str:
    """Return a text that SQLite takes and compares whole: halves of characters and NULs are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def _from_row(row: sqlite3.Row) -> SetAside:
    return SetAside(
        scope=row["scope"],
        kind=SetAsideKind(row["kind"]),
        subject=row["subject"],
        reason=row["reason"],
        content=row["content"],
        program=row["program"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        tries=row["tries"],
    )
