"""The one thing a hook may not be is late: when its time is over, the process ends with a valid answer."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


class Deadline:
    """Ends the process after so many seconds, unless `stop` is called first."""

    def __init__(self, seconds: float, last_words: Callable[[], None]) -> None:
        """Start to count.

        Args:
            seconds: how long the hook has.
            last_words: called on a thread of its own when time is over; the process exits with 0 after it.
        """
        self._stopped = threading.Event()
        self._seconds = seconds
        self._last_words = last_words
        threading.Thread(target=self._watch, name="deadline", daemon=True).start()

    def stop(self) -> None:
        """Count no longer."""
        self._stopped.set()

    def _watch(self) -> None:
        if self._stopped.wait(self._seconds):
            return
        try:
            self._last_words()
        finally:
            # Not sys.exit: the main thread may sit in a lock, a query or a read that nothing interrupts.
            os._exit(0)
