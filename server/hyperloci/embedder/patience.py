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

FIRST_SECONDS: Final = 1.0
"""Before it is asked again after the first silence; doubled after each further one."""

LONGEST_SECONDS: Final = 30.0
"""Where the doubling ends: so long may an embedder be back before anybody notices."""

PROBE_SECONDS: Final = 0.25
"""What asking again may take: an embedder that is well tells its state in a thousandth of it."""

COUNTED_SECONDS: Final = 0.9
"""Whoever had less patience than this has learnt nothing: a busy machine may take as long."""


class CircuitBreaker:
    """What is known of the silence of one embedder. Safe in any thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic, clock: Clock = system_clock) -> None:
        self._now, self._clock = now, clock
        self._lock = threading.Lock()
        self._silences = 0
        self._until = 0.0
        self._since = 0

    @property
    def silent_since(self) -> int | None:
        """When it was first waited for in vain (Unix ms), None while it answers."""
        return self._since if self._silences else None

    def allows_request(self) -> bool:
        """Tell whether to ask it at all: it answered when it was last asked, or that is long enough ago.

        Only one asks after a silence; the others are told to go on without it.
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
        return min(FIRST_SECONDS * 2.0 ** min(self._silences - 1, 10), LONGEST_SECONDS)

    def describe_silence(self) -> str:
        """Return what to tell of the silence."""
        since = time.strftime("%H:%M:%S", time.localtime(self._since / 1_000))
        return f"The embedder has not answered since {since}; searches use words until it does."


_by_address: Final[dict[Path, CircuitBreaker]] = {}


def get_circuit_breaker(address: Path) -> CircuitBreaker:
    """Return what this process knows of the embedder that listens at an address."""
    return _by_address.setdefault(address, CircuitBreaker())
