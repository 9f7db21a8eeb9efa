"""Indexing tool: index_path, with progress."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp_types import CallToolResult
from pydantic import Field

from hyperloci.errors import HyperlociError, NotReadyError
from hyperloci.worker import WorkerPool
from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.schemas import IndexOut
from hyperloci_tools.state import Call, state_of
from hyperloci_tools.tool_spec import ToolSpec

if TYPE_CHECKING:
    from hyperloci.model.answers import IndexReport, Progress

_log = logging.getLogger(__name__)

ProgressStep = tuple[int, int, str]
"""(done, total, what is being done)."""

ProgressReporter = Callable[[float, float | None, str | None], Awaitable[None]]

PathArg = Annotated[
    str | None, Field(description="file or folder inside the project; default: all of it", max_length=4_096)
]


async def index_path(
    ctx: Call,
    path: PathArg = None,
    wait: Annotated[bool, Field(description="false: go on in the background")] = True,
) -> Annotated[CallToolResult, IndexOut]:
    """Index a file or folder of this project (code by symbol, docs by section, commits) so that search finds it.
    Watchers do this by themselves: use it after a large change outside the session or when search misses a file."""
    state = state_of(ctx)
    if not wait:
        if path is not None:
            # In the background nobody would hear that there is nothing to index.
            await state.workers.reader.call(lambda memory: memory.project.resolve_path(Path(path)))
        state.background.start_soon(_index_quietly, state.workers, path)
        running: IndexOut = {"status": "running"}
        return tool_result(running, answer_text.render_index_report(running))
    shaped = answer_values.index_report(await _index_with_progress(ctx, path))
    return tool_result(shaped, answer_text.render_index_report(shaped))


async def _index_with_progress(ctx: Call, path: str | None) -> IndexReport:
    """Index on the indexer's thread while this task reports the progress to the client."""
    # Room for one step: old progress is worthless, so steps are dropped if the client is slow.
    send, receive = anyio.create_memory_object_stream[ProgressStep](1)
    abandoned = threading.Event()
    report = partial(_hand_over, asyncio.get_running_loop(), send, abandoned)
    outcome: IndexReport | HyperlociError
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_report_steps, ctx.report_progress, receive)
            try:
                outcome = await _run_indexing(state_of(ctx).workers, path, report)
            except HyperlociError as error:
                # Raised below: a task group would wrap it.
                outcome = error
            send.close()
    finally:
        # A cancelled call must stop indexing: the next step ends it, and what is indexed by then stays.
        abandoned.set()
        send.close()
        receive.close()
    if isinstance(outcome, HyperlociError):
        raise outcome
    return outcome


async def _run_indexing(workers: WorkerPool, path: str | None, progress: Progress | None) -> IndexReport:
    return await workers.indexer.call(lambda memory: memory.index_path(path, progress=progress))


def _hand_over(
    loop: asyncio.AbstractEventLoop,
    send: MemoryObjectSendStream[ProgressStep],
    abandoned: threading.Event,
    done: int,
    total: int,
    what: str,
) -> None:
    """Pass a step from the indexer's thread to the event loop."""
    if abandoned.is_set():
        raise NotReadyError("Indexing was cancelled; the next run continues where it stopped.")
    loop.call_soon_threadsafe(_offer_step, send, (done, total, what))


def _offer_step(send: MemoryObjectSendStream[ProgressStep], step: ProgressStep) -> None:
    try:
        send.send_nowait(step)
    except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
        _log.debug("a progress step was not reported: %s", step)


async def _report_steps(report: ProgressReporter, receive: MemoryObjectReceiveStream[ProgressStep]) -> None:
    told = -1
    async for done, total, what in receive:
        # The protocol wants progress to grow with every notification.
        if done > told:
            told = done
            await report(done, total or None, what)


async def _index_quietly(workers: WorkerPool, path: str | None) -> None:
    try:
        report = await _run_indexing(workers, path, None)
    except HyperlociError as error:
        _log.warning("indexing %s in the background failed: %s", path or "the project", error)
    except Exception:
        # An exception would end every background task, and the server with them.
        _log.exception("indexing %s in the background failed", path or "the project")
    else:
        _log.info("indexed %d files in %.1f s", report.files, report.seconds)


TOOLS: Final = (ToolSpec(run=index_path, title="Index files", idempotent=True, core=False),)
