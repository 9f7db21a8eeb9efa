"""Failover: notices that memories wait and no embedder runs, and starts one.

The session that owned the embedder may have been killed, and an idle session would never find out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.errors import HyperlociError
from hyperloci.store import Store
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.system.background import BackgroundThread

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 2.0
"""How often a session checks. If an embedder runs, this is one short request, 1 ms; if none runs, also one read of the
queue, 2 ms. Within seconds of a death the next session takes over."""

_ANSWER_SECONDS: Final = 0.5


class EmbedderFailover:
    """A thread that has an embedder started where memories wait and none runs.

    One that ended because it was idle is left alone until something waits.
    """

    def __init__(self, settings: Settings, start: Callable[[], object], every: float = LOOK_SECONDS) -> None:
        """Create it; `start` is called whenever an embedder is missing."""
        self._settings = settings
        self._client = EmbedderClient(settings, insistent=True)
        self._start = start
        self._every = every
        self._thread = BackgroundThread("embedder-takeover", self._watch_queue)

    def start(self) -> None:
        """Start checking."""
        self._thread.start()

    def stop(self, timeout: float = 0.0) -> bool:
        """Stop; return whether a running check ended within `timeout` seconds."""
        return self._thread.stop(timeout)

    def _watch_queue(self) -> None:
        stopping = self._thread.stopping
        while not stopping.wait(self._every):
            try:
                if not self._is_embedder_running() and self._has_pending_nodes() and not stopping.is_set():
                    self._start()
            except (HyperlociError, OSError) as error:
                # A database that is being restored, or a disk that is full: the next check may succeed.
                logger.info("cannot check whether memories wait for vectors: %s", error)

    def _is_embedder_running(self) -> bool:
        # A process that holds the socket and does not answer is not an embedder: one that is loading reports it.
        return self._client.status(_ANSWER_SECONDS) is not None

    def _has_pending_nodes(self) -> bool:
        if not self._settings.database.is_file():
            return False
        path = self._settings.database
        with translate_block_errors(path), Store.open(path, read_only=True, busy_timeout_ms=0) as store:
            return store.has_waiting()
