"""Event queue: watchers put events in, and the worker takes them out in batches when they pause."""

from __future__ import annotations

import threading
import time
from typing import Final

from hyperloci.system.values import dataclass

QUIET_SECONDS: Final = 0.3
"""A batch is taken after so long without an event: editors, formatters and checkouts write in bursts."""

LONGEST_SECONDS: Final = 2.0
"""A batch is taken after this time at the latest: a build that writes all the time must not delay an edit."""

MAX_PATHS: Final = 2_000
"""Paths kept; with more, going over the whole tree is cheaper than asking for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBatch:
    """What happened: files and folders that changed, whether everything has to be compared, whether Git moved."""

    paths: tuple[str, ...] = ()
    everything: bool = False
    git: bool = False


class ChangeInbox:
    """A bounded set of paths between threads that see events and the one that works them off."""

    def __init__(self, *, quiet: float = QUIET_SECONDS, longest: float = LONGEST_SECONDS, limit: int = MAX_PATHS):
        self._quiet = quiet
        self._longest = longest
        self._limit = limit
        self._changed = threading.Condition()
        self._paths: dict[str, None] = {}
        self._everything = False
        self._git = False
        self._closed = False
        self._first = 0.0
        self._last = 0.0

    def add_paths(self, *paths: str) -> None:
        """Note that something happened to these paths; never waits."""
        with self._changed:
            self._note_arrival()
            self._paths.update(dict.fromkeys(paths))
            if len(self._paths) > self._limit:
                self._paths.clear()
                self._everything = True

    def add_everything(self) -> None:
        """Note that events may have been missed."""
        with self._changed:
            self._note_arrival()
            self._everything = True

    def add_git_change(self) -> None:
        """Note that a branch or HEAD moved."""
        with self._changed:
            self._note_arrival()
            self._git = True

    def close(self) -> None:
        """Wake every waiting thread; no more events are given out."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take_batch(self, timeout: float) -> ChangeBatch | None:
        """Wait for events, then for quiet, and return them; None after `timeout` without any, or if closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._has_any(), timeout)
            while not self._closed and self._has_any():
                now = time.monotonic()
                wait = min(self._last + self._quiet, self._first + self._longest) - now
                if wait <= 0:
                    return self._drain()
                self._changed.wait(wait)
            return None

    def _has_any(self) -> bool:
        return bool(self._paths) or self._everything or self._git

    def _note_arrival(self) -> None:
        self._last = time.monotonic()
        if not self._has_any():
            self._first = self._last
            self._changed.notify_all()

    def _drain(self) -> ChangeBatch:
        batch = ChangeBatch(
            paths=() if self._everything else tuple(self._paths), everything=self._everything, git=self._git
        )
        self._paths, self._everything, self._git = {}, False, False
        return batch
