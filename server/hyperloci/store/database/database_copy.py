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


def copy_to_file(connection: sqlite3.Connection, target: Path) -> Path:
    """Copy the whole database to `target` while it is in use; the copy is complete or not there.

    A link stays, and leads to the copy.

    Raises:
        BadRequestError: the target is the database itself, or something that is none of ours.
        StoreError: it can't be written there.
    """
    if _is_database_of(connection, target):
        raise BadRequestError(f"{target} is the database itself: give another file.")
    if _is_something_else(target):
        raise BadRequestError(f"{target} is there already, and is no memory of Hyperloci: give another file.")
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


def _is_something_else(target: Path) -> bool:
    """Tell whether a file lies there that holds something and is no database of ours: somebody gave the wrong name."""
    try:
        with open_regular_file(target) as file:
            beginning = file.read(_OWNER.stop)
    except OSError:
        return False  # Nothing is there, or what is in the way is told when it is written.
    is_ours = beginning.startswith(_HEADER) and beginning[_OWNER] == APPLICATION_ID.to_bytes(4, "big")
    return bool(beginning) and not is_ours


def _sync_file(path: Path) -> None:
    # Opened for writing: Windows refuses to flush a file that is open for reading only.
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
