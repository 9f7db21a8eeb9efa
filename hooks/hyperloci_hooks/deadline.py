"""Deadline: when a hook's time is over, its process ends with a valid answer."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Final

ENDINGS: Final = ("SIGTERM", "SIGINT", "SIGHUP")
"""Signals that Claude Code sends when a hook takes too long; it kills the process a moment later."""


class ProcessDeadline:
    """Ends the process after some seconds, or at a signal, unless `cancel` is called first."""

    def __init__(self, seconds: float, last_words: Callable[[], None]) -> None:
        """Start the clock; call this on the main thread.

        Args:
            seconds: how long the hook may take.
            last_words: called on a separate thread when the time is over; the process then exits with 0.
        """
        self._stopped = threading.Event()
        self._seconds = seconds
        self._last_words = last_words
        self._bell = _open_signal_pipe() if os.name == "posix" else None
        threading.Thread(target=self._wait_for_end, name="deadline", daemon=True).start()

    def cancel(self) -> None:
        """Stop the clock."""
        self._stopped.set()

    def _wait_for_end(self) -> None:
        if self._bell is None:
            self._stopped.wait(self._seconds)
        else:
            select.select([self._bell], [], [], self._seconds)
        if self._stopped.is_set():
            return
        try:
            self._last_words()
        finally:
            # Not sys.exit: the main thread may be in a lock, a query or a read that nothing interrupts.
            os._exit(0)


def _open_signal_pipe() -> int:
    """Return a descriptor that becomes readable at a signal to end, whatever the main thread does."""
    heard, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    for name in ENDINGS:
        # Python runs its handlers between two steps of the main thread, which may be waiting for a disk.
        signal.signal(getattr(signal, name), lambda *_: None)
    return heard
