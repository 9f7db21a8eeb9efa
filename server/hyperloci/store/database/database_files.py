"""Database files: the database, its log and the log's index, kept together while other programs move them.

SQLite finds the log and its index by their names, at a connection's first read. A database that is made where one was
deleted must not find what that one left: it would share the index of whoever still has the old one open. And a file
that was opened just before another took its place must not be used with the log of that other.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Self

from hyperloci.errors import StoreBusyError, StoreError, StoreReadOnlyError
from hyperloci.system.values import dataclass

LOCK_SECONDS: Final = 30.0
"""How long a process waits for another that makes or migrates a database, or for the end of a copy that can't go on."""

LOCK_SUFFIX: Final = ".migrate.lock"
"""Of the lock that lies beside a database since it was made."""

OPEN_TRIES: Final = 20
"""How often a database is opened whose files change at that moment; then somebody does nothing else."""

LOG, INDEX = "-wal", "-shm"
"""What SQLite adds to a database's name for its log, and for the log's index."""

_LOG_HEADER_BYTES: Final = 32

_FRAME_HEADER_BYTES: Final = 24
"""Before each page in the log: its number, how many pages the database has then, two salts, two checksums."""

_INDEX_FRAMES_AT: Final = 16
_INDEX_DONE_AT: Final = 96
"""Where the log's index says how many frames the log has, and how many of them were brought into the file."""

Identity = tuple[int, int] | None
"""Device and number of a file; None if there is none. A number is given anew only once nobody has the file open."""

files_lock: Final = threading.RLock()
"""Held while this process opens a database, or saves what a moved one holds and drops its log."""


@dataclass(frozen=True, slots=True)
class DatabaseFiles:
    """Which files have the names of a database, of its log and of the log's index."""

    main: Identity
    log: Identity
    index: Identity

    @classmethod
    def find(cls, real: str) -> Self:
        """Return those that are there now."""
        return cls(*(identify_file(f"{real}{suffix}") for suffix in ("", LOG, INDEX)))


_held: Final[Counter[tuple[str, DatabaseFiles]]] = Counter()
"""The files that connections of this process have open, by the database's path."""


def hold_files(real: str, files: DatabaseFiles) -> None:
    """Note that a connection has files open."""
    with files_lock:
        _held[real, files] += 1


def release_files(real: str, files: DatabaseFiles) -> None:
    """Note that a connection has closed files."""
    with files_lock:
        _held[real, files] -= 1
        if not _held[real, files]:
            del _held[real, files]


def stat_file(name: str) -> os.stat_result | None:
    """Return what the system knows of a file; None if there is none."""
    try:
        return os.stat(name)
    except OSError:
        return None


def is_empty(name: str) -> bool:
    """Tell whether a file holds nothing, or isn't there."""
    status = stat_file(name)
    return status is None or not status.st_size


def identity_of(status: os.stat_result | None) -> Identity:
    """Return which file it is that the system told of."""
    return None if status is None else (status.st_dev, status.st_ino)


def identify_file(name: str) -> Identity:
    """Return which file has a name."""
    return identity_of(stat_file(name))


def list_logged_pages(real: str, index: Identity, page_bytes: int) -> set[int]:
    """Return the numbers of the pages of which a database's log holds a version that is not in the file yet.

    Frames stay in the log once they were brought into the file: SQLite reads those pages from the file
    (https://sqlite.org/walformat.html). Where the index can't be read they count too. Call it in a transaction: while
    somebody reads, nobody begins the log anew.

    Args:
        real: the database's path, without links.
        index: of the log; a connection of this process has it open.
        page_bytes: the size of a page.
    """
    known = _read_open_file(index, _INDEX_DONE_AT + 4)
    frames, done = sys.maxsize, 0
    if len(known) == _INDEX_DONE_AT + 4:
        frames, done = (int.from_bytes(known[at : at + 4], sys.byteorder) for at in (_INDEX_FRAMES_AT, _INDEX_DONE_AT))
    pages: set[int] = set()
    try:
        # Unlike the database itself, nobody locks the log: closing it again sets nobody free.
        with open(f"{real}{LOG}", "rb") as log:
            salt = log.read(_LOG_HEADER_BYTES)[16:24]
            log.seek(done * (_FRAME_HEADER_BYTES + page_bytes), os.SEEK_CUR)
            for _ in range(done, frames):
                frame = log.read(_FRAME_HEADER_BYTES)
                if len(frame) < _FRAME_HEADER_BYTES or frame[8:16] != salt:
                    break
                pages.add(int.from_bytes(frame[:4], "big"))
                log.seek(page_bytes, os.SEEK_CUR)
    except OSError:
        return set()
    return pages


