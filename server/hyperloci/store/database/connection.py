"""Connection to the database file: opening it, its transactions and snapshots."""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from hyperloci.errors import BACKUP_ADVICE, StoreBusyError, StoreCorruptError, StoreError, StoreReadOnlyError
from hyperloci.store.database.database_files import (
    LOCK_SUFFIX,
    LOG,
    OPEN_TRIES,
    DatabaseFiles,
    connect_to_files,
    files_lock,
    hold_files,
    make_database,
    release_files,
    stat_file,
)
from hyperloci.store.database.error_translation import translate_block_errors, translate_error
from hyperloci.store.database.write_queue import WriteQueue
from hyperloci.system.own_folders import make_own_folders

logger = logging.getLogger(__name__)

T = TypeVar("T")

APPLICATION_ID: Final = 0x48594C43
"""`HYLC`, in the SQLite header: the file says whose it is."""

BUSY_TIMEOUT_MS: Final = 10_000
"""How long SQLite itself waits for the write lock: eight writers at once waited 630 ms at most when it was chosen."""

BUSY_RETRIES: Final = 4
"""Further tries after a busy answer that SQLite does not wait for (WAL recovery, a snapshot that went stale)."""

MMAP_BYTES: Final = 4 << 30
"""Readers map the file instead of copying pages; SQLite maps no more than the file has, most builds at most 2 GiB."""

LOG_BYTES: Final = 8 << 20
"""Size to which the write-ahead log is cut on restart; SQLite restarts it after 4 MB, when nobody reads."""

CACHE_KIB: Final = 32_000
"""Pages kept of what isn't mapped: of a file of 8 GB, the upper levels of its trees. Below 2 GiB nearly none."""

_EMPTY_LOOKS: Final = 6
"""How often it is made sure, within a tenth of a second, that an empty file stays empty."""


class StoreConnection(sqlite3.Connection):
    """A connection that knows whether a snapshot is open on it, and where it says that it waits to write."""

    reading = False
    queue: WriteQueue | None = None
    files: DatabaseFiles | None = None
    _real = ""

    def hold(self, real: str, files: DatabaseFiles) -> None:
        """Note which files it has open."""
        self._real, self.files = real, files
        hold_files(real, files)

    def close(self) -> None:
        """Close the connection."""
        # Whoever closes a database last deletes its log by name: not the log of one that takes its place meanwhile.
        with files_lock:
            super().close()
        if self.files is not None:
            release_files(self._real, self.files)
            self.files = None
        if self.queue is not None:
            self.queue.close()


def open_connection(
    path: Path, *, synchronous: str = "normal", read_only: bool = False, busy_timeout_ms: int | None = None
) -> sqlite3.Connection:
    """Open (and make, if it is not there) the database file, private to the user, in WAL mode (SPEC-02.01, .04).

    The connection may be used by one thread at a time, whichever it is. Transactions are explicit.
    A database of another program is left as it is.

    Raises:
        StoreError: the file cannot be opened; the kind says why.
    """
    timeout_ms = BUSY_TIMEOUT_MS if busy_timeout_ms is None else busy_timeout_ms
    with translate_block_errors(path), files_lock:
        connection = _connect(path, read_only=read_only, timeout=timeout_ms / 1_000)
        try:
            connection.row_factory = sqlite3.Row
            refuse_foreign_database(connection, path)
            if not read_only:
                _make_private(path)
                connection.queue = WriteQueue(path)
                retry_busy(lambda: connection.execute("PRAGMA journal_mode = WAL"), timeout_ms=timeout_ms)
            _set_pragmas(connection, synchronous)
        except BaseException:
            connection.close()
            raise
        return connection


def _connect(path: Path, *, read_only: bool, timeout: float) -> StoreConnection:
    real = os.path.realpath(path)
    if read_only and not path.exists():
        raise StoreError(f"There is no database at {path}.")
    for attempt in itertools.count(1):
        if read_only or not _make_file(path):
            refuse_emptied_file(path)
        try:
            connection, files = connect_to_files(
                real,
                read_only_mode(path) if read_only else "mode=rw",
                timeout=timeout,
                check_same_thread=False,
                factory=StoreConnection,
            )
        except sqlite3.OperationalError:
            if read_only or os.path.exists(real) or attempt == OPEN_TRIES:
                raise
            continue  # It was deleted right after it was made, or found.
        assert isinstance(connection, StoreConnection)
        connection.hold(real, files)
        return connection
    raise AssertionError


