"""Workers: threads that each own one open `Memory`, so that the event loop can await its use cases.

A server has three: one reads, one writes, one indexes, so that a long index never blocks a search or a write. A fourth
runs programs (`memory_repl`), which may take seconds.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar, cast

import aiosqlite
import aiosqlite.core
import anyio

from hyperloci.errors import NotReadyError, StoreMovedError
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.config import Settings
    from hyperloci.memory import Memory

T = TypeVar("T")
P = ParamSpec("P")

OpenMemory = Callable[[], "Memory"]
"""Opens a Memory; called on the thread that will own it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a use case: the person, None for the one at this machine, and the assistant they call it through."""

    author: str | None = None
    agent: str | None = None


CALLER: Final = ContextVar[Caller | None]("CALLER", default=None)
"""Of the task that calls, None: nobody in particular; a use case runs on a thread of its own, which is told."""

CLOSING: Final = "The memory is closing; call again in a new session."

ROWS_AT_ONCE: Final = 64
"""aiosqlite's own default; use cases fetch on the worker's thread, so no iteration crosses threads here."""


_Queue = SimpleQueue[tuple[asyncio.Future[Any] | None, Callable[[], Any]]]
"""What a worker is to run, each with the future of who waits for it."""


def _work_off(queue: _Queue) -> None:
    """Run what is queued, until the connection is closed.

    aiosqlite's own loop ends with a traceback on stderr where the event loop has closed meanwhile: a server that ends
    does not wait for an open or an index that is under way, and so the thread may finish after everybody has gone.
    """
    result = None
    while result is not aiosqlite.core._STOP_RUNNING_SENTINEL:
        future, run = queue.get()
        try:
            result = run()
        except BaseException as error:  # It is the caller's.
            result = None
            _tell(future, aiosqlite.core.set_exception, error)
        else:
            _tell(future, aiosqlite.core.set_result, result)


def _tell(future: asyncio.Future[Any] | None, settle: Callable[[asyncio.Future[Any], Any], None], value: Any) -> None:
    """Settle a future in its own loop; nothing where that has closed and nobody waits any more."""
    if future is not None:
        with suppress(RuntimeError):
            future.get_loop().call_soon_threadsafe(settle, future, value)


class MemoryWorker(aiosqlite.Connection):
    """A thread that owns one open Memory, and runs whole use cases on it.

    aiosqlite puts the *statements* of a connection in a queue, not its transactions: a task that awaits between two
    statements lets another task's statements into its transaction, and one's rollback then takes the other's rows.
    Here a use case runs from its first statement to its commit in one hop, so a transaction is never shared.
    Cancelling the caller does not cancel the work: what was begun is committed (or rolled back by its own error)
    whether or not anyone still waits for the answer.
    """

    def __init__(self, open_memory: OpenMemory) -> None:
        self._memory: Memory | None = None

        def connect() -> sqlite3.Connection:
            memory = self._memory = open_memory()
            # aiosqlite only ever closes it: what runs here are use cases, not statements.
            return cast(sqlite3.Connection, memory.store)

        super().__init__(connect, ROWS_AT_ONCE)
        # A daemon: an index that is under way must not hold up the process when its client has gone.
        self._thread = Thread(target=_work_off, args=(self._tx,), name="memory", daemon=True)

    async def start(self) -> None:
        """Start the thread and open the Memory on it.

        Raises:
            StoreError: the database can't be opened; this worker is of no further use.
        """
        await self

    async def call(self, use_case: Callable[Concatenate[Memory, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a use case of Memory, its whole transaction, on this worker's thread.

        Raises:
            NotReadyError: the worker is closed.
            HyperlociError: whatever the use case raises.
        """
        caller = CALLER.get() or Caller()

        def run_use_case(memory: Memory) -> T:
            memory.follow_place()
            memory.sign_as(author=caller.author, agent=caller.agent)
            return use_case(memory, *args, **kwargs)

        return await self._on_thread(run_use_case)

    async def _on_thread(self, run: Callable[[Memory], T]) -> T:
        memory = self._memory
        if memory is None or not self._running or self._connection is None:
            raise NotReadyError(CLOSING)
        return cast(T, await self._execute(lambda: run(memory)))  # type: ignore[no-untyped-call]

    def is_stale(self) -> bool:
        """Whether to reopen the database.

        Its file was replaced since (a restored backup, a deleted file), or it could only be opened for reading and
        may be writable by now.
        """
        memory = self._memory
        return memory is not None and (memory.store.read_only or memory.store.file_guard.may_have_changed())

    async def secure_moved_files(self) -> StoreMovedError | None:
        """Save the content of a moved or replaced database file; return the error to report."""

        def secure_files(memory: Memory) -> StoreMovedError | None:
            change = None if memory.store.read_only else memory.store.file_guard.detect_change()
            return None if change is None else memory.store.file_guard.secure_content(change)

        # Not `call`: nothing may be read from a truncated file, not even the place.
        return await self._on_thread(secure_files)


