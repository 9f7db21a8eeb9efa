"""App: the MCP server's process. It answers `initialize` first and loads everything heavy afterwards.

Only the standard library is imported here. `build_server` imports the SDK, the memory is imported once the client has
been answered, and torch never: the embedder is a separate process.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from hyperloci.clock import forget_offset
from hyperloci.config import Settings, has_foreign_clock
from hyperloci.errors import ConfigurationError, HyperlociError, NotReadyError
from hyperloci.idle_settings import list_idle_settings, list_idle_variables
from hyperloci.log_file import configure_logging
from hyperloci.services import BackgroundService, make_services
from hyperloci.system import watchdog
from hyperloci.system.allocator import share_one_arena
from hyperloci.system.late_libraries import load_late

if TYPE_CHECKING:
    from mcp.server.auth.provider import TokenVerifier
    from mcp.server.auth.settings import AuthSettings
    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
    from mcp.server.mcpserver import MCPServer

    from hyperloci.memory import Memory
    from hyperloci.worker import OpenMemory
    from hyperloci_tools.server import HyperlociServer
    from hyperloci_tools.state import ServerState

_log = logging.getLogger(__name__)

SETTLE_SECONDS: Final = 0.25
"""How long after the handshake the memory is loaded: by then clients have asked for the listings, which loading (one
interpreter, one lock) would slow."""

NUDGE_SECONDS: Final = 5.0
"""Companions are asked whether they still run this often at most: one that was just asked has no news."""

CLOSE_SECONDS: Final = 0.2
"""How long closing may take. Claude Code sends SIGINT, SIGTERM 100 ms later and SIGKILL 400 ms after that; whatever was
acknowledged is on the disk long before, so nothing is lost if this is cut short."""

TRIED_SDK: Final = "2.3."
"""The SDK's version that was tried with stand-ins for what it names."""

OTHER_USES: Final = (
    *("cryptography", "httpx2", "starlette", "sse_starlette"),
    *("mcp.server.auth.middleware", "mcp.server.auth.provider", "mcp.server.auth.routes"),
    *("mcp.server.streamable_http", "mcp.server.streamable_http_manager", "mcp.server.sse"),
    "mcp_types._v2026_07_28",
)
"""What the SDK names for HTTP, for clients and for its newest protocol, which the fewest clients speak."""


