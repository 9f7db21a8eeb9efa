"""Waiting until a database's queue is empty, for whoever wants everything embedded before going on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.status import State
from hyperloci.errors import EmbedderError

POLL_SECONDS: Final = 0.2
"""How often the queue is counted: often enough for a progress bar."""

STALL_SECONDS: Final = 60.0
"""A queue that doesn't get shorter for so long won't: the slowest batch seen takes a few seconds."""


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
    moved = time.monotonic()
    while left:
        client.kick(database)
        threading.Event().wait(POLL_SECONDS)
        before, left = left, pending()
        if progress is not None:
            progress(total - left, total, "embedding")
        if left != before:
            moved = time.monotonic()
        _check(client, moved)
    return left


def _check(client: EmbedderClient, moved: float) -> None:
    status = client.status()
    if status is not None and status.state is State.FAILED:
        raise EmbedderError(f"The embedder can't embed: {status.error}")
    if time.monotonic() - moved > STALL_SECONDS:
        raise EmbedderError(f"The embedder has made no headway for {STALL_SECONDS:.0f} seconds; the log says more.")
