"""Serving: the process that answers MCP over HTTP until it is told to end."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from hyperloci.app import build_server
from hyperloci.clock import Clock, system_clock
from hyperloci.errors import BadRequestError, NotReadyError
from hyperloci.http.call_audit import CallAudit
from hyperloci.http.connection import PromptConnection
from hyperloci.http.issued_tokens import PREFIX, READ, IssuedTokenVerifier
from hyperloci.http.outside_issuer import IssuerVerifier, OutsideIssuer
from hyperloci.http.request_guard import RequestGuard
from hyperloci.http.served_memory import ServedMemory
from hyperloci.log_file import configure_logging
from hyperloci.services import BackgroundService, EmbedderService, MaintenanceService
from hyperloci.system.values import dataclass
from hyperloci.worker import WorkerHandle, make_memory_opener
from hyperloci_hooks.dialects.wiring import CaptureState
from hyperloci_tools.instructions import COMMON_TEXT, TEXTS, FixedInstructions

PATH: Final = "/mcp"

NOT_SERVED: Final = frozenset({"index_path", "memory_repl", "save_consolidation"})
"""Tools that read this machine's files, run programs on it, or finish a session whose hooks ran here."""

NOT_COMMON: Final = frozenset({"memory_stats"})
"""Tools that tell of this machine what only its user need know."""

MAX_BODY_BYTES: Final = 1_000_000
"""The longest memory is a tenth of it."""

SPARE_CONNECTIONS: Final = 64
"""Beside one stream a session: calls under way."""

GRACE_SECONDS: Final = 2

HTTP_PORT: Final = 80
HTTPS_PORT: Final = 443

LOOPBACK: Final = ("127.0.0.1", "::1")
"""Where a proxy on the same machine calls from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How a memory is served over HTTP.

    Attributes:
        host, port: where it listens; port 0 takes a free one.
        hosts: further values of `Host` that are this server, such as `memory.example.org`.
        origins: web origins that may call it.
        url: the address by which clients know it, if not its own.
        certificate, private_key: PEM files, for TLS.
        behind_proxy: whether a proxy before it ends TLS.
        proxies: addresses or networks from which that proxy calls; of others `X-Forwarded-For` is not believed.
        issuer: whose tokens are taken beside its own.
        per_minute: requests that one token may make a minute.
        max_sessions: open at once.
        idle_seconds: a session that asked nothing for so long ends.
        announce: is told the address once it is listened to.
    """

    host: str = "127.0.0.1"
    port: int = 0
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    url: str | None = None
    certificate: Path | None = None
    private_key: Path | None = None
    behind_proxy: bool = False
    proxies: Sequence[str] = LOOPBACK
    issuer: OutsideIssuer | None = None
    per_minute: int = 240
    max_sessions: int = 256
    idle_seconds: float = 1_800.0
    announce: Callable[[str], None]

    def __post_init__(self) -> None:
        """Refuse to let tokens travel in the clear.

        Raises:
            BadRequestError: other machines could reach it without TLS, a key has no certificate, a proxy is no
                address, or an origin is none.
        """
        if tuple(self.proxies) != LOOPBACK and not self.behind_proxy:
            raise BadRequestError("--proxy says where the proxy of --behind-proxy is: give both.")
        for proxy in self.proxies:
            _require_network(proxy)
        for origin in self.origins:
            _require_origin(origin)
        if (self.certificate is None) != (self.private_key is None):
            raise BadRequestError("--tls-cert and --tls-key belong together.")
        if not _is_loopback(self.host) and self.certificate is None and not self.behind_proxy:
            raise BadRequestError(
                f"host={self.host!r} lets other machines in, and without TLS anybody on the way reads the tokens: give "
                "--tls-cert and --tls-key, or --behind-proxy where a proxy before it ends TLS."
            )


def _require_network(proxy: str) -> None:
    try:
        ipaddress.ip_network(proxy)
    except ValueError as error:
        raise BadRequestError(f"--proxy={proxy!r} must be an address or a network, such as 10.0.0.7.") from error


