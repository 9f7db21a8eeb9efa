"""Access to the viewer: who may see and change anything, checked before any page is made.

A browser is entered by a token that is good once. From then on it shows a cookie that no script can read and that other
sites' requests don't carry. A cookie is sent to every port of a machine, so it is bound to a path that nobody else
knows: a program of another user's that a browser is led to never sees it. Requests with another `Host` (a name that was
bound to this address) and changes from another `Origin` are refused; a form carries a key beside.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Final
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyperloci.system.values import dataclass

HOST: Final = "127.0.0.1"

TOKEN_BYTES: Final = 16
"""128 bits: nobody guesses them."""

COOKIE: Final = "hyperloci"

MAX_BODY_BYTES: Final = 256 * 1_024
"""Ten times what the longest memory takes in a form."""

METHODS: Final = ("GET", "HEAD", "POST")

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: a browser would then hide the Origin of our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""Nothing is loaded from elsewhere, run from within a page, framed, or kept on a disk."""


def _make_secret() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(slots=True, kw_only=True)
class ViewerKeys:
    """What one run of the viewer is opened with.

    Attributes:
        port: where it listens.
        root: the path that all pages lie under, `/` and a secret.
        cookie: what an admitted browser shows.
        form_key: what its forms carry.
        token: what admits the first browser; None once it was used.
    """

    port: int
    root: str = field(default_factory=lambda: f"/{_make_secret()}")
    cookie: str = field(default_factory=_make_secret)
    form_key: str = field(default_factory=_make_secret)
    token: str | None = field(default_factory=_make_secret)

    @property
    def origin(self) -> str:
        """The viewer's own origin, as browsers name it."""
        return f"http://{HOST}:{self.port}"

    @property
    def entry_url(self) -> str:
        """The address that admits a browser, once."""
        return f"{self.origin}{self.root}/enter?{urlencode({'token': self.token or ''})}"

    def take_token(self, said: str) -> bool:
        """Tell whether this is the token, and let it be good no more if it is."""
        if self.token is None or not _is_same(said, self.token):
            return False
        self.token = None
        return True


class AccessGuard:
    """Lets the one admitted browser through to the pages, and nobody else."""

    def __init__(self, app: ASGIApp, keys: ViewerKeys, note_request: Callable[[], None]) -> None:
        self._app = app
        self._keys = keys
        self._note_request = note_request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what is not HTTP is none of the viewer's."""
        if scope["type"] != "http":
            return
        guarded = _with_headers(send)
        refusal = self._refuse(scope)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        self._note_request()
        await self._app(scope, receive, guarded)

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the answer to who may not pass, or who is only being admitted; None for who may."""
        headers = Headers(scope=scope)
        if headers.get("host") != f"{HOST}:{self._keys.port}":
            return _refusal(421, "This is not the address of this viewer.")
        if scope["method"] not in METHODS:
            return _refusal(405, "Only GET and POST are answered here.")
        path = scope["path"]
        if not _is_same(path[: len(self._keys.root) + 1], f"{self._keys.root}/"):
            return _refusal(404, "There is nothing here. Open the address that `hyperloci view` prints.")
        if path == f"{self._keys.root}/enter":
            return self._admit(scope)
        if not any(_is_same(said, self._keys.cookie) for said in _read_cookies(headers)):
            return _refusal(403, "This browser was not admitted. Run `hyperloci view` and open the address it prints.")
        return None if scope["method"] != "POST" else self._refuse_change(headers)

    def _refuse_change(self, headers: Headers) -> Response | None:
        if headers.get("origin") != self._keys.origin or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return _refusal(403, "Changes are made from the viewer's own pages only.")
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return _refusal(413, f"A change has a length, and at most {MAX_BODY_BYTES:,} bytes.")
        return None

    def _admit(self, scope: Scope) -> Response:
        said = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] != "GET" or not self._keys.take_token(said):
            return _refusal(403, "This address was used already; it is good once. Run `hyperloci view` again.")
        # Not a redirect: it would count as the other site's that led here, and strict cookies would stay behind.
        start = f"{self._keys.root}/"
        answer = HTMLResponse(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={start}"><title>Hyperloci</title>'
            f'<link rel="icon" href="{start}assets/icon.svg"><p><a href="{start}">Open the memory</a></p>'
        )
        answer.set_cookie(COOKIE, self._keys.cookie, path=start, httponly=True, samesite="strict")
        return answer


def _read_cookies(headers: Headers) -> Iterator[str]:
    """Yield what is shown as our cookie, wherever it stands among those of the machine's other programs.

    Not by the standard library, which reads none of them where one has no value, and of two with one name the last.
    """
    for line in headers.getlist("cookie"):
        for pair in line.split(";"):
            name, _, value = pair.strip().partition("=")
            if name == COOKIE:
                yield value


def _is_same(said: str, meant: str) -> bool:
    return secrets.compare_digest(said.encode(), meant.encode())


def _refusal(status: int, message: str) -> Response:
    return PlainTextResponse(f"{message}\n", status)


def _with_headers(send: Send) -> Send:
    """Return what sends an answer with the headers of all, and with how long it took to make."""
    began = time.perf_counter()

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers["server-timing"] = f"page;dur={1_000 * (time.perf_counter() - began):.1f}"
        await send(message)

    return send_guarded
