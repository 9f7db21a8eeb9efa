"""The one thing a hook may not be is late: when its time is over, the process ends with a valid answer."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Final

ENDINGS: Final = ("SIGTERM", "SIGINT", "SIGHUP")
"""What a host sends that has lost patience; it kills a moment later."""


class ProcessDeadline:
    """Ends the process after so many seconds, or when it is told to end, unless `stop` is called first."""

    def __init__(self, seconds: float, last_words: Callable[[], None]) -> None:
        """Start to count; on the main thread.

        Args:
            seconds: how long the hook has.
            last_words: called on a thread of its own when time is over; the process exits with 0 after it.
        """
        self._stopped = threading.Event()
        self._seconds = seconds
        self._last_words = last_words
        self._bell = _open_signal_pipe() if os.name == "posix" else None
        threading.Thread(target=self._wait_for_end, name="deadline", daemon=True).start()

    def cancel(self) -> None:
        """Count no longer."""
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
            # Not sys.exit: the main thread may sit in a lock, a query or a read that nothing interrupts.
            os._exit(0)


def _open_signal_pipe() -> int:
    """Return a descriptor that becomes readable when this process is told to end, whatever the main thread is at."""
    heard, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    for name in ENDINGS:
        # Python's own handlers run between two steps of the main thread, which may be waiting for a disk.
        signal.signal(getattr(signal, name), lambda *_: None)
    return heard
