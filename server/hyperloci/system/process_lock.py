"""Process lock: one owner at a time among many processes; the operating system frees it when its holder dies."""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
import time
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from hyperloci.system.own_folders import make_own_folders

RETRY_SECONDS: Final = 2.0
"""How often a process that lost asks again: the owner's death is noticed within this time, for two system calls."""


def lock_path(lock_dir: Path, role: str, subject: str) -> Path:
    """Return the lock file of a role (`watch`, `upkeep`) for a subject (a project's id, a database's path)."""
    digest = hashlib.sha256(subject.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return lock_dir / f"{role}-{digest}.lock"


class Election:
    """A candidate for one lock. Thread-safe."""

    def __init__(self, lock_path: Path) -> None:
        self.lock_path = lock_path
        self._lock = FileLock(lock_path, timeout=0, thread_local=False, mode=0o600)

    @property
    def is_won(self) -> bool:
        """Whether this candidate owns the lock."""
        return bool(self._lock.is_locked)

    def try_to_win(self) -> bool:
        """Take the lock if nobody has it; return whether it is ours.

        Raises:
            OSError: the lock file cannot be made.
        """
        if self.is_won:
            return True
        make_own_folders(self.lock_path.parent)
        with contextlib.suppress(Timeout):
            self._lock.acquire()
        return self.is_won

    def wait_to_win(
        self, stop: threading.Event, *, retry_seconds: float = RETRY_SECONDS, timeout: float | None = None
    ) -> bool:
        """Ask again and again until the lock is ours, `stop` is set or `timeout` seconds are over; tell if it is ours.

        Raises:
            OSError: the lock file cannot be made.
        """
        ends_at = math.inf if timeout is None else time.monotonic() + timeout
        while not self.try_to_win():
            if stop.wait(retry_seconds) or time.monotonic() >= ends_at:
                return False
        return True

    def resign(self) -> None:
        """Give the lock back."""
        self._lock.release(force=True)
