"""Workers: whole use cases on one thread, transactions that never mix, databases that come and go."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from hyperloci.config import Settings
from hyperloci.errors import NotFoundError, NotReadyError, StoreCorruptError, StoreMovedError, StoreReadOnlyError
from hyperloci.memory import Memory
from hyperloci.store import Store
from hyperloci.store.database.file_guard import list_rescued_copies
from hyperloci.worker import MemoryWorker, WorkerHandle, WorkerPool, make_memory_opener

pytestmark = pytest.mark.anyio

SOON = 60
"""Seconds that anything here may take on a busy machine."""


@pytest.fixture
def open_memory(settings: Settings, tmp_path: Path) -> Callable[[], Memory]:
    return make_memory_opener(settings, tmp_path)


def mark(memory: Memory, approach: str) -> str:
    return memory.mark_dead_end(approach, "because").id


def count(memory: Memory) -> int:
    return int(memory.stats()["nodes"])


async def test_a_use_case_runs_on_the_thread_that_owns_the_memory(open_memory: Callable[[], Memory]) -> None:
    worker = MemoryWorker(open_memory)
    await worker.start()
    threads = {await worker.call(lambda _: threading.get_ident()) for _ in range(5)}
    await worker.close()
    assert len(threads) == 1
    assert threading.get_ident() not in threads


@pytest.mark.req("SPEC-02.04")
async def test_a_transaction_that_fails_takes_no_other_tasks_rows(open_memory: Callable[[], Memory]) -> None:
    workers = WorkerPool(open_memory)

    def fail_in_the_middle(memory: Memory, number: int) -> None:
        with memory.store.transaction():
            memory.mark_dead_end(f"lost {number}", "because")
            raise NotFoundError("gone wrong")

    async def failing(number: int) -> None:
        with pytest.raises(NotFoundError):
            await workers.writer.call(fail_in_the_middle, number)

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(failing, number)
            group.start_soon(workers.writer.call, mark, f"kept {number}")
    assert await workers.reader.call(count) == 20
    await workers.close()


async def test_work_whose_caller_was_cancelled_is_committed(open_memory: Callable[[], Memory]) -> None:
    desk = WorkerHandle(open_memory)
    await desk.open()
    began, go_on = threading.Event(), threading.Event()

    def slow(memory: Memory) -> None:
        began.set()
        go_on.wait(SOON)
        mark(memory, "nobody waits for this")

    async with anyio.create_task_group() as group:
        group.start_soon(desk.call, slow)
        await anyio.to_thread.run_sync(began.wait, SOON)
        group.cancel_scope.cancel()
    go_on.set()
    assert await desk.call(count) == 1
    await desk.close()


async def test_a_use_cases_own_error_reaches_its_caller(open_memory: Callable[[], Memory]) -> None:
    desk = WorkerHandle(open_memory)
    with pytest.raises(NotFoundError, match="nope"):
        await desk.call(Memory.get, "nope")
    await desk.close()


async def test_a_closed_desk_refuses_work(open_memory: Callable[[], Memory]) -> None:
    desk = WorkerHandle(open_memory)
    await desk.open()
    await desk.close()
    with pytest.raises(NotReadyError):
        await desk.call(count)


async def test_a_closed_worker_refuses_work(open_memory: Callable[[], Memory]) -> None:
    worker = MemoryWorker(open_memory)
    await worker.start()
    await worker.close()
    with pytest.raises(NotReadyError):
        await worker.call(count)


async def test_a_database_that_could_not_be_opened_is_tried_again_at_the_next_call(
    settings: Settings, open_memory: Callable[[], Memory]
) -> None:
    settings.database.write_bytes(b"this is no database" * 1_000)
    desk = WorkerHandle(open_memory)
    for _ in range(2):
        with pytest.raises(StoreCorruptError, match=settings.database.name):
            await desk.call(count)
    settings.database.unlink()
    assert await desk.call(count) == 0
    await desk.close()


async def test_first_calls_at_the_same_time_open_the_memory_once(open_memory: Callable[[], Memory]) -> None:
    opened = []

    def counted() -> Memory:
        opened.append(threading.get_ident())
        return open_memory()

    desk = WorkerHandle(counted)
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(desk.call, count)
    await desk.close()
    assert len(opened) == 1


async def test_a_call_cancelled_while_the_memory_opens_leaves_nothing_open(open_memory: Callable[[], Memory]) -> None:
    began, go_on = threading.Event(), threading.Event()
    opened: list[Memory] = []

    def slow() -> Memory:
        began.set()
        go_on.wait(SOON)
        opened.append(open_memory())
        return opened[0]

    desk = WorkerHandle(slow)
    async with anyio.create_task_group() as group:
        group.start_soon(desk.call, count)
        await anyio.to_thread.run_sync(began.wait, SOON)
        group.cancel_scope.cancel()
        go_on.set()
    await desk.close()
    with pytest.raises(Exception, match="closed"):
        opened[0].store.connection.execute("SELECT 1")


async def test_that_a_database_was_taken_away_is_told_once_and_then_a_new_one_is_opened(
    settings: Settings, open_memory: Callable[[], Memory]
) -> None:
    workers = WorkerPool(open_memory)
    await workers.writer.call(mark, "in the old file")
    assert await workers.reader.call(count) == 1
    for file in settings.database.parent.glob("memory.db*"):
        file.unlink()
    with pytest.raises(StoreMovedError, match=r"moved or deleted.*was saved to .*-rescued-"):
        await workers.reader.call(count)
    await workers.writer.call(mark, "in the new file")
    assert await workers.reader.call(count) == 1
    await workers.close()
    with open_memory() as other:
        assert count(other) == 1
    [copy] = list_rescued_copies(settings.database)
    with Store.open(copy) as kept:
        [node] = kept.nodes.query_nodes()
        assert "in the old file" in node.content


@pytest.mark.req("SPEC-02.04")
async def test_a_call_after_a_link_uses_the_memory_that_was_linked(settings: Settings, tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    with Memory.open(settings, tmp_path / "first") as first:
        dead_end = mark(first, "Pinning the wheel by hand")
    desk = WorkerHandle(make_memory_opener(settings, tmp_path / "second"))
    assert not await desk.call(lambda memory: memory.latest())
    with Memory.open(settings, tmp_path / "second") as second:
        second.link_place(second.find_link_target("first"))
    assert [hit.id for hit in await desk.call(lambda memory: memory.latest())] == [dead_end]
    await desk.close()


async def test_a_long_index_blocks_neither_searches_nor_writes(open_memory: Callable[[], Memory]) -> None:
    workers = WorkerPool(open_memory)
    began, go_on = threading.Event(), threading.Event()

    def long_index(_: Memory) -> None:
        began.set()
        go_on.wait(SOON)

    async with anyio.create_task_group() as group:
        group.start_soon(workers.indexer.call, long_index)
        await anyio.to_thread.run_sync(began.wait, SOON)
        with anyio.fail_after(SOON):
            await workers.writer.call(mark, "meanwhile")
            assert await workers.reader.call(count) == 1
        go_on.set()
    await workers.close()


async def test_another_process_that_opens_and_closes_the_database_leaves_it_whole(
    settings: Settings, open_memory: Callable[[], Memory]
) -> None:
    workers = WorkerPool(open_memory)
    await workers.writer.call(mark, "before")
    # A second connection of this process: opening it must not drop the locks of the first, or the other process would
    # take itself for the last one and delete the write-ahead log that both still use.
    await workers.reader.open()
    other = (
        "import sys; from pathlib import Path; from hyperloci.store import Store; Store.open(Path(sys.argv[1])).close()"
    )
    await anyio.run_process([sys.executable, "-c", other, str(settings.database)])
    assert settings.database.with_name("memory.db-wal").exists()
    await workers.writer.call(mark, "after")
    assert await workers.reader.call(count) == 2
    await workers.close()
    with open_memory() as memory:
        assert count(memory) == 2
        assert memory.store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


async def test_closing_finishes_what_is_queued(open_memory: Callable[[], Memory]) -> None:
    desk = WorkerHandle(open_memory)
    await desk.open()
    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(desk.call, mark, f"queued {number}")
        await anyio.lowlevel.checkpoint()
        group.start_soon(desk.close)
    with open_memory() as other:
        assert count(other) == 10


def test_a_thread_that_finishes_after_the_event_loop_has_closed_says_nothing(
    open_memory: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[object] = []
    monkeypatch.setattr(threading, "excepthook", said.append)
    begun, gone = threading.Event(), threading.Event()

    def work(_: Memory) -> bool:
        begun.set()
        return gone.wait(SOON)

    async def leave_at_work() -> MemoryWorker:
        worker = MemoryWorker(open_memory)
        await worker.start()
        working = asyncio.ensure_future(worker.call(work))
        assert await asyncio.to_thread(begun.wait, SOON)
        assert not working.done()
        return worker

    worker = asyncio.run(leave_at_work())
    gone.set()
    worker.stop()
    worker._thread.join(SOON)
    assert not worker._thread.is_alive()
    assert not said


async def test_a_database_that_could_only_be_read_is_written_when_it_can_be(
    settings: Settings, open_memory: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_memory().close()
    desk = WorkerHandle(open_memory)
    with monkeypatch.context() as locked:
        may = os.access
        locked.setattr(os, "access", lambda path, mode, **more: not mode & os.W_OK and may(path, mode, **more))
        assert await desk.call(count) == 0
        with pytest.raises(StoreReadOnlyError):
            await desk.call(mark, "too early")

    await desk.call(mark, "in time")
    assert await desk.call(count) == 1
    await desk.close()