class ActivityMiddleware:
    """Middleware that notices when the client has its first answer, and when it calls tools."""

    def __init__(self) -> None:
        import anyio

        self._messages = 0
        self.answered = anyio.Event()
        self.tool_called = anyio.Event()

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Note a message and pass it on."""
        self._messages += 1
        if self._messages > 1:
            # It waited for the answer to its first message before it sent a second.
            self.answered.set()
        if ctx.method == "tools/call":
            self.tool_called.set()
        return await call_next(ctx)


def build_server(
    settings: Settings,
    project_path: Path,
    *,
    open_memory: OpenMemory | None = None,
    companions: Sequence[BackgroundService] = (),
    warm: bool = True,
    watch: Sequence[ServerMiddleware[Any]] = (),
    instructions: ServerMiddleware[Any] | None = None,
    without: frozenset[str] = frozenset(),
    auth: AuthSettings | None = None,
    token_verifier: TokenVerifier | None = None,
) -> HyperlociServer:
    """Return an MCP server; it opens the memory when it runs, not before.

    Args:
        settings: those in force.
        project_path: a folder of the project the session is about.
        open_memory: opens the memory; by default that of `settings` and `project_path`.
        companions: started after the handshake, stopped with the server.
        warm: whether to open the memory after the handshake, instead of at the first call.
        watch: further middleware, which sees every request.
        instructions: puts them into the handshake; by default what the client's files on this machine ask for.
        without: tools that are not offered.
        auth, token_verifier: who is let in over HTTP.
    """
    import anyio

    from hyperloci.worker import WorkerPool, make_memory_opener
    from hyperloci_tools.instructions import InstructionsMiddleware
    from hyperloci_tools.server import make_server
    from hyperloci_tools.state import ServerState

    traffic = ActivityMiddleware()
    environ = dict(os.environ)  # noqa: TID251 - other programs' variables, which move their files
    teller = instructions or InstructionsMiddleware(Path.home(), project_path, environ)
    opener = open_memory or make_memory_opener(settings, project_path)

    @contextlib.asynccontextmanager
    async def lifespan(_: MCPServer[ServerState]) -> AsyncIterator[ServerState]:
        workers = WorkerPool(opener)

        async def note_client() -> None:
            if isinstance(teller, InstructionsMiddleware) and teller.client and teller.client_version:
                client, version = teller.client, teller.client_version
                await workers.writer.call(lambda memory: memory.note_client_version(client, version))

        async with anyio.create_task_group() as background:
            if warm:
                background.start_soon(_run_services, traffic, workers.reader.open, companions, note_client)
            try:
                yield ServerState(
                    workers=workers,
                    background=background,
                    health=lambda: {companion.name: companion.status() for companion in companions},
                )
            finally:
                background.cancel_scope.cancel()
                with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                    await _stop_services(companions)
                    await workers.close()

    seen_by = (traffic, *watch, teller)
    return make_server(settings, lifespan, seen_by, without=without, auth=auth, token_verifier=token_verifier)


async def _run_services(
    traffic: ActivityMiddleware,
    open_reader: Callable[[], Awaitable[None]],
    companions: Sequence[BackgroundService],
    note_client: Callable[[], Awaitable[None]],
) -> None:
    """Open the memory and start the companions once the client has been answered; nudge them when tools are called.

    Nothing that goes wrong here may end the server: a call tries again, and a status says what is not running.
    """
    import anyio

    await traffic.answered.wait()
    await anyio.sleep(SETTLE_SECONDS)
    try:
        await open_reader()
        await note_client()
    except NotReadyError:
        # The session ended meanwhile; there is nobody to be told and nothing to be started.
        return
    except HyperlociError as error:
        _log.warning("cannot open the memory: %s", error)
    except Exception:
        _log.exception("cannot open the memory")
    for companion in companions:
        await _run_in_thread(companion.start, companion.name)
    while companions:
        await traffic.tool_called.wait()
        traffic.tool_called = anyio.Event()
        for companion in companions:
            await _run_in_thread(companion.ensure_running, companion.name)
        await anyio.sleep(NUDGE_SECONDS)


async def _run_in_thread(step: Callable[[], None], name: str) -> None:
    from anyio.to_thread import run_sync

    try:
        await run_sync(step, abandon_on_cancel=True)
    except Exception:
        _log.exception("%s failed", name)


async def _stop_services(companions: Sequence[BackgroundService]) -> None:
    """Stop all companions at once."""
    import anyio

    async with anyio.create_task_group() as group:
        for companion in companions:
            group.start_soon(_run_in_thread, companion.stop, companion.name)


def serve_stdio_session(
    settings: Settings,
    project_path: Path,
    *,
    fault: ConfigurationError | None = None,
    unused: Sequence[str] = (),
) -> int:
    """Serve one assistant session over stdin and stdout until stdin ends or a signal comes; return the exit code.

    With a `fault` the server runs all the same, and every tool call answers with it: a client shows its user the
    answer of a tool, but seldom what a server that would not start has written to stderr. What is set and changes
    nothing (`unused`) is told there and in the log.
    """
    import anyio

    configure_logging(settings)
    for line in unused:
        _log.warning("settings: %s", line)
        sys.stderr.write(f"hyperloci: {line}\n")
    companions = [] if fault is not None else make_services(settings, project_path)
    with _spare_unused_libraries():
        server = build_server(
            settings, project_path, open_memory=_raise_on_open(fault) if fault else None, companions=companions
        )
    # What is loaded by now stays for good: the collector need not look at it again, nor at its end.
    gc.freeze()
    gc.enable()
    try:
        anyio.run(_run_stdio_server, server, companions, settings.database)
    except* (BrokenPipeError, ConnectionResetError):
        _log.info("the client closed the connection")
    return 0


def _spare_unused_libraries() -> contextlib.AbstractContextManager[None]:
    """Let the SDK be loaded without what a session over stdio never uses: 16 of 75 MB.

    It names them for clients, HTTP, states of requests that a client brings back, coloured logs. A version that was not
    tried loads all that it names.
    """
    from importlib.metadata import version

    if not version("mcp").startswith(TRIED_SDK):
        return contextlib.nullcontext()
    return load_late(OTHER_USES, bare=["mcp"], without=["uvicorn", "rich"])


async def _run_stdio_server(server: HyperlociServer, companions: Sequence[BackgroundService], database: Path) -> None:
    import anyio

    async with anyio.create_task_group() as group:
        if sys.platform != "win32":
            group.start_soon(_exit_on_signal, server, companions, database)
        await server.run_stdio_async()
        group.cancel_scope.cancel()


async def _exit_on_signal(server: HyperlociServer, companions: Sequence[BackgroundService], database: Path) -> None:
    """End the process at the first signal that asks for it.

    Cancelling is not enough: the SDK reads stdin in a thread that sits in a system call until the client closes its
    end, and the interpreter would wait for that thread.
    """
    import anyio

    # Not the event loop's own way to hear signals: that takes the pipe from the watchdog.
    heard, bell = os.pipe()
    os.set_blocking(bell, False)
    for number in watchdog.ENDINGS:
        signal.signal(number, lambda number, _: os.write(bell, bytes([number])))
    await anyio.wait_readable(heard)
    _log.info("ending on signal %s", signal.Signals(os.read(heard, 1)[0]).name)
    with anyio.move_on_after(CLOSE_SECONDS):
        await _stop_services(companions)
        state = getattr(server, "state", None)
        if state is not None:
            await state.workers.close()
    _exit_process(0, database)


def _exit_process(code: int, database: Path) -> NoReturn:
    """End the process now, threads or not; everything durable is durable already, if not all in one file."""
    if os.path.exists(f"{database}-wal"):
        from hyperloci.store.database.checkpoint import empty_log_after_exit

        empty_log_after_exit(database)
    logging.shutdown()
    os._exit(code)


def _raise_on_open(fault: ConfigurationError) -> OpenMemory:
    def open_memory() -> Memory:
        raise ConfigurationError(str(fault))

    return open_memory


def main() -> NoReturn:
    """Serve the project that the environment names."""
    # Loading the SDK makes some 400,000 objects that live as long as the process: collecting meanwhile finds nothing
    # and costs a tenth of the time until the client is answered.
    gc.disable()
    share_one_arena()
    watchdog.start_watchdog()
    environ = os.environ  # noqa: TID251 - a process's entry point
    project_path = Path(environ.get("CLAUDE_PROJECT_DIR") or _current_folder())
    fault = None
    try:
        settings = Settings.from_env(environ, project_path)
    except ConfigurationError as error:
        fault, settings = error, _read_default_settings(environ)
    if has_foreign_clock(environ, project_path):
        forget_offset(environ)
    try:
        code = serve_stdio_session(
            settings,
            project_path,
            fault=fault,
            unused=[*list_idle_variables(environ), *list_idle_settings(settings)],
        )
    except KeyboardInterrupt:
        # A signal before the loop listened for signals.
        code = 0
    except Exception:
        _log.exception("the server ended with an error")
        code = 1
    _exit_process(code, settings.database)


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        # The folder was deleted under us.
        return Path.home()


def _read_default_settings(environ: Mapping[str, str]) -> Settings:
    """Return the defaults for a home, without the files or variables that were wrong."""
    kept = {name: environ[name] for name in ("HOME", "USERPROFILE", "CLAUDE_CONFIG_DIR") if name in environ}
    return Settings.from_env({**kept, "HYPERLOCI_CONFIG": os.devnull})


if __name__ == "__main__":
    main()
