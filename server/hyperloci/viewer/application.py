"""Application: the viewer's pages by their addresses, and what becomes of a form and of an error."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import Any, Final

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from hyperloci.clock import Clock
from hyperloci.errors import BadRequestError, HyperlociError, NotFoundError
from hyperloci.memory import Memory
from hyperloci.viewer import page_values
from hyperloci.viewer.access import ViewerKeys
from hyperloci.viewer.actions import DONE, MEMORY_ACTIONS
from hyperloci.viewer.background_answer import BackgroundAnswer
from hyperloci.viewer.page_values import PageLoader, PageQuery, Values
from hyperloci.viewer.rendering import explain_error, make_environment, render_page
from hyperloci.worker import WorkerHandle

Answer = Callable[[Request], Awaitable[Response]]

ASSETS: Final[Mapping[str, str]] = {
    "style.css": "text/css",
    "keys.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}

PAGES: Final[Mapping[str, tuple[str, PageLoader]]] = {
    "/": ("search", page_values.load_search),
    "/memory/{id}": ("memory", page_values.load_memory),
    "/graph/{id}": ("graph", page_values.load_graph),
    "/sessions": ("sessions", page_values.load_sessions),
    "/session/{id:path}": ("session", page_values.load_session),
    "/review": ("review", page_values.load_review),
    "/timeline": ("timeline", page_values.load_timeline),
    "/topics": ("topics", page_values.load_topics),
    "/topic/{id}": ("topic", page_values.load_topic),
}

RETURNS: Final[Mapping[str, str]] = {tab.name: tab.path for tab in page_values.REVIEW_TABS}
"""Where a form leads back to, by a word of a closed set: an address of another site can't be smuggled in."""


class ViewerApplication:
    """The pages of one memory: it is read on one thread, changed on another, and counted on a third."""

    def __init__(
        self,
        reader: WorkerHandle,
        writer: WorkerHandle,
        keys: ViewerKeys,
        clock: Clock,
        *,
        state: BackgroundAnswer,
        weak: BackgroundAnswer,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._state = state
        self._weak = weak
        self._keys = keys
        self._clock = clock
        self._templates: Environment = make_environment()
        self._assets = {name: _read_asset(name) for name in ASSETS}

    def make_app(self) -> Starlette:
        """Return the application, all of it below the secret path."""
        routes = [
            *(Route(path, self._make_page(name, load)) for path, (name, load) in PAGES.items()),
            Route("/state", self._show_state),
            Route("/weak", self._show_weak),
            Route("/assets/{name}", self._send_asset),
            Route("/{action}/{id}", self._change, methods=["POST"]),
        ]
        return Starlette(
            routes=[Mount(self._keys.root, routes=routes)],
            exception_handlers={HyperlociError: self._tell_error, HTTPException: self._tell_missing},
        )

    def _make_page(self, name: str, load: PageLoader) -> Answer:
        async def show_page(request: Request) -> Response:
            id, query = str(request.path_params.get("id", "")), request.query_params
            return self._render(request, name, await self._reader.call(_load_framed, load, id, query))

        return show_page

    async def _show_state(self, request: Request) -> Response:
        frame = await self._reader.call(_load_frame)
        return self._render(request, "state", frame | {"state": await self._state.get_values()})

    async def _show_weak(self, request: Request) -> Response:
        frame = await self._reader.call(_load_frame)
        found = await self._weak.get_values()
        listed = {"tab": page_values.WEAK, "tabs": page_values.REVIEW_TABS, "more": None}
        return self._render(request, "review", frame | listed | (found or {"memories": None}))

    async def _change(self, request: Request) -> Response:
        """Do what a form asks for, and lead to the page that shows it."""
        form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
        if not secrets.compare_digest(form.get("key", "").encode(), self._keys.form_key.encode()):
            raise BadRequestError("The form is from another run of the viewer: go back, reload the page, try again.")
        action = MEMORY_ACTIONS.get(request.path_params["action"])
        if action is None:
            raise NotFoundError("There is no such action.")
        shown, done = await self._writer.call(action, request.path_params["id"], form)
        for answer in (self._state, self._weak):
            answer.forget()
        back = RETURNS.get(form.get("back", ""), f"/memory/{shown}?" if shown else "/review?")
        return RedirectResponse(f"{self._keys.root}{back}done={done}", 303)

    async def _send_asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            raise NotFoundError("There is no such file.")
        return Response(self._assets[name], media_type=ASSETS[name])

    async def _tell_error(self, request: Request, error: Exception) -> Response:
        status = 404 if isinstance(error, NotFoundError) else 400 if isinstance(error, BadRequestError) else 503
        return self._render(request, "message", {"project": "", "message": explain_error(str(error))}, status)

    async def _tell_missing(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        values = {"project": "", "message": "There is no such page."}
        return self._render(request, "message", values, status)

    def _render(self, request: Request, name: str, values: Mapping[str, Any], status: int = 200) -> Response:
        framed = {
            "root": self._keys.root,
            "key": self._keys.form_key,
            "now": self._clock(),
            "page_name": name,
            "done": DONE.get(request.query_params.get("done", "")),
            **values,
        }
        return HTMLResponse(render_page(self._templates, name, framed), status)


def _load_framed(memory: Memory, load: PageLoader, id: str, query: PageQuery) -> Values:
    return _load_frame(memory) | load(memory, id, query)


def _load_frame(memory: Memory) -> Values:
    return {"project": memory.project.name}


def _read_asset(name: str) -> bytes:
    return resources.files("hyperloci.viewer").joinpath("assets", name).read_bytes()
