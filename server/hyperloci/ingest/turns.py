"""Short turns at the database's write lock, so that whoever else writes hardly notices that a project is indexed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

from hyperloci.store import Store

TURN_SECONDS: Final = 0.002
"""How long a turn goes on while others write too: five to ten snippets."""

QUIET_TURN_SECONDS: Final = 0.01
"""The same where nobody else writes: each commit costs a third of a millisecond."""

REST_SHARE: Final = 1.0
"""How long the lock is then left alone, in turns, while others write too. While a project of 350 files was indexed,
another process's write took 7 ms at p95; with turns of 5 ms and no rests 35 ms."""

QUIET_REST_SHARE: Final = 0.1
"""The same where nobody else writes: enough for the first of them to get in."""

OTHERS_SECONDS: Final = 600.0
"""So long after another connection's last write it is counted on to write again: a session has its pauses."""

SHORTEST_REST: Final = 0.002
"""Shorter rests are saved up: on a busy machine waking up takes longer than they do."""


class Turns:
    """Write transactions with rests between them.

    SQLite's lock knows no queue: who waits asks again after 1, 2, 5, 10... ms, and a writer that takes the lock again
    at once starves him.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rested_at = 0.0
        self._owed = 0.0
        self._version: int | None = None
        self._others_until = 0.0

    @property
    def is_shared(self) -> bool:
        """Whether another connection wrote lately."""
        return time.perf_counter() < self._others_until

    @contextlib.contextmanager
    def turn(self) -> Iterator[float]:
        """Run the block as one transaction; yields when it should come to its end, by `time.perf_counter`."""
        if (rest := self._rested_at - time.perf_counter()) > 0:
            time.sleep(rest)
        with self._store.transaction():
            started = time.perf_counter()
            self._look_for_others(started)
            yield started + (TURN_SECONDS if self.is_shared else QUIET_TURN_SECONDS)
        ended = time.perf_counter()
        self._owed += (ended - started) * (REST_SHARE if self.is_shared else QUIET_REST_SHARE)
        if self._owed >= SHORTEST_REST:
            self._rested_at, self._owed = ended + self._owed, 0.0

    def _look_for_others(self, now: float) -> None:
        """Note whether another connection, of any process, has written since the last turn."""
        version = self._store.version_of_others()
        if self._version not in (None, version):
            self._others_until = now + OTHERS_SECONDS
        self._version = version
