"""Write throttle: holds the database's write lock for short times, so that indexing hardly delays other writers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

from hyperloci.store import Store

TURN_SECONDS: Final = 0.002
"""How long a turn goes on while others write too: five to ten snippets. Without them, how often it looks for one."""

QUIET_TURN_SECONDS: Final = 0.1
"""The longest turn while nobody waits: each commit costs a third of a millisecond, and each leaves the keyword index a
segment more to merge."""

OTHERS_EXPECTED_SECONDS: Final = 600.0
"""After someone had to wait for the lock, others are expected to write for this long: sessions pause."""

LONGEST_REST_SECONDS: Final = 0.025
"""How long the lock is left alone for those who wait: they ask SQLite again after 1, 2, 5 and 10 ms. Bounded, since one
of them may have been stopped while waiting."""

GLANCE_SECONDS: Final = 0.0005
"""How often a rest looks whether they have had their turn."""

BLIND_REST_SHARE: Final = 1.0
"""If the waiting writers can't be counted: how long the lock is left free, in turns."""


class WriteTurn:
    """One turn: how long it may go on.

    Args:
        store: whose writers are looked for.
        longest: seconds that it may take while nobody waits.
    """

    def __init__(self, store: Store, longest: float) -> None:
        self._store = store
        started = time.perf_counter()
        self._next_look = started + TURN_SECONDS
        self._end = started + longest

    def is_over(self) -> bool:
        """Tell whether it should come to its end: somebody waits to write, or it took long enough."""
        now = time.perf_counter()
        if now < self._next_look:
            return False
        if now >= self._end or self._store.has_waiting_writers() is not False:
            self._end = now  # From here on, whoever asks again.
            return True
        self._next_look = now + TURN_SECONDS
        return False


class WriteThrottle:
    """Write transactions between which those who wait come first (`store.database.write_queue`)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ended = 0.0
        self._took = 0.0
        self._others_until = 0.0

    @contextlib.contextmanager
    def take_turn(self) -> Iterator[WriteTurn]:
        """Run the block as one transaction; yields what tells when it should come to its end."""
        self._yield_lock()
        with self._store.transaction():
            started = time.perf_counter()
            yield WriteTurn(self._store, TURN_SECONDS if started < self._others_until else QUIET_TURN_SECONDS)
        self._ended = time.perf_counter()
        self._took = self._ended - started

    def _yield_lock(self) -> None:
        others_wait = self._store.has_waiting_writers()
        now = time.perf_counter()
        if others_wait is not False:
            self._others_until = now + OTHERS_EXPECTED_SECONDS
        if others_wait is None:
            time.sleep(max(0.0, self._ended + self._took * BLIND_REST_SHARE - now))
        while others_wait and time.perf_counter() < now + LONGEST_REST_SECONDS:
            time.sleep(GLANCE_SECONDS)
            others_wait = self._store.has_waiting_writers()
