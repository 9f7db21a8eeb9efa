"""Serving: the viewer's process: a port of its own on this machine, until it is closed or nobody looks any more."""

from __future__ import annotations

import contextlib
import errno
import html
import os
import socket
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import anyio
import uvicorn

from hyperloci.clock import Clock, system_clock
from hyperloci.config import Settings
from hyperloci.embedder.supervisor import EmbedderSupervisor
from hyperloci.embedder.transport import make_private_folder
from hyperloci.errors import BadRequestError, HyperlociError, NotReadyError
from hyperloci.system.values import dataclass
from hyperloci.viewer.access import HOST, AccessGuard, ViewerKeys
from hyperloci.viewer.application import ViewerApplication
from hyperloci.viewer.background_answer import BackgroundAnswer, find_state, find_weak
from hyperloci.viewer.page_values import WARM_UP
from hyperloci.worker import WorkerPool, make_memory_opener

CONNECTIONS: Final = 32
"""A browser opens six; who opens hundreds wants to be in the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewerOptions:
    """How the viewer is run.

    Attributes:
        port: where it listens on this machine; 0 takes a free one.
        open_browser: whether the user's browser is led there.
        idle_seconds: it ends after so long without a request.
        announce: is told the address once it is listened to.
    """

    port: int
    open_browser: bool
    idle_seconds: float
    announce: Callable[[str], None]


def serve_viewer(settings: Settings, project: Path, options: ViewerOptions, clock: Clock = system_clock) -> None:
    """Show a project's memory in a browser, until the user ends it or nobody looked for a while.

    Raises:
        StoreError: the database can't be opened.
        NotReadyError: the port is in use.
        BadRequestError: it can't be listened at.
    """
    with _listen(options.port) as listener, EmbedderSupervisor(settings) as embedder:
        embedder.ensure_running()
        keys = ViewerKeys(port=listener.getsockname()[1])
        anyio.run(_serve, settings, project, options, keys, listener, clock)


@contextlib.contextmanager
def _listen(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if sys.platform != "win32":
            # A viewer that has just ended leaves its port behind; on Windows the option would share a live one.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                taken = f"port {port} on {HOST} is in use"
                raise NotReadyError(f"{taken}: choose another with --port, or 0 for a free one.") from error
            message = f"Port {port} can't be listened at ({error.strerror}): give another --port, or 0 for a free one."
            raise BadRequestError(message) from error
        listener.listen(CONNECTIONS)
        yield listener


class IdleWatch:
    """When somebody last looked."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def note_request(self) -> None:
        """Note that somebody looks now."""
        self._last = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """How long nobody has looked."""
        return time.monotonic() - self._last


class ViewerServer(uvicorn.Server):
    """A server that tells its address once it takes signals, and that a signal only ends.

    Told earlier, Ctrl+C met a loop that was half set up. And uvicorn raises what it was sent once more when it is done:
    two of them ended the closing in the middle, and the process waited for its threads for ever.
    """

    def __init__(self, config: uvicorn.Config, invite: Callable[[], object]) -> None:
        super().__init__(config)
        self._invite = invite

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell where."""
        await super().startup(sockets)
        self._invite()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End; at once if it was told before."""
        self.force_exit = self.should_exit
        self.should_exit = True


async def _serve(
    settings: Settings,
    project: Path,
    options: ViewerOptions,
    keys: ViewerKeys,
    listener: socket.socket,
    clock: Clock,
) -> None:
    pool, watch = WorkerPool(make_memory_opener(settings, project)), IdleWatch()
    try:
        await pool.reader.open()
        async with anyio.create_task_group() as tasks:
            state = BackgroundAnswer(pool.indexer, tasks, find_state)
            weak = BackgroundAnswer(pool.indexer, tasks, find_weak)
            app = ViewerApplication(pool.reader, pool.writer, keys, clock, state=state, weak=weak).make_app()
            tasks.start_soon(_warm_up, pool, state)
            with contextlib.ExitStack() as invitation:
                server = ViewerServer(
                    _configure(AccessGuard(app, keys, watch.note_request)),
                    lambda: invitation.enter_context(_invite(settings, keys, options)),
                )
                tasks.start_soon(_end_when_idle, server, watch, options.idle_seconds)
                await server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()
    finally:
        await pool.close()


def _configure(app: AccessGuard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=1,
    )


async def _warm_up(pool: WorkerPool, state: BackgroundAnswer) -> None:
    """Read and count ahead; who fails at it fails again where a page can say so."""
    with contextlib.suppress(HyperlociError):
        for step in WARM_UP:
            await pool.reader.call(step)
        await state.get_values()
        await pool.writer.open()


async def _end_when_idle(server: uvicorn.Server, watch: IdleWatch, seconds: float) -> None:
    left = seconds
    while left > 0:
        await anyio.sleep(left)
        left = seconds - watch.idle_seconds
    server.should_exit = True


@contextlib.contextmanager
def _invite(settings: Settings, keys: ViewerKeys, options: ViewerOptions) -> Iterator[None]:
    """Tell the address, and lead the user's browser there.

    A command line is for everybody to see, and a token in one is anybody's. So the browser is given a file that only
    this user can read, which leads on.
    """
    options.announce(keys.entry_url)
    if not options.open_browser:
        yield
        return
    make_private_folder(settings.runtime_dir)
    page = settings.runtime_dir / f"view-{keys.port}.html"
    page.unlink(missing_ok=True)
    with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        address = html.escape(keys.entry_url)
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>Hyperloci</title>')
    try:
        webbrowser.open(page.as_uri())
        yield
    finally:
        page.unlink(missing_ok=True)
