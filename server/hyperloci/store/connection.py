"""Opening the database file, and the one edge where SQLite's errors become ours."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from hyperloci.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)

T = TypeVar("T")

BUSY_TIMEOUT_MS: Final = 10_000
"""How long SQLite itself waits for the write lock: eight writers at once waited 630 ms at most (docs/benchmarks.md)."""

BUSY_RETRIES: Final = 4
"""Further tries after a busy answer that SQLite does not wait for (WAL recovery, a snapshot that went stale)."""

MMAP_BYTES: Final = 4 << 30
"""Readers map the file instead of copying pages; SQLite maps no more than the file has."""

_FAULTS: Final[tuple[tuple[frozenset[int], type[StoreError]], ...]] = (
    (frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}), StoreBusyError),
    (frozenset({sqlite3.SQLITE_FULL}), StoreFullError),
    (
        frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}),
        StoreReadOnlyError,
    ),
    (frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}), StoreCorruptError),
)

_PRIMARY_CODE_MASK: Final = 0xFF
"""SQLite's extended result codes keep the primary one in the low byte."""


def translate(error: sqlite3.Error, path: object = None) -> StoreError:
    """Return our error for one of SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    where = f" Database: {path}." if path is not None else ""
    if code is not None:
        for codes, kind in _FAULTS:
            if code & _PRIMARY_CODE_MASK in codes:
                return kind(f"{(kind.__doc__ or '').strip()}{where} ({error})")
    return StoreError(f"The database could not do it: {error}.{where}")


@contextlib.contextmanager
def translated(path: object = None) -> Iterator[None]:
    """Raise SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


def open_connection(path: Path, *, synchronous: str = "normal", read_only: bool = False) -> sqlite3.Connection:
    """Open (and make, if it is not there) the database file, private to the user, in WAL mode (SPEC-02.01, .04).

    The connection may be used by one thread at a time, whichever it is. Transactions are explicit.

    Raises:
        StoreError: the file cannot be opened; the kind says why.
    """
    with translated(path):
        if not read_only:
            _make_private(path)
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}",
            uri=True,
            timeout=BUSY_TIMEOUT_MS / 1_000,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            _configure(connection, synchronous, read_only=read_only)
        except BaseException:
            connection.close()
            raise
        return connection


def _make_private(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.name == "posix" and stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreReadOnlyError(
            f"{path} cannot be opened for writing: {error.strerror}. Set RLM_MEMORY_DB to a file you may write."
        ) from error


def _configure(connection: sqlite3.Connection, synchronous: str, *, read_only: bool) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    if not read_only:
        retry_busy(lambda: connection.execute("PRAGMA journal_mode = WAL"))
    connection.execute(f"PRAGMA synchronous = {'FULL' if synchronous == 'full' else 'NORMAL'}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA mmap_size = {MMAP_BYTES}")


def retry_busy(action: Callable[[], T], pause: Callable[[float], object] | None = None) -> T:
    """Run `action`; while SQLite says busy, wait a little (jittered, doubling) and run it again."""
    wait = pause or threading.Event().wait
    for attempt in range(BUSY_RETRIES):
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not isinstance(translate(error), StoreBusyError):
                raise
            wait(random.uniform(0.5, 1.5) * 0.05 * 2**attempt)
    return action()


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, path: object = None) -> Iterator[None]:
    """Run the block as one write transaction; nested blocks join the outer one.

    `BEGIN IMMEDIATE` takes the write lock at once: a deferred transaction that reads first and writes later
    fails under load whatever the time-out (SQLITE_BUSY_SNAPSHOT).

    Raises:
        StoreError: the lock could not be had or a statement failed; nothing of the block was written.
    """
    if connection.in_transaction:
        yield
        return
    with translated(path):
        retry_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise


def _roll_back(connection: sqlite3.Connection) -> None:
    # SQLite may have rolled back by itself already (disk full, I/O error).
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@contextlib.contextmanager
def snapshot(connection: sqlite3.Connection, path: object = None) -> Iterator[None]:
    """Run the block's reads on one state of the database."""
    if connection.in_transaction:
        yield
        return
    with translated(path):
        connection.execute("BEGIN")
        try:
            yield
        finally:
            _roll_back(connection)
