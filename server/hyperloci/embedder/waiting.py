"""Waiting until a database's queue is empty, for callers that need everything embedded."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.status import EmbedderState, EmbedderStatus
from hyperloci.errors import EmbedderError

POLL_SECONDS: Final = 0.2
"""How often the queue is counted: often enough for a progress bar."""

POLL_SHARE: Final = 20.0
"""Counting is followed by this many times its own duration: a queue of a hundred thousand takes a while to count."""

GONE_SECONDS: Final = 30.0
"""Without any sign of an embedder for so long, there is none. One that lives is waited for, however slow it is."""

FAULT_SECONDS: Final = 60.0
"""So long one that can store nothing is waited for: what is missing (room on the disk) won't come by waiting."""

PACE_SECONDS: Final = 60.0
"""The pace is that of the last minute: code takes longer than the commits before it."""

QUIET_SECONDS: Final = 60.0
"""After so long without progress, the caller is notified."""


class DrainProgress:
    """Tracks the progress of a queue: its pace, since when it is stuck, and whether an embedder is left."""

    def __init__(self, left: int, now: float) -> None:
        """Begin to watch; `now` is the time in seconds, on a clock of the caller's choice."""
        self._left = left
        self._batches = 0
        self._seen: deque[tuple[float, int]] = deque()
        self._moved = self._seen_alive = self._sound = now

    def record_progress(
        self, left: int, status: EmbedderStatus | None, now: float, *, alive: bool = False, fault: str | None = None
    ) -> str:
        """Record how many nodes wait and the embedder's status; return a description of the progress.

        Args:
            left: nodes that wait.
            status: of the embedder, None if it does not answer.
            now: the time.
            alive: an embedder is being started, or kept running, by somebody.
            fault: why the last batch could not be stored.

        Raises:
            EmbedderError: it can't embed, or can't store what it embeds, or there is none.
        """
        if status is not None and status.state is EmbedderState.FAILED:
            raise EmbedderError(f"The embedder can't embed: {status.error}")
        if fault is None or left < self._left:
            self._sound = now
        elif now - self._sound > FAULT_SECONDS:
            raise EmbedderError(f"The embedder can't store vectors: {fault}")
        batches = self._batches if status is None else status.bulk_batches
        if (left, batches) != (self._left, self._batches):
            if not self._seen:
                self._seen.append((self._moved, self._left))
            self._left, self._batches, self._moved = left, batches, now
            self._seen.append((now, left))
            while len(self._seen) > 2 and self._seen[1][0] <= now - PACE_SECONDS:
                self._seen.popleft()
        if status is not None or alive or self._moved == now:
            self._seen_alive = now
        if now - self._seen_alive > GONE_SECONDS:
            raise EmbedderError("No embedder is running, and none can be started; see the log.")
        return self._describe_progress(now)

    def _describe_progress(self, now: float) -> str:
        quiet = now - self._moved
        if quiet > QUIET_SECONDS:
            return f"embedding: nothing done for {quiet / 60:.0f} min, the machine is busy or the embedder is starting"
        if not self._seen:
            return "embedding: starting"
        since, first = self._seen[0]
        if now <= since or self._left >= first:
            return "embedding"
        pace = (first - self._left) / (now - since)
        seconds = self._left / pace
        left = f"{seconds / 60:.0f} min left" if seconds >= 90 else f"{math.ceil(seconds / 10) * 10} s left"
        return f"embedding, {pace:.1f} a second, {left if self._left else 'done'}"


def wait_until_drained(
    client: EmbedderClient,
    database: Path,
    pending: Callable[[], int],
    progress: Callable[[int, int, str], None] | None,
    *,
    alive: Callable[[], bool],
) -> int:
    """Have a running embedder work off a database's queue, and return how many nodes it could not embed.

    Args:
        client: of the embedder that runs or is being started.
        database: whose queue.
        pending: counts the nodes that wait.
        progress: called with (done, total, what).
        alive: tells whether an embedder runs or is being started, and starts one that has ended.

    Raises:
        EmbedderError: the embedder can't embed or store vectors, or there is none.
    """
    total = left = pending()
    headway = DrainProgress(left, time.monotonic())
    wait = POLL_SECONDS
    while left:
        client.notify(database)
        threading.Event().wait(wait)
        started = time.monotonic()
        left = pending()
        wait = max(POLL_SECONDS, POLL_SHARE * (time.monotonic() - started))
        total = max(total, left)
        status = client.status()
        fault = None if status is None else dict(status.faults).get(str(database.absolute()))
        words = headway.record_progress(left, status, time.monotonic(), alive=alive(), fault=fault)
        if progress is not None:
            progress(total - left, total, words)
    return left
