"""File guard: notices that another program moved, deleted, replaced or truncated the files of an open database.

SQLite goes on with the files that it has open, wherever they are: what is written then is acknowledged, and gone with
the last process. So every transaction looks at the files first (two calls of `stat`), and what they still hold is
saved before anything is refused.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
from enum import StrEnum
from pathlib import Path
from typing import Final

from hyperloci.clock import system_clock
from hyperloci.errors import BACKUP_ADVICE, HyperlociError, StoreMovedError
from hyperloci.store.database.connection import StoreConnection
from hyperloci.store.database.database_copy import copy_to_file
from hyperloci.store.database.database_files import (
    INDEX,
    LOG,
    DatabaseFiles,
    Identity,
    connect_to_files,
    drop_log,
    files_lock,
    identify_file,
    identity_of,
    is_empty,
    list_logged_pages,
    lock_database,
    stat_file,
)
from hyperloci.store.database.meta import Meta

logger = logging.getLogger(__name__)

RESCUED_INFIX: Final = "-rescued-"
"""In the name of a copy that was made of what would have been lost; it lies beside the database."""

_HEADER_BYTES: Final = 512
"""The smallest page of SQLite's. Below it nothing of the file may be touched: it may be mapped into memory."""

SAVED_LOG: Final = "log_saved"
"""The name under which the file says which lost log it has all of."""

_LOG_CHECKS: Final = 5
"""How often it is made sure, within a tenth of a second, that a log is gone for good."""

CALL_AGAIN: Final = "Nothing was done; call again to go on with the file that is there now."


class DatabaseChange(StrEnum):
    """What has happened to the files."""

    GONE = "gone"
    REPLACED = "replaced"
    CUT = "cut"
    LOG_GONE = "log gone"
    NOTICED = "noticed"
    """Another connection of this process noticed it."""


_events: dict[str, int] = {}
"""How often it was noticed in this process that the files of a database had changed, by its path."""

_rescues: dict[tuple[str, Identity, int], tuple[Path, float]] = {}
"""Where what a file held was copied to, and when (monotonic), by path, file and the changes there had been before: a
deleted file's number may be the next one's."""


