"""Copies of a whole database, made while it is in use."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from hyperloci.errors import BadRequestError, StoreBusyError, StoreError, StoreFullError
from hyperloci.store.database.connection import APPLICATION_ID
from hyperloci.store.database.database_files import LOCK_SECONDS, identify_file
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.system.own_folders import make_own_folders
from hyperloci.system.partial_file import make_partial_file
from hyperloci.system.regular_file import find_replaceable, open_regular_file

_HEADER: Final = b"SQLite format 3\0"
_OWNER: Final = slice(68, 72)
"""Where a database file says which program's it is."""
_READ_FORMAT: Final = 19
_LOGGED: Final = 2
"""What stands there of a database with a write-ahead log: one that sessions open. A copy has none (`_replace_file`)."""


def copy_to_file(connection: sqlite3.Connection, target: Path) -> Path:
    """Copy the whole database to `target` while it is in use; the copy is complete or not there.

    A link stays, and leads to the copy.

    Raises:
        BadRequestError: the target is the database itself, another memory that sessions open, or none of ours.
        StoreError: it can't be written there.
    """
    if _is_database_of(connection, target):
        raise BadRequestError(f"{target} is the database itself: give another file.")
    beginning = _read_beginning(target)
    if beginning and not _is_ours(beginning):
        raise BadRequestError(f"{target} is there already, and is no memory of Hyperloci: give another file.")
    if _is_ours(beginning) and beginning[_READ_FORMAT] == _LOGGED:
        raise BadRequestError(
            f"{target} is a memory that sessions write to, or a copy that was opened as one: give another file, or "
            "delete it first if you don't need it."
        )
    try:
        place = find_replaceable(target)
        if place is None:
            raise BadRequestError(f"{target} is no regular file, and a database is one: give another.")
        _replace_file(connection, place)
    except OSError as error:
        kind = StoreFullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(f"{target} cannot be written: {error.strerror}.") from error
    return target


def _replace_file(connection: sqlite3.Connection, place: Path) -> None:
    make_own_folders(place.parent)
    with make_partial_file(place) as partial:
        try:
            with (
                translate_block_errors(place),
                contextlib.closing(sqlite3.connect(partial, isolation_level=None)) as copy,
            ):
                copy_database(connection, copy)
                # A file by itself, without a write-ahead log beside it.
                copy.execute("PRAGMA journal_mode = DELETE")
            _sync_file(partial)
            for suffix in ("-wal", "-shm"):
                # The log of a file that lay there before would be replayed into the new one.
                Path(f"{place}{suffix}").unlink(missing_ok=True)
            partial.replace(place)
        finally:
            for suffix in ("-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):
                    Path(f"{partial}{suffix}").unlink(missing_ok=True)


def copy_database(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy a whole database over another one in one transaction.

    Raises:
        StoreBusyError: one of the two was locked for too long.
    """
    deadline = time.monotonic() + LOCK_SECONDS

    def give_up(status: int, remaining: int, total: int) -> None:
        # Left to itself, sqlite3 tries for ever.
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and time.monotonic() >= deadline:
            raise StoreBusyError

    source.backup(target, progress=give_up)


def _is_database_of(connection: sqlite3.Connection, target: Path) -> bool:
    file = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
    there = identify_file(str(target))
    return bool(file) and there is not None and there == identify_file(file)


def _read_beginning(target: Path) -> bytes:
    """Return what tells whose file lies there; nothing where none does, or what is in the way is told on writing."""
    try:
        with open_regular_file(target) as file:
            return file.read(_OWNER.stop)
    except OSError:
        return b""


def _is_ours(beginning: bytes) -> bool:
    return beginning.startswith(_HEADER) and beginning[_OWNER] == APPLICATION_ID.to_bytes(4, "big")


def _sync_file(path: Path) -> None:
    # Opened for writing: Windows refuses to flush a file that is open for reading only.
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
