"""Set-aside rows: items that failed by themselves, each with its reason; tried again once they change."""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import PurePath
from typing import Final

from hyperloci import __version__
from hyperloci.errors import BadRequestError, HyperlociError, NotFoundError, StoreError
from hyperloci.model.kinds import NodeKey
from hyperloci.model.set_aside import SetAside, SetAsideKind
from hyperloci.store.json_keys import encode_keys
from hyperloci.system.values import dataclass

_log = logging.getLogger(__name__)

MAX_REASON_CHARS: Final = 300
"""A reason is one sentence."""

MAX_SUBJECT_CHARS: Final = 4_096
"""The longest path there is; a longer subject is cut."""

_SELECT_SET_ASIDE: Final = (
    "SELECT s.id AS scope, a.kind, a.subject, a.reason, a.content, a.program, a.first_at, a.last_at, a.tries"
    " FROM set_aside a JOIN scopes s ON s.key = a.scope_key"
)


@dataclass(slots=True)
class Attempt:
    """How the work on one item ended."""

    failed: bool = False


class SetAsideRows:
    """The set-aside items of one database. Every write except `attempt_piece` expects to run inside a transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        transaction: Callable[[], contextlib.AbstractContextManager[None]],
        program: str = __version__,
    ) -> None:
        self._connection = connection
        self._transaction = transaction
        self._program = program

    @contextlib.contextmanager
    def attempt_piece(
        self,
        scope_key: int,
        kind: SetAsideKind,
        subject: str,
        *,
        now: int,
        content: str = "",
        node: NodeKey | None = None,
    ) -> Iterator[Attempt]:
        """Run the block for one item: if the item itself causes a failure, undo the block and set the item aside.

        Inside a transaction the block is a piece of it, else a transaction of its own. The arguments are those of
        `add_failure`. What is yielded tells afterwards whether it failed.

        Raises:
            StoreError, OSError: the database or the system failed, not the item.
        """
        attempt = Attempt()
        try:
            with self._transaction():
                yield attempt
        except Exception as error:
            if not is_fault_of_content(error):
                raise
            attempt.failed, reason = True, describe_failure(error)
            _log.warning("%s %s is set aside: %s", kind, _make_storable(subject), reason)
            _log.debug("%s %s", kind, _make_storable(subject), exc_info=True)
            with self._transaction():
                self.add_failure(scope_key, kind, subject, reason, now=now, content=content, node=node)

    def add_failure(
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
                _make_storable(subject)[:MAX_SUBJECT_CHARS],
                node,
                _make_storable(reason)[:MAX_REASON_CHARS],
                _make_storable(content),
                self._program,
                now,
            ),
        )

    def is_set_aside(self, scope_key: int, kind: SetAsideKind, subject: str, content: str = "") -> bool:
        """Tell whether this very state of a thing failed already, with this very program: then it is skipped."""
        row = self._connection.execute(
            "SELECT content, program FROM set_aside WHERE scope_key = ? AND kind = ? AND subject = ?",
            (scope_key, str(kind), _make_storable(subject)[:MAX_SUBJECT_CHARS]),
        ).fetchone()
        return row is not None and (row[0], row[1]) == (_make_storable(content), self._program)

    def get_standing(self, scope_key: int, kind: SetAsideKind) -> Mapping[str, SetAside]:
        """Return what failed with this very program, by subject: it is skipped while its content is the same."""
        rows = self._connection.execute(
            f"{_SELECT_SET_ASIDE} WHERE a.scope_key = ? AND a.kind = ? AND a.program = ?",
            (scope_key, str(kind), self._program),
        )
        return {row["subject"]: _set_aside_from_row(row) for row in rows}

    def list_subjects(self, scope_key: int, kind: SetAsideKind) -> set[str]:
        """Return what is set aside, whichever program it was that failed."""
        rows = self._connection.execute(
            "SELECT subject FROM set_aside WHERE scope_key = ? AND kind = ?", (scope_key, str(kind))
        )
        return {row[0] for row in rows}

    def list_outdated_subjects(self, scope_key: int, kind: SetAsideKind) -> list[str]:
        """Return what another version of the program failed on: it is due again."""
        rows = self._connection.execute(
            "SELECT subject FROM set_aside WHERE scope_key = ? AND kind = ? AND program <> ?",
            (scope_key, str(kind), self._program),
        )
        return [row[0] for row in rows]

    def list_outdated_nodes(self, scope_key: int, kind: SetAsideKind) -> list[NodeKey]:
        """Return the memories that another version of the program failed on: they are due again."""
        rows = self._connection.execute(
            "SELECT node_key FROM set_aside WHERE scope_key = ? AND kind = ? AND program <> ? AND node_key IS NOT NULL",
            (scope_key, str(kind), self._program),
        )
        return [NodeKey(row[0]) for row in rows]

    def get_subjects_of_nodes(
        self, scope_key: int, kind: SetAsideKind, keys: Iterable[NodeKey] | None = None
    ) -> dict[NodeKey, str]:
        """Return the subjects of what is set aside about some memories, or about any."""
        wanted = None if keys is None else encode_keys(keys)
        rows = self._connection.execute(
            "SELECT node_key, subject FROM set_aside WHERE scope_key = ?1 AND kind = ?2 AND node_key IS NOT NULL"
            " AND (?3 IS NULL OR node_key IN (SELECT value FROM json_each(?3)))",
            (scope_key, str(kind), wanted),
        )
        return {NodeKey(row[0]): row[1] for row in rows}

    def clear_subjects(self, scope_key: int, kind: SetAsideKind, subjects: Iterable[str]) -> int:
        """Take things back that work again or are gone; return how many were set aside."""
        return self._connection.execute(
            "DELETE FROM set_aside WHERE scope_key = ? AND kind = ? AND subject IN (SELECT value FROM json_each(?))",
            (scope_key, str(kind), json.dumps([_make_storable(subject)[:MAX_SUBJECT_CHARS] for subject in subjects])),
        ).rowcount

    def clear_prefix(self, scope_key: int, kind: SetAsideKind, prefix: str) -> None:
        """Take back all whose subject begins so."""
        beginning = _make_storable(prefix)
        self._connection.execute(
            "DELETE FROM set_aside WHERE scope_key = ? AND kind = ? AND substr(subject, 1, ?) = ?",
            (scope_key, str(kind), len(beginning), beginning),
        )

    def clear_all(self, scope_key: int | None = None) -> int:
        """Take everything back, of one project or of all, so that all of it is tried again; return how many."""
        return self._connection.execute(
            "DELETE FROM set_aside WHERE ?1 IS NULL OR scope_key = ?1", (scope_key,)
        ).rowcount

    def list_all(self, scope_key: int | None = None, *, limit: int = -1) -> list[SetAside]:
        """Return what is set aside, of one project or of all, the latest first."""
        rows = self._connection.execute(
            f"{_SELECT_SET_ASIDE} WHERE ?1 IS NULL OR a.scope_key = ?1 ORDER BY a.last_at DESC, a.key DESC LIMIT ?2",
            (scope_key, limit),
        )
        return [_set_aside_from_row(row) for row in rows]

    def count_by_kind(self, scope_key: int | None = None) -> dict[str, int]:
        """Return how many things of each kind are set aside, of one project or of all."""
        rows = self._connection.execute(
            "SELECT kind, count(*) FROM set_aside WHERE ?1 IS NULL OR scope_key = ?1 GROUP BY kind ORDER BY kind",
            (scope_key,),
        )
        return {row[0]: row[1] for row in rows}


@contextlib.contextmanager
def note_failure_of(failed: MutableMapping[NodeKey, str], key: NodeKey) -> Iterator[None]:
    """Run the block for one memory, outside any transaction: a failure by its own fault is noted and ends it alone.

    Raises:
        StoreError, OSError: the database or the system failed, not the memory.
    """
    try:
        yield
    except Exception as error:
        if not is_fault_of_content(error):
            raise
        _log.debug("memory %s", key, exc_info=True)
        failed[key] = describe_failure(error)


def is_fault_of_content(error: BaseException) -> bool:
    """Return whether the item itself caused an error, not the database, the disk or a request to stop."""
    if type(error) is StoreError:
        error = error.__cause__ or error
    if isinstance(error, (sqlite3.Error, sqlite3.Warning)):
        return isinstance(error, _VALUE_ERRORS)
    if isinstance(error, (BadRequestError, NotFoundError)):
        return True
    return isinstance(error, Exception) and not isinstance(error, (HyperlociError, OSError))


_VALUE_ERRORS: Final = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError)
"""SQLite's errors that tell of a value, not of the database."""


def describe_failure(error: BaseException) -> str:
    """Return why a thing failed, in words and with the line of the program.

    The error's own message is left out: it may quote the thing, and reasons are kept, logged and shown.
    """
    if isinstance(error, StoreError) and error.__cause__ is not None:
        error = error.__cause__
    said = next((words for kind, words in _REASONS if isinstance(error, kind)), type(error).__name__)
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "hyperloci" in PurePath(frame.filename).parts]
    if not ours:
        return said
    return f"{said} ({'/'.join(PurePath(ours[-1].filename).parts[-2:])}:{ours[-1].lineno})"


_REASONS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (RecursionError, "nested too deeply"),
    (MemoryError, "needs more memory than is available"),
    (UnicodeError, "contains invalid text"),
    (json.JSONDecodeError, "is no JSON"),
    (OverflowError, "contains a number that is too large"),
)


def _make_storable(text: str) -> str:
    """Return a text that SQLite takes and compares whole: halves of characters and NULs are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def _set_aside_from_row(row: sqlite3.Row) -> SetAside:
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
