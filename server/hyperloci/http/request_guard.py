"""Request guard: what is checked of every request before anything reads it: its address, and how many there were.

The SDK checks Host and Origin too, but only behind the token; here a page that a browser was led to learns nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)

REFUSALS: Final = 20
"""Unknown tokens an address may show a minute: enough for a client that was set up wrongly, useless for guessing."""


class RequestGuard:
    """Lets requests through that are meant for this server, and not more of them than agreed."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], origins: Collection[str], per_minute: int) -> None:
        """Make it.

        Args:
            app: answers what passes.
            hosts: the values of `Host` that are this server.
            origins: the values of `Origin` that may call it; a client that is no browser sends none.
            per_minute: requests that one token may make a minute.
        """
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower() for origin in origins)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._rate = RateLimitItemPerMinute(per_minute, namespace="requests")
        self._refusals = RateLimitItemPerMinute(REFUSALS, namespace="refusals")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the server's own start and end pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        address = _address_of(scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
                if message["status"] == 401:
                    self._limiter.hit(self._refusals, address)
            await send(message)

        await self._app(scope, receive, send_guarded)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return _refusal(421, "This is not the address of this server; it is started with --allow-host for others.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return _refusal(403, "Pages of this origin may not call this server; --allow-origin lets them.")
        if not self._limiter.test(self._refusals, _address_of(scope)):
            return _refusal(429, "Too many refused tokens from this address.", retry=True)
        shown = hashlib.sha256(headers.get("authorization", "").encode()).hexdigest()
        if not self._limiter.hit(self._rate, shown):
            return _refusal(429, f"More than {self._rate.amount} requests in a minute.", retry=True)
        return None


def _address_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "-"


def _refusal(status: int, message: str, *, retry: bool = False) -> Response:
    return PlainTextResponse(f"{message}\n", status, headers={"retry-after": "60"} if retry else None)
