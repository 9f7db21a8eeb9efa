"""Connection: HTTP/1.1 as uvicorn speaks it, with an end for who opens one and doesn't finish asking.

Without that, some hundreds of connections that each send a byte now and then keep everybody else out, and whoever
reaches the port can open them: a token is asked for only when a request's head is there.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 15.0
"""From a connection's beginning, or a further request's first byte, to the end of its head; clients need one packet."""


class PromptConnection(H11Protocol):
    """A connection that is closed when a request's head takes too long."""

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Read what came, and wait on where no request's head is whole yet."""
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_watching()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        """Close the connection later where no request is under way; what was waited for goes on being so."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_watching()
        elif self._closing is None and not self.transport.is_closing():
            self._closing = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_watching(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
