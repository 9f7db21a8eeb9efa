"""A server with a real memory on a real file, and the SDK's client joined to it in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from hyperloci.app import build_server
from hyperloci.config import Settings

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def connect(settings: Settings, project: Path) -> Connect:
    @asynccontextmanager
    async def connected(tools: str = "core", mode: str = "auto", **changes: Any) -> AsyncIterator[Client]:
        server = build_server(replace(settings, tools=tools, **changes), project, warm=False)
        async with Client(server, mode=mode) as client:
            yield client

    return connected
