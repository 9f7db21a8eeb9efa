"""Waiting until a database's queue is empty, for whoever wants everything embedded before going on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.status import EmbedderStatus, State
from hyperloci.errors import EmbedderError

POLL_SECONDS: Final = 0.2
"""How often the queue is counted: often enough for a progress bar."""

STALL_SECONDS: Final = 60.0
"""An embedder that has done nothing for so long won't: a batch that the model sees is a tenth of a second's work."""

LOADING_SECONDS: Final = 180.0
"""How long it may take to its first batch: importing torch is seconds of work, minutes beside twenty busy programs."""


class Headway:
    """Tells whether a queue is being worked off: it gets shorter, or the model has seen another batch."""

    def __init__(self, left: int, now: float) -> None:
        """Begin to watch; `now` is the time in seconds, on a clock of the caller's choice."""
        self._seen = (left, 0)
        self._moved = now

    def check(self, left: int, status: EmbedderStatus | None, now: float) -> None:
        """Take note of how many nodes wait and of what the embedder tells, None where it tells nothing.

        Raises:
            EmbedderError: it has failed, or done nothing for too long.
        """
        if status is not None and status.state is State.FAILED:
            raise EmbedderError(f"The embedder can't embed: {status.error}")
        seen = (left, self._seen[1] if status is None else status.bulk_batches)
        if seen != self._seen:
            self._seen, self._moved = seen, now
        patience = STALL_SECONDS if seen[1] else LOADING_SECONDS
        if now - self._moved > patience:
            raise EmbedderError(f"The embedder has made no headway for {patience:.0f} seconds; the log says more.")


def wait_until_drained(
    client: EmbedderClient, database: Path, pending: Callable[[], int], progress: Callable[[int, int, str], None] | None
) -> int:
    """Have a running embedder work off a database's queue, and return how many nodes it could not embed.

    Args:
        client: of the embedder that runs or is being started.
        database: whose queue.
        pending: counts the nodes that wait.
        progress: called with (done, total, what).

    Raises:
        EmbedderError: the embedder can't embed, or makes no headway.
    """
    total = left = pending()
    headway = Headway(left, time.monotonic())
    while left:
        client.kick(database)
        threading.Event().wait(POLL_SECONDS)
        left = pending()
        if progress is not None:
            progress(total - left, total, "embedding")
        headway.check(left, client.status(), time.monotonic())
    return left
