"""Short turns at the database's write lock, so that whoever else writes hardly notices that a project is indexed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

from hyperloci.store import Store

TURN_SECONDS: Final = 0.002
"""How long a turn goes on: five to ten snippets."""

LONGEST_REST_SECONDS: Final = 0.025
"""How long the lock is left alone for those who wait: they ask SQLite again after 1, 2, 5 and 10 ms. Bounded, since one
of them may have been stopped while he waits."""

GLANCE_SECONDS: Final = 0.0005
"""How often a rest looks whether they have had their turn."""

REST_SHARE: Final = 1.0
"""Where it can't be told who waits: how long the lock is left alone, in turns."""


class Turns:
    """Write transactions between which those who wait come first (`store.write_queue`)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ended = 0.0
        self._took = 0.0

    @contextlib.contextmanager
    def turn(self) -> Iterator[float]:
        """Run the block as one transaction; yields when it should come to its end, by `time.perf_counter`."""
        self._rest()
        with self._store.transaction():
            started = time.perf_counter()
            yield started + TURN_SECONDS
        self._ended = time.perf_counter()
        self._took = self._ended - started

    def _rest(self) -> None:
        waited_for = self._store.others_wait()
        if waited_for is None:
            time.sleep(max(0.0, self._ended + self._took * REST_SHARE - time.perf_counter()))
            return
        until = time.perf_counter() + LONGEST_REST_SECONDS
        while waited_for and time.perf_counter() < until:
            time.sleep(GLANCE_SECONDS)
            waited_for = self._store.others_wait()
