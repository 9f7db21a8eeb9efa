"""Request guard: what is checked of every request before anything reads it: its address, and how many there were.

Nothing else checks Host and Origin: the SDK could, letter by letter, but only behind the token. Here a page that a
browser was led to learns nothing.
"""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections.abc import Collection
from typing import Final

import anyio
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyperloci.http.request_rate import RequestRate

HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)

REFUSALS: Final = 20
"""Unknown tokens an address may show a minute: enough for a client that was set up wrongly, useless for guessing."""


BODY_SECONDS: Final = 60.0
"""In which a request's body must be here: a megabyte at the pace of a bad mobile network."""

SUBNET_BITS: Final = 64
"""Of an address of IPv6, whose holder has all that begin so."""


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
        self._requests = RequestRate(per_minute)
        self._refusals = RequestRate(REFUSALS)

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
                    self._refusals.count(address)
            await send(message)

        await self._app(scope, _limit_body(receive), send_guarded)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return _refusal(421, "This is not the address of this server; it is started with --allow-host for others.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return _refusal(403, "Pages of this origin may not call this server; --allow-origin lets them.")
        address = _address_of(scope)
        if not self._refusals.allows(address):
            return _refusal(429, "Too many refused tokens from this address.", retry=True)
        shown = headers.get("authorization")
        # Who shows none is counted by address: else one such client would keep all others from asking how to get in.
        caller = address if shown is None else hashlib.sha256(shown.encode()).hexdigest()
        if not self._requests.count(caller):
            return _refusal(429, f"More than {self._requests.amount} requests in a minute.", retry=True)
        return None


def _address_of(scope: Scope) -> str:
    """Return what a caller's address is counted as: of IPv6 its network, whose addresses one machine may all use."""
    client = scope.get("client")
    if not client:
        return "-"
    try:
        address = ipaddress.ip_address(client[0].partition("%")[0])
    except ValueError:
        return str(client[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, SUBNET_BITS), strict=False))


def _limit_body(receive: Receive) -> Receive:
    """Return what reads a request, and ends one whose body does not come."""
    left, is_read = BODY_SECONDS, False

    async def receive_limited() -> Message:
        nonlocal left, is_read
        if is_read:
            return await receive()
        message: Message = {"type": "http.disconnect"}
        began = time.monotonic()
        with anyio.move_on_after(max(0.0, left)):
            message = await receive()
        left -= time.monotonic() - began
        is_read = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return receive_limited


def _refusal(status: int, message: str, *, retry: bool = False) -> Response:
    return PlainTextResponse(f"{message}\n", status, headers={"retry-after": "60"} if retry else None)
