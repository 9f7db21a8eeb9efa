"""Stdio transport: the server's side, which answers every line of the client that JSON-RPC wants answered.

The SDK's transport keeps stdout for the protocol and writes to it. `hyperloci_tools.jsonrpc` reads the lines first, and
answers are checked on their way out, so that each can be written.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Self

import anyio
from anyio.to_thread import run_sync
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from hyperloci_tools import jsonrpc

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared._stream_protocols import WriteStream

_log = logging.getLogger(__name__)

LINGER_SECONDS: Final = 1.0
"""How long requests that came before the end of stdin may still take, so that `printf ... | hyperloci serve` works."""

ENDLESS: Final = frozenset({"subscriptions/listen"})
"""Requests that are only answered when the connection ends."""

UNWRITABLE: Final = "The answer can't be written as JSON. The server's log has the details."


class AnswerOnce:
    """The SDK's stream of answers; each is made writable on its way and removes its request from the open ones."""

    def __init__(self, sink: WriteStream[SessionMessage]) -> None:
        self._sink = sink
        self._open: Counter[tuple[type, RequestId]] = Counter()
        self._settled = anyio.Event()

    def note_request(self, request_id: RequestId) -> None:
        """Note a request."""
        self._open[type(request_id), request_id] += 1

    def settle_request(self, request_id: RequestId) -> None:
        """Note that a request was answered, or won't be."""
        key = (type(request_id), request_id)
        if self._open[key] <= 1:
            del self._open[key]
        else:
            self._open[key] -= 1
        self._settled.set()

    async def until_answered(self) -> None:
        """Wait until no request is open."""
        while self._open:
            self._settled = anyio.Event()
            await self._settled.wait()

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        message = make_writable(item.message)
        await self._sink.send(SessionMessage(message, metadata=item.metadata))
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self.settle_request(message.id)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._sink.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def make_writable(message: JSONRPCMessage) -> JSONRPCMessage:
    """Return a message that can be written as JSON in UTF-8: nearly always the same one."""
    try:
        message.model_dump_json(by_alias=True, exclude_unset=True)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        _log.warning("an answer was changed so that it can be written as JSON: %s", error)
    else:
        return message
    try:
        plain = jsonrpc.make_encodable(message.model_dump(by_alias=True, exclude_unset=True))
        return jsonrpc_message_adapter.validate_python(plain, by_name=False)
    except (PydanticSerializationError, ValidationError, ValueError, RecursionError) as error:
        _log.warning("an answer can't be written: %s", error)
        request_id = message.id if isinstance(message, JSONRPCResponse | JSONRPCError) else None
        return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=INTERNAL_ERROR, message=UNWRITABLE))


class LineReader:
    """Reads a client's lines, on the calling thread."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def read_line(self) -> tuple[JSONRPCMessage | jsonrpc.RefusedLine, ...] | None:
        """Return the messages of the next line; None at the end. Blocks."""
        line = self._source.readline(jsonrpc.MAX_LINE_BYTES + 1)
        if not line:
            return None
        if len(line) > jsonrpc.MAX_LINE_BYTES:
            return (jsonrpc.too_long(line[: jsonrpc.SEEN_BYTES], self._read_rest(line)),)
        return tuple(jsonrpc.read_messages(line))

    def _read_rest(self, line: bytes) -> bytes:
        """Read on to the end of a line and return its last bytes."""
        tail = line[-jsonrpc.SEEN_BYTES :]
        while line and not line.endswith(b"\n"):
            line = self._source.readline(jsonrpc.MAX_LINE_BYTES)
            tail = (tail + line[-jsonrpc.SEEN_BYTES :])[-jsonrpc.SEEN_BYTES :]
        return tail


def _taken_stdin() -> BinaryIO:
    """Take stdin over: anything else that reads it, including child processes, finds it empty."""
    if sys.platform == "win32":
        return sys.stdin.buffer
    source = os.fdopen(os.dup(0), "rb", closefd=False)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return source


@asynccontextmanager
async def open_stdio() -> AsyncIterator[tuple[MemoryObjectReceiveStream[SessionMessage | Exception], AnswerOnce]]:
    """Serve this process's stdin and stdout; yield the streams that an SDK server runs on."""
    nothing = anyio.wrap_file(io.StringIO())
    lines = LineReader(_taken_stdin())
    async with stdio_server(stdin=nothing) as (unused, sink):
        await unused.aclose()
        outgoing = AnswerOnce(sink)
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with anyio.create_task_group() as group:
            group.start_soon(_read_messages, lines, incoming, outgoing)
            yield received, outgoing


async def _read_messages(
    lines: LineReader, incoming: MemoryObjectSendStream[SessionMessage | Exception], outgoing: AnswerOnce
) -> None:
    """Pass every message on, and refuse invalid lines, until the client or the server closes the connection."""
    async with incoming:
        try:
            while (found := await run_sync(lines.read_line, abandon_on_cancel=True)) is not None:
                for message in found:
                    await _hand_on(message, incoming, outgoing)
            with anyio.move_on_after(LINGER_SECONDS):
                await outgoing.until_answered()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            _log.debug("the server stopped reading")


async def _hand_on(
    message: JSONRPCMessage | jsonrpc.RefusedLine,
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: AnswerOnce,
) -> None:
    if isinstance(message, jsonrpc.RefusedLine):
        await outgoing.send(SessionMessage(message.to_error()))
        return
    if isinstance(message, JSONRPCRequest) and message.method not in ENDLESS:
        outgoing.note_request(message.id)
    elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
        cancelled = (message.params or {}).get("requestId")
        if isinstance(cancelled, int | str):
            outgoing.settle_request(cancelled)
    await incoming.send(SessionMessage(message))
