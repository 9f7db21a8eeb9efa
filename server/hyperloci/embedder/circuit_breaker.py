"""Circuit breaker: after one timeout, searches use words until the embedder answers again.

Its state is shared by the whole process, so that only one caller has to wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock, system_clock

FIRST_RETRY_SECONDS: Final = 1.0
"""Pause before the next request after the first timeout; doubled after each further one."""

MAX_RETRY_SECONDS: Final = 30.0
"""Longest pause: a recovered embedder is noticed within this time."""

PROBE_SECONDS: Final = 0.25
"""Time limit of the next request: a healthy embedder reports its status in a thousandth of it."""

MIN_COUNTED_TIMEOUT: Final = 0.9
"""A shorter timeout proves nothing: a busy machine may take as long."""


class CircuitBreaker:
    """Records whether one embedder answers. Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic, clock: Clock = system_clock) -> None:
        self._now, self._clock = now, clock
        self._lock = threading.Lock()
        self._silences = 0
        self._until = 0.0
        self._since = 0

    @property
    def silent_since(self) -> int | None:
        """Time of the first timeout (Unix ms), None while it answers."""
        return self._since if self._silences else None

    def allows_request(self) -> bool:
        """Return whether to send a request: the last one was answered, or failed long enough ago.

        Only one caller tries again after a timeout; the others go on without the embedder.
        """
        if not self._silences:
            return True
        with self._lock:
            if self._now() < self._until:
                return False
            self._until = self._now() + self._pause_seconds()
            return True

    def record_silence(self) -> None:
        """Note that it did not answer in time."""
        with self._lock:
            if not self._silences:
                self._since = self._clock()
            self._silences += 1
            self._until = self._now() + self._pause_seconds()

    def record_answer(self) -> None:
        """Note that it did answer."""
        if self._silences:
            with self._lock:
                self._silences = 0

    def _pause_seconds(self) -> float:
        return min(FIRST_RETRY_SECONDS * 2.0 ** min(self._silences - 1, 10), MAX_RETRY_SECONDS)

    def describe_silence(self) -> str:
        """Return the message for callers."""
        since = time.strftime("%H:%M:%S", time.localtime(self._since / 1_000))
        return f"The embedder has not answered since {since}; searches use words until it does."


_by_address: Final[dict[Path, CircuitBreaker]] = {}


def get_circuit_breaker(address: Path) -> CircuitBreaker:
    """Return this process's circuit breaker for the embedder at an address."""
    return _by_address.setdefault(address, CircuitBreaker())
