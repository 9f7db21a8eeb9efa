"""Write queue: shows who waits for the write lock of a database, so that background work lets them go first.

SQLite's lock has no queue: a waiting writer asks again after 1, 2, 5, 10 ms and so on, and a writer that takes the lock
again at once starves it. So every writer, in whatever process, holds a shared lock on a file beside the database for as
long as it waits. A background writer looks before each of its transactions whether another one waits.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl


class WriteQueue:
    """One connection's place among the waiting writers. The operating system frees the place of a process that dies."""

    def __init__(self, database: Path) -> None:
        """Make it; nothing is opened before the first `announce_waiting`."""
        self._path = f"{os.path.realpath(database)}.queue.lock"
        self._opened = False
        self._descriptor: int | None = None
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def announce_waiting(self) -> Iterator[None]:
        """Announce inside the block that this connection waits for the write lock."""
        held = self._try_lock(shared=True)
        try:
            yield
        finally:
            if held:
                self._release_lock()

    def has_waiting_writers(self) -> bool | None:
        """Return whether another connection waits to write; None where that can't be told."""
        if self._open_file() is None:
            return None
        if not self._try_lock(shared=False):
            return True
        self._release_lock()
        return False

    def close(self) -> None:
        """Give the place up."""
        with self._lock:
            self._opened = True
            if self._descriptor is not None:
                os.close(self._descriptor)
            self._descriptor = None

    def _try_lock(self, *, shared: bool) -> bool:
        descriptor = self._open_file()
        if descriptor is None or fcntl is None:
            return False
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            # Somebody looks in this very moment, or the file system has no such locks: who waits is then not seen,
            # and SQLite's own waiting is all there is.
            return False
        return True

    def _release_lock(self) -> None:
        descriptor = self._descriptor
        if descriptor is not None and fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)

    def _open_file(self) -> int | None:
        if not self._opened and fcntl is not None:
            with self._lock:
                if not self._opened:
                    # A folder that can't be written to has no queue: rests of a fixed length serve instead.
                    with contextlib.suppress(OSError):
                        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                    self._opened = True
        return self._descriptor