class WorkerHandle:
    """A worker that is opened when first needed, and reopened after a failure or when its file was replaced."""

    def __init__(self, open_memory: OpenMemory, told: set[int] | None = None) -> None:
        """Make it; `told` has the file changes that were already reported to a caller, by any worker of the server."""
        self._open_memory = open_memory
        self._told = set[int]() if told is None else told
        self._opening = anyio.Lock()
        self._worker: MemoryWorker | None = None
        self._closed = False

    async def call(self, use_case: Callable[Concatenate[Memory, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a use case of Memory in the worker's thread, and return what it returns.

        Raises:
            StoreError: the database can't be opened; the next call tries again.
            StoreMovedError: its files were moved, replaced or cut; the next call opens what is there then.
        """
        worker = await self._open_worker()
        return await worker.call(use_case, *args, **kwargs)

    async def open(self) -> None:
        """Open the worker now, so that the first call finds it open."""
        await self._open_worker()

    async def close(self) -> None:
        """Finish what is queued, then close the connection and end the thread."""
        self._closed = True
        async with self._opening:
            worker, self._worker = self._worker, None
            if worker is not None:
                await worker.close()

    async def _open_worker(self) -> MemoryWorker:
        # Shielded: a connection that opens after its caller was cancelled would be nobody's to close.
        with anyio.CancelScope(shield=True):
            async with self._opening:
                await self._replace_stale_worker()
        if self._worker is None:
            raise NotReadyError(CLOSING)
        return self._worker

    async def _replace_stale_worker(self) -> None:
        if self._worker is not None and self._worker.is_stale():
            stale, self._worker = self._worker, None
            moved = await stale.secure_moved_files()
            await stale.close()
            if moved is not None and moved.event not in self._told:
                self._told.add(moved.event)
                raise moved
        if self._worker is None and not self._closed:
            worker = MemoryWorker(self._open_memory)
            await worker.start()
            self._worker = worker


class WorkerPool:
    """The workers of one server."""

    def __init__(self, open_memory: OpenMemory) -> None:
        told: set[int] = set()
        self.reader = WorkerHandle(open_memory, told)
        self.writer = WorkerHandle(open_memory, told)
        self.indexer = WorkerHandle(open_memory, told)
        self.repl = WorkerHandle(open_memory, told)

    async def close(self) -> None:
        """Close every worker."""
        for desk in (self.reader, self.writer, self.indexer, self.repl):
            await desk.close()


def make_memory_opener(settings: Settings, project_path: Path) -> OpenMemory:
    """Return a function that opens the memory of a project; Memory itself is imported when that is called."""

    def open_memory() -> Memory:
        from hyperloci.memory import Memory
        from hyperloci.store.database import vector_extension

        # Before the first connection: sqlite-vec can be registered only for those that are still to come.
        vector_extension.prepare_vec()
        return Memory.open(settings, project_path)

    return open_memory
