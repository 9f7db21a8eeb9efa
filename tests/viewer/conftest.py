"""A viewer without a socket, asked as a browser asks, and its answers read as a browser reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import anyio
import httpx2
import pytest

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.viewer.access import COOKIE, AccessGuard, ViewerKeys
from hyperloci.viewer.application import ViewerApplication
from hyperloci.viewer.background_answer import BackgroundAnswer, find_state, find_weak
from hyperloci.worker import WorkerPool
from tests.support import NOW, FakeClock
from tests.viewer.story import tell_story

VOID = {"meta", "link", "input", "img", "br", "hr", "rect", "path"}


class ReadPage(HTMLParser):
    """A page as its elements, its words, its links and its forms."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag == "form":
            self.forms.append({"action": attributes.get("action", ""), "method": attributes.get("method", "get")})
        elif tag == "input" and attributes.get("type") == "hidden" and self.forms:
            self.forms[-1][attributes["name"]] = attributes.get("value", "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def addresses(self) -> set[str]:
        """Everything that the page leads to or loads."""
        names = ("href", "src", "action")
        return {attributes[name] for _, attributes in self.elements for name in names if name in attributes}

    def find_form(self, action: str, **hidden: str) -> dict[str, str]:
        """Return the form for an action, with the hidden values that it must have."""
        found = [
            form
            for form in self.forms
            if f"/{action}/" in form["action"] and all(form.get(name) == value for name, value in hidden.items())
        ]
        assert found, (action, hidden, self.forms)
        return found[0]


@dataclass
class Visit:
    """A browser at a viewer."""

    client: httpx2.AsyncClient
    keys: ViewerKeys
    pages: dict[str, ReadPage] = field(default_factory=dict)

    async def enter(self) -> None:
        """Be admitted, as the opened address does it."""
        assert (await self.client.get(self.keys.entry_url)).status_code == 200

    async def open(self, path: str, status: int = 200) -> ReadPage:
        """Open a page, which must answer with this status."""
        answer = await self.client.get(f"{self.keys.root}{path}")
        assert answer.status_code == status, answer.text
        self.pages[path] = ReadPage(answer.text)
        return self.pages[path]

    async def open_when_found(self, path: str) -> ReadPage:
        """Open a page whose answer is looked for beside it, again until it has that."""
        page = await self.open(path)
        while ("meta", "refresh") in {(tag, attributes.get("http-equiv")) for tag, attributes in page.elements}:
            page = await self.open(path)
        return page

    async def submit(self, form: dict[str, str], **values: str) -> httpx2.Response:
        """Send a form as a browser does."""
        sent = {name: value for name, value in form.items() if name not in ("action", "method")} | values
        return await self.client.post(form["action"], data=sent, headers={"origin": self.keys.origin})

    async def do(self, form: dict[str, str], **values: str) -> ReadPage:
        """Send a form, follow where it leads and return that page."""
        answer = await self.submit(form, **values)
        assert answer.status_code == 303, answer.text
        return await self.open(answer.headers["location"].removeprefix(self.keys.root))


@asynccontextmanager
async def visit_viewer(settings: Settings, project: Path, clock: FakeClock) -> AsyncIterator[Visit]:
    """Run a viewer of a project in this process, without a socket."""
    keys = ViewerKeys(port=8_765)
    pool = WorkerPool(lambda: Memory.open(settings, project, clock=clock))
    async with anyio.create_task_group() as tasks:
        state = BackgroundAnswer(pool.indexer, tasks, find_state)
        weak = BackgroundAnswer(pool.indexer, tasks, find_weak)
        app = ViewerApplication(pool.reader, pool.writer, keys, clock, state=state, weak=weak).make_app()
        guard = AccessGuard(app, keys, lambda: None)
        transport = httpx2.ASGITransport(app=guard)
        async with httpx2.AsyncClient(transport=transport, base_url=keys.origin) as client:
            yield Visit(client, keys)
        await pool.close()


@pytest.fixture
def told(settings: Settings, tmp_path: Path) -> Iterator[tuple[dict[str, str], Path, FakeClock]]:
    """A project with one of everything: the ids of its memories, its folder and its clock."""
    folder, clock = tmp_path / "shop", FakeClock(NOW)
    folder.mkdir()
    with Memory.open(settings, folder, clock=clock) as memory:
        ids = tell_story(memory, clock, folder)
    yield ids, folder, clock


__all__ = ["COOKIE", "ReadPage", "Visit", "visit_viewer"]