def has_log(path: Path) -> bool:
    """Tell whether a log of writes lies beside a database."""
    return os.path.exists(f"{os.path.realpath(path)}{LOG}")


def remove_empty_log(path: Path) -> None:
    """Let SQLite take away the log that a connection which could not write had to make; not while others use it."""
    with contextlib.suppress(sqlite3.Error, StoreBusyError), files_lock:
        connection, _ = connect_to_files(os.path.realpath(path), "mode=rw", timeout=0)
        connection.close()


def read_only_mode(path: Path) -> str:
    """Return the mode of SQLite's URI in which a database is only read, wherever it lies."""
    # Where nothing can be written SQLite can't make the index of the log; without a log, all there is is in the file.
    # Beside a journal the file is in the middle of a change, which only who may write it can take back.
    real = os.path.realpath(path)
    is_whole = not has_log(path) and not _file_size(f"{real}-journal")
    fixed = not os.access(os.path.dirname(real), os.W_OK) and is_whole
    return "mode=ro&immutable=1" if fixed else "mode=ro"


def _make_file(path: Path) -> bool:
    """Make the file, private to the user, and return True, or make sure that the one that is there can be used."""
    try:
        make_own_folders(path.parent)
        # A file that is there is not opened here: closing it would drop every lock this process has on it (POSIX locks
        # belong to the process), another process would think itself the last and delete the WAL under our connections.
        made = make_database(os.path.realpath(path))
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.exists(path) and not path.is_file():
            # It would be made private, which a device is for nobody.
            raise OSError(errno.EINVAL, "not a regular file")
        if not os.access(path, os.R_OK | os.W_OK) and os.path.exists(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise StoreReadOnlyError(
            f"{path} cannot be opened for writing: {error.strerror}. Set RLM_MEMORY_DB to a file you may write."
        ) from error
    return made


def refuse_emptied_file(path: Path) -> None:
    """Leave a file alone that held a database and is empty now: opened, it would become a new one.

    Raises:
        StoreCorruptError: it was emptied.
    """
    real = os.path.realpath(path)
    for _ in range(_EMPTY_LOOKS):
        held = os.path.exists(f"{real}{LOCK_SUFFIX}") or _file_size(f"{real}{LOG}")
        if _file_size(real) != 0 or not held:
            return
        # Another process may be making it at this moment.
        threading.Event().wait(0.02)
    raise StoreCorruptError(
        f"{path} is empty, but a database was here: another program has truncated it. "
        f"Restore a backup, or delete the file to start over. {BACKUP_ADVICE}"
    )


def _file_size(name: str) -> int | None:
    status = stat_file(name)
    return None if status is None else status.st_size


def refuse_foreign_database(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database of another program, without changing a byte of it.

    Raises:
        StoreCorruptError: it belongs to another program.
    """
    # The owner is read last: another process may be making the database, and writes tables and owner at once.
    version, tables, owner = (
        connection.execute(sql).fetchone()[0]
        for sql in ("PRAGMA user_version", "SELECT count(*) FROM sqlite_master", "PRAGMA application_id")
    )
    if owner != APPLICATION_ID and (owner or version or tables):
        raise StoreCorruptError(
            f"{path} is an SQLite database of another program, so it was left alone. Set RLM_MEMORY_DB to another file."
        )


def _make_private(path: Path) -> None:
    """Make the file, its log and its index private to the user, where the file system supports it."""
    real = os.path.realpath(path)
    for name in (real, f"{real}-wal", f"{real}-shm"):
        try:
            if os.name == "posix" and stat.S_IMODE(os.stat(name).st_mode) & 0o077:
                os.chmod(name, 0o600)
        except FileNotFoundError:
            continue
        except OSError as error:
            logger.warning("%s cannot be made private: %s", name, error.strerror)


def _set_pragmas(connection: sqlite3.Connection, synchronous: str) -> None:
    connection.execute(f"PRAGMA synchronous = {'FULL' if synchronous == 'full' else 'NORMAL'}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA mmap_size = {MMAP_BYTES}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")


def retry_busy(
    action: Callable[[], T], pause: Callable[[float], object] | None = None, *, timeout_ms: int | None = None
) -> T:
    """Run `action`; while SQLite says busy at once, wait a little (jittered, doubling) and run it again.

    A busy answer that SQLite had waited for (`timeout_ms`) is final.
    """
    wait = pause or threading.Event().wait
    deadline = time.monotonic() + (BUSY_TIMEOUT_MS if timeout_ms is None else timeout_ms) / 1_000
    for attempt in range(BUSY_RETRIES):
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not isinstance(translate_error(error), StoreBusyError) or time.monotonic() >= deadline:
                raise
            import random  # Seldom needed: a hook is spared it.

            wait(random.uniform(0.5, 1.5) * 0.05 * 2**attempt)
    return action()


@contextlib.contextmanager
def write_transaction(connection: sqlite3.Connection, path: object = None) -> Iterator[None]:
    """Run the block as one write transaction; a nested block is part of the outer one, but fails whole by itself.

    `BEGIN IMMEDIATE` takes the write lock at once: a deferred transaction that reads first and writes later
    fails under load whatever the time-out (SQLITE_BUSY_SNAPSHOT).

    Raises:
        StoreError: the lock could not be had or a statement failed; nothing of the block was written.
    """
    if connection.in_transaction:
        with _nested_transaction(connection, path):
            yield
        return
    with translate_block_errors(path):
        timeout_ms = int(connection.execute("PRAGMA busy_timeout").fetchone()[0])
        with _announce_waiting(connection):
            retry_busy(lambda: connection.execute("BEGIN IMMEDIATE"), timeout_ms=timeout_ms)
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise


def _announce_waiting(connection: sqlite3.Connection) -> contextlib.AbstractContextManager[None]:
    queue = connection.queue if isinstance(connection, StoreConnection) else None
    return contextlib.nullcontext() if queue is None else queue.announce_waiting()


@contextlib.contextmanager
def _nested_transaction(connection: sqlite3.Connection, path: object) -> Iterator[None]:
    if is_snapshot_open(connection):
        # It would be rolled back with the snapshot, silently.
        raise StoreError("A snapshot is open on this connection and is read-only: write after it ends.")
    with translate_block_errors(path):
        connection.execute("SAVEPOINT nested")
        try:
            yield
            connection.execute("RELEASE nested")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK TO nested")
                connection.execute("RELEASE nested")
            raise


def _roll_back(connection: sqlite3.Connection) -> None:
    # SQLite may have rolled back by itself already (disk full, I/O error).
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@contextlib.contextmanager
def read_snapshot(connection: sqlite3.Connection, path: object = None) -> Iterator[None]:
    """Run the block's reads on one state of the database.

    Raises:
        StoreError: the block wrote, against the rule; what it wrote was rolled back.
    """
    with translate_block_errors(path):
        if connection.in_transaction:
            yield
            return
        before = connection.total_changes
        connection.execute("BEGIN")
        _mark_reading(connection, reading=True)
        try:
            yield
        finally:
            _mark_reading(connection, reading=False)
            _roll_back(connection)
    # Not PRAGMA query_only, which would refuse it at once: every statement is prepared anew after it, half of the time
    # of a short walk.
    if connection.total_changes != before:
        raise StoreError("A snapshot is read-only: what was written in it was rolled back. Write after it ends.")


def _mark_reading(connection: sqlite3.Connection, *, reading: bool) -> None:
    assert isinstance(connection, StoreConnection)
    connection.reading = reading


def is_snapshot_open(connection: sqlite3.Connection) -> bool:
    """Tell whether a snapshot is open."""
    return isinstance(connection, StoreConnection) and connection.reading
