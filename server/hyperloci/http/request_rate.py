"""Request rate: how often something may happen in a minute, for each of many keys, by a moving window.

Counted on the event loop in some microseconds. A library's store in memory starts a thread for every request that
comes a hundredth of a second after the last one, waits until it runs, and keeps keys that nobody asks for any more.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

WINDOW_SECONDS: Final = 60.0

MAX_KEYS: Final = 10_000
"""Keys that are counted at once; of more, those that came longest ago are forgotten: nobody fills the memory."""


class RequestRate:
    """Counts what may happen so often a minute; what is over that is not counted."""

    def __init__(self, amount: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Make it.

        Args:
            amount: how often a minute, for one key.
            clock: seconds that never go back.
        """
        self.amount = amount
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def allows(self, key: str) -> bool:
        """Return whether it may happen once more now."""
        return len(self._read_times(key, self._clock())) < self.amount

    def count(self, key: str) -> bool:
        """Count it once, if it may happen; return whether it may."""
        now = self._clock()
        times = self._read_times(key, now)
        if len(times) >= self.amount:
            return False
        times.append(now)
        self._times[key] = times
        self._times.move_to_end(key)
        self._forget_old_keys(now)
        return True

    def _read_times(self, key: str, now: float) -> deque[float]:
        times = self._times.get(key) or deque[float]()
        while times and times[0] <= now - WINDOW_SECONDS:
            times.popleft()
        return times

    def _forget_old_keys(self, now: float) -> None:
        while len(self._times) > MAX_KEYS or not self._read_times(next(iter(self._times)), now):
            self._times.popitem(last=False)
