"""A memory served over HTTP in this process, asked without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from hyperloci.config import Settings
from hyperloci.http.issued_tokens import create_token
from hyperloci.http.served_memory import ServedMemory
from hyperloci.http.serving import HttpOptions, open_application
from hyperloci.store.access.access_values import AccessEvent
from tests.support import FakeClock

ORIGIN = "http://127.0.0.1:8765"


class HttpHouse:
    """A served memory, and those who knock at it."""

    def __init__(self, settings: Settings, project: Path, clock: FakeClock) -> None:
        self.served = ServedMemory(settings, project, is_common=False)
        self.clock = clock
        self.transport: httpx2.ASGITransport | None = None

    def give_token(self, person: str = "laptop", *, may_write: bool = True, days: int | None = None) -> tuple[str, str]:
        """Create a token; return its id and itself."""
        with self.served.open() as memory:
            grant, token = create_token(memory.store, person, may_write=may_write, days=days, now=self.clock())
        return grant.id, token

    def list_calls(self) -> list[AccessEvent]:
        """Return the noted calls, the latest first."""
        with self.served.open() as memory:
            return memory.store.access_log.list_events(limit=1_000)

    @asynccontextmanager
    async def serving(self, **options: object) -> AsyncIterator[None]:
        """Serve it with these options."""
        chosen = HttpOptions(port=8_765, announce=lambda _: None, **options)  # type: ignore[arg-type]
        async with open_application(self.served, chosen, 8_765, self.clock) as app:
            self.transport = httpx2.ASGITransport(app=app)
            yield

    def knock(self, token: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """Return an HTTP client that shows a token."""
        assert self.transport is not None
        shown = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx2.AsyncClient(transport=self.transport, base_url=ORIGIN, headers={**shown, **headers})

    def knock_from(self, address: str) -> httpx2.AsyncClient:
        """Return an HTTP client at another address, which shows no token."""
        assert self.transport is not None
        return httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self.transport.app, client=(address, 5)), base_url=ORIGIN
        )

    @asynccontextmanager
    async def session(self, token: str) -> AsyncIterator[ClientSession]:
        """Open an MCP session with the SDK's client."""
        async with (
            self.knock(token) as http,
            streamable_http_client(f"{ORIGIN}/mcp", http_client=http) as (incoming, outgoing, *_),
            ClientSession(incoming, outgoing) as session,
        ):
            await session.initialize()
            yield session


@pytest.fixture
def house(settings: Settings, project: Path, clock: FakeClock) -> HttpHouse:
    return HttpHouse(settings, project, clock)