def _require_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}" or not parts.netloc:
        raise BadRequestError(f"--allow-origin={origin!r} must be a scheme and a host: https://app.example.org.")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _EitherVerifier:
    """Asks the verifier that a token belongs to: this server's own, or the outside issuer's."""

    def __init__(self, own: IssuedTokenVerifier, outside: IssuerVerifier | None) -> None:
        self._own = own
        self._outside = outside

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who a token speaks for, or None."""
        if token.startswith(PREFIX) or self._outside is None:
            return await self._own.verify_token(token)
        return await self._outside.verify_token(token)


def serve_http(served: ServedMemory, options: HttpOptions, clock: Clock = system_clock) -> None:
    """Serve a memory over HTTP until a signal ends it.

    Raises:
        StoreError: the database can't be opened.
        NotReadyError: the port is in use.
        BadRequestError: the address can't be listened at.
    """
    configure_logging(served.settings)
    with _listen(options) as listener:
        anyio.run(_serve, served, options, listener, clock)


def _listen(options: HttpOptions) -> socket.socket:
    try:
        family = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((options.host, options.port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            taken = f"port {options.port} on {options.host} is in use"
            raise NotReadyError(f"{taken}: choose another with --port, or 0 for a free one.") from error
        # `create_server` adds the address to what the system says, as a tuple.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        told = f"{options.host}:{options.port} can't be listened at ({reason})"
        raise BadRequestError(f"{told}: give another --host or --port, or port 0 for a free one.") from error


async def _serve(served: ServedMemory, options: HttpOptions, listener: socket.socket, clock: Clock) -> None:
    port = listener.getsockname()[1]
    async with open_application(served, options, port, clock) as app:
        options.announce(f"{_describe_address(options, port)}{PATH}")
        await uvicorn.Server(configure_server(app, options)).serve(sockets=[listener])


@asynccontextmanager
async def open_application(
    served: ServedMemory, options: HttpOptions, port: int, clock: Clock = system_clock
) -> AsyncIterator[ASGIApp]:
    """Open a memory and yield what answers HTTP for it; it is closed with the block.

    Raises:
        StoreError: the database can't be opened.
    """
    settings = served.settings
    door = WorkerHandle(make_memory_opener(settings, served.folder))
    await door.open()
    services: list[BackgroundService] = [EmbedderService(settings)] if settings.embedder else []
    if settings.upkeep:
        services.append(MaintenanceService(settings))
    own = _describe_address(options, port)
    verifier: TokenVerifier = _EitherVerifier(
        IssuedTokenVerifier(door, clock), None if options.issuer is None else IssuerVerifier(options.issuer)
    )
    hosts, origins = _list_hosts(options, port), [own, *options.origins]
    server = build_server(
        settings,
        served.folder,
        companions=services,
        watch=[CallAudit(door, clock, is_common=served.is_common)],
        # Hooks run where the client is, and tell the memory there.
        instructions=FixedInstructions(COMMON_TEXT if served.is_common else TEXTS[CaptureState.NOTHING]),
        without=NOT_SERVED | (NOT_COMMON if served.is_common else frozenset()),
        auth=_describe_auth(options, own),
        token_verifier=verifier,
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=options.idle_seconds,
        max_sessions=options.max_sessions,
        # No tool served here tells anything before its answer, and a stream for each costs a fifth of the event loop.
        json_response=True,
        # The guard compares names and origins, as the standards have it: the SDK does so letter by letter.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    try:
        async with app.router.lifespan_context(app):
            yield RequestGuard(
                _allow_pages(app, options.origins), hosts=hosts, origins=origins, per_minute=options.per_minute
            )
    finally:
        with anyio.CancelScope(shield=True):
            await door.close()


def _allow_pages(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Return an application whose answers pages of some origins may read: a browser asks before it calls.

    No credentials are allowed: a page shows its token itself, and a browser must not add what it keeps.
    """
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=[origin.lower() for origin in origins],
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["authorization", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id"],
        expose_headers=["mcp-session-id", "www-authenticate", "retry-after"],
    )


def _describe_auth(options: HttpOptions, own: str) -> AuthSettings:
    """Return what clients are told of where tokens come from: of an outside issuer only, ours are handed out."""
    told = own if options.issuer is None else options.issuer.issuer
    return AuthSettings.model_validate(
        {
            # As texts: an issuer is compared letter by letter, and a parsed address gains a stroke.
            "issuer_url": told,
            "resource_server_url": None if options.issuer is None else f"{own}{PATH}",
            "required_scopes": [READ],
            # The verifier checks the audience itself: providers name it in more ways than by this address.
            "validate_token_resource": False,
        }
    )


def _describe_address(options: HttpOptions, port: int) -> str:
    if options.url is not None:
        return options.url.rstrip("/")
    scheme = "http" if options.certificate is None else "https"
    return f"{scheme}://{_join_host(options.host, port)}"


def _list_hosts(options: HttpOptions, port: int) -> list[str]:
    """Return the values of `Host` that are this server; clients leave out the port that a scheme has by itself."""
    named = {options.host, *(("127.0.0.1", "localhost", "::1") if _is_loopback(options.host) else ())}
    usual = HTTP_PORT if options.certificate is None else HTTPS_PORT
    short = {_bracket(name) for name in named} if port == usual else set()
    return sorted({*(_join_host(name, port) for name in named), *short, *options.hosts})


def _join_host(host: str, port: int) -> str:
    return f"{_bracket(host)}:{port}"


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def configure_server(app: ASGIApp, options: HttpOptions) -> uvicorn.Config:
    """Return how an application is served: nothing is taken from the environment."""
    return uvicorn.Config(
        app,
        http=PromptConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Behind a proxy the address that is counted against is the one it names.
        proxy_headers=options.behind_proxy,
        forwarded_allow_ips=list(options.proxies),
        limit_concurrency=options.max_sessions * 2 + SPARE_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.private_key,
    )