def _read_open_file(identity: Identity, length: int) -> bytes:
    """Return the beginning of a file that this process has open; nothing where it can't be found.

    To open it once more and close it again would free the locks that SQLite has on it.
    """
    try:
        numbers = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return b""
    for number in numbers:
        with contextlib.suppress(OSError):
            if identity_of(os.fstat(number)) == identity:
                return os.pread(number, length, 0)
    return b""


@contextlib.contextmanager
def lock_database(real: str) -> Iterator[None]:
    """Keep other processes from making, migrating or dropping a database's files.

    Raises:
        StoreBusyError: another process has been at it for too long.
        StoreError: the lock can't be made.
    """
    # Loaded only where it is needed: it is a tenth of what a hook may take.
    from filelock import FileLock, Timeout

    lock = FileLock(f"{real}{LOCK_SUFFIX}", timeout=LOCK_SECONDS, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise StoreBusyError(f"Another process is making or migrating {real}; try again in a minute.") from error
    except OSError as error:
        kind = StoreReadOnlyError if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else StoreError
        raise kind(
            f"{lock.lock_file} cannot be created: {error.strerror}. Set RLM_MEMORY_DB to a file you may write."
        ) from error
    try:
        yield
    finally:
        lock.release()


def make_database(real: str) -> bool:
    """Make an empty database, private to the user, if there is no file; return whether it was made.

    It is there as a whole or not at all. What a deleted one left beside it goes first; whoever has that open keeps it.

    Raises:
        OSError: it can't be written.
        StoreError: see `lock_database`.
    """
    if os.path.lexists(real):
        return False
    with lock_database(real):
        if os.path.lexists(real):
            return False
        begun = f"{real}.{os.getpid()}.new"
        try:
            os.close(os.open(begun, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            with contextlib.closing(sqlite3.connect(begun, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
            for suffix in (LOG, INDEX):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{real}{suffix}")
            os.rename(begun, real)
        except sqlite3.Error as error:
            raise OSError(errno.EIO, str(error)) from error
        finally:
            for suffix in ("", LOG, INDEX, "-journal"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{begun}{suffix}")
    return True


def drop_log(real: str, files: DatabaseFiles) -> None:
    """Delete a log and its index from beside a file that they do not belong to: SQLite would play them into that."""
    with lock_database(real):
        for suffix, identity in ((LOG, files.log), (INDEX, files.index)):
            name = f"{real}{suffix}"
            if identity is not None and identify_file(name) == identity:
                os.unlink(name)


def connect_to_files(
    real: str, mode: str, *, timeout: float, **options: Any
) -> tuple[sqlite3.Connection, DatabaseFiles]:
    """Open a database that is there, with the log and the index that belong to it, and read from it once.

    Args:
        real: its path, without links.
        mode: of SQLite's URI: `mode=rw` or the like; never one that makes a file.
        timeout: seconds to wait for locks.
        options: for `sqlite3.connect`.

    Raises:
        StoreBusyError: its files change all the time.
        sqlite3.Error: it can't be opened or read.
    """
    from urllib.parse import quote

    for _ in range(OPEN_TRIES):
        before = identify_file(real)
        _drop_foreign_log(real, before)
        try:
            connection = sqlite3.connect(
                f"file:{quote(real)}?{mode}", uri=True, timeout=timeout, isolation_level=None, **options
            )
            try:
                # Now the log and its index are open, too.
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                files = DatabaseFiles.find(real)
                if files.main == before == identify_file(real):
                    return connection, files
            except BaseException:
                connection.close()
                raise
            connection.close()
        except sqlite3.Error:
            if identify_file(real) == before:
                raise
    raise StoreBusyError(f"The files of {real} are being replaced again and again; try again when that is over.")


def _drop_foreign_log(real: str, main: Identity) -> None:
    """Delete a log of a database that was replaced; connections of this process have that open still."""
    there = DatabaseFiles.find(real)
    for path, files in list(_held):
        if path == real and files.main != main and files.log == there.log and there.log is not None:
            drop_log(real, files)