class FileGuard:
    """Watches over the files of one connection."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """Record the files as they are now; the connection has already read from them."""
        self._connection = connection
        self._path = path
        self._real = os.path.realpath(path)
        self._log_path = f"{self._real}{LOG}"
        self._event = _events.get(self._real, 0)
        opened = connection.files if isinstance(connection, StoreConnection) else None
        self._files = opened or DatabaseFiles.find(self._real)
        status = stat_file(self._real)
        self._size = 0 if status is None else status.st_size
        self._wrote_at = 0.0

    def note_commit(self) -> None:
        """Note that a transaction was committed."""
        self._wrote_at = time.monotonic()

    def detect_change(self) -> DatabaseChange | None:
        """Return what has happened to the files since they were opened; None nearly always."""
        status = stat_file(self._real)
        if status is None:
            return DatabaseChange.GONE
        if identity_of(status) != self._files.main:
            return DatabaseChange.REPLACED
        if self._event != _events.get(self._real, 0):
            return DatabaseChange.NOTICED
        if status.st_size < self._size and not self._is_whole_file(status.st_size):
            return DatabaseChange.CUT
        self._size = status.st_size
        if self._files.log is None:
            # It is made by the first transaction; until then there was nothing to lose.
            found = DatabaseFiles.find(self._real)
            if found.main != self._files.main:
                return DatabaseChange.REPLACED
            self._files = found
        elif identify_file(self._log_path) != self._files.log:
            return DatabaseChange.LOG_GONE
        return None

    def may_have_changed(self) -> bool:
        """Tell whether the files may have changed; any thread may ask, and the connection is not used."""
        status = stat_file(self._real)
        if identity_of(status) != self._files.main or status is None or status.st_size < self._size:
            return True
        lost = self._files.log is not None and identify_file(self._log_path) != self._files.log
        return lost or self._event != _events.get(self._real, 0)

    def _is_whole_file(self, size: int) -> bool:
        """Tell whether all pages that SQLite knows of are there: VACUUM and a restored backup make a file smaller.

        What was written since is in the log, and not in the file yet.
        """
        if size < _HEADER_BYTES or self._connection.in_transaction:
            return size >= _HEADER_BYTES
        try:
            # While it reads, nobody begins the log anew.
            self._connection.execute("BEGIN")
            try:
                pages, page_bytes = (
                    int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])
                    for name in ("page_count", "page_size")
                )
                # Looked at before the file: what is brought into that meanwhile is then in one of the two.
                logged = list_logged_pages(self._real, self._files.index, page_bytes)
                status = stat_file(self._real)
                held = 0 if status is None else status.st_size // page_bytes
                return logged.issuperset(range(held + 1, pages + 1))
            finally:
                self._connection.execute("ROLLBACK")
        except sqlite3.DatabaseError:
            return False

    def secure_content(self, change: DatabaseChange) -> StoreMovedError:
        """Save the content of the files and return the message for the caller; the connection can no longer be used.

        Call it outside a transaction, on the connection's thread.
        """
        with files_lock:
            if change is not DatabaseChange.NOTICED and self._event == _events.get(self._real, 0):
                _events[self._real] = self._event + 1
            error = StoreMovedError(self._describe_rescue(change))
            error.event = _events.get(self._real, 0)
        logger.warning("%s", error)
        return error

    def _describe_rescue(self, change: DatabaseChange) -> str:
        if change is DatabaseChange.CUT:
            return (
                f"Another program has truncated {self._path} while it was in use; its content can no longer be read. "
                f"{BACKUP_ADVICE} {CALL_AGAIN}"
            )
        if change is DatabaseChange.NOTICED:
            return f"Another program has changed the files of {self._path} while they were in use. {CALL_AGAIN}"
        try:
            return f"{self._describe_change(change)} {self._save_content(change)} {CALL_AGAIN}"
        except (HyperlociError, sqlite3.Error, OSError) as error:
            logger.warning("the content of %s cannot be saved: %s", self._path, error)
            return f"{self._describe_change(change)} Its content cannot be saved: run `hyperloci doctor`. {CALL_AGAIN}"

    def _describe_change(self, change: DatabaseChange) -> str:
        if change is DatabaseChange.LOG_GONE:
            return f"Another program has deleted {self._log_path} while it was in use."
        done = "moved or deleted" if change is DatabaseChange.GONE else "replaced"
        return f"{self._path} was {done} while it was in use."

    def _save_content(self, change: DatabaseChange) -> str:
        if change is DatabaseChange.LOG_GONE:
            # Else a second process finds the new log of the first before that has said what it brought into the file.
            with lock_database(self._real):
                emptied = self._empty_log(change)
            if emptied:
                return f"Its content is now in {self._path}."
        else:
            emptied = self._empty_log(change)
        place = None if change is DatabaseChange.LOG_GONE else _find_present_name(self._files.main)
        rescued = None if emptied and place is not None else self._copy_beside()
        if change is not DatabaseChange.LOG_GONE:
            drop_log(self._real, self._files)
        if rescued is None:
            return f"Its content, including the last write, is in {place}."
        return (
            f"Its content, including the last write, was saved to {rescued}: "
            f"`hyperloci restore-backup {rescued}` restores it; delete that file when you no longer need it."
        )

    def _empty_log(self, change: DatabaseChange) -> bool:
        """Bring the log's content into the database file that we have open; tell whether all of it is there.

        Where the log has gone that is safe as long as nobody has begun a new one. An empty one isn't begun: whoever
        opened the database in the moment of the deletion made it, and finds nothing there of what the index tells.
        """
        if change is DatabaseChange.LOG_GONE and not is_empty(self._log_path):
            return self._is_saved_by_another()
        if self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            return False
        if change is DatabaseChange.LOG_GONE:
            with contextlib.closing(self._open_afresh()) as connection:
                Meta(connection).set(SAVED_LOG, str(self._files.log))
        return True

    def _is_saved_by_another(self) -> bool:
        """Tell whether another process has brought the log that is gone into the file, before a new one was begun."""
        try:
            with contextlib.closing(self._open_afresh()) as connection:
                return Meta(connection).get(SAVED_LOG) == str(self._files.log)
        except sqlite3.Error:
            return False  # The new log can't be read with the index of the old one, which this connection still can.

    def _open_afresh(self) -> sqlite3.Connection:
        return connect_to_files(self._real, "mode=rw", timeout=1.0)[0]

    def _copy_beside(self) -> Path:
        """Copy what the connection sees to a file beside the database, unless that was done since the last write."""
        key = (self._real, self._files.main, self._event)
        target, when = _rescues.get(key, (None, -1.0))
        if target is None or when < self._wrote_at or not target.exists():
            began = time.monotonic()
            target = target or self._path.with_name(f"{self._path.stem}{RESCUED_INFIX}{system_clock()}.db")
            _rescues[key] = (copy_to_file(self._connection, target), began)
        return target


def refuse_missing_log(path: Path) -> None:
    """Refuse a database whose log was deleted while another process has it open.

    Opened now, it would get a second log, and what the first one holds could not be brought into the file any more.

    Raises:
        StoreMovedError: that is so; the other process saves what it holds at its next use.
    """
    real = os.path.realpath(path)
    if real in _events:
        return
    holders: list[int | None] = []
    for _ in range(_LOG_CHECKS):
        if not _is_log_missing(real):
            return
        holders.append(_find_index_holder(real))
        # Whoever closes the database last deletes the log and its index one after the other.
        threading.Event().wait(0.02)
    # While locks come and go the system's list of them may lack one: a single look proves nothing.
    holder = next((found for found in holders if found is not None), None)
    if holder is None or not _is_log_missing(real):
        return
    raise StoreMovedError(
        f"{real}-wal was deleted while process {holder} has {path} open. Nothing was done: use a tool of that session,"
        " which writes the log's content into the file; then call again."
    )


def _is_log_missing(real: str) -> bool:
    return stat_file(f"{real}{LOG}") is None and stat_file(f"{real}{INDEX}") is not None


def _find_index_holder(real: str) -> int | None:
    """Return a process that has the index of a database's log open; None where none is found, or that can't be told."""
    index = stat_file(f"{real}{INDEX}")
    try:
        locks = Path("/proc/locks").read_text("ascii", "replace").splitlines() if index is not None else []
    except OSError:
        return None
    held = (line.split() for line in locks if "POSIX" in line and index and f":{index.st_ino} " in line)
    return next((int(words[words.index("POSIX") + 3]) for words in held), None)


def list_rescued_copies(database: Path) -> list[Path]:
    """Return the copies that were made of what would have been lost, beside a database."""
    if not database.parent.is_dir():
        return []
    name = f"{database.stem}{RESCUED_INFIX}"
    return sorted(file for file in database.parent.iterdir() if file.name.startswith(name) and file.suffix == ".db")


def _find_present_name(identity: Identity) -> str | None:
    """Return where a file lies that this process has open; None if it was deleted, or that can't be told."""
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return None
    for number in numbers:
        status = stat_file(f"/proc/self/fd/{number}")
        if status is not None and identity_of(status) == identity:
            return os.readlink(f"/proc/self/fd/{number}") if status.st_nlink else None
    return None
