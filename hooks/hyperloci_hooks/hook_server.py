"""The server's end of the hooks' line: events are taken at once, queued, and seen to one after the other.

A thread takes frames (see `client`) from any number of hooks; two work them off, one of them those that may bring a
whole transcript, with memories that stay open, so that what a hook costs is what its event costs. A hook is answered
when what it was told is durable.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import selectors
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.config import Settings
from hyperloci.embedder.transport import make_private_folder, require_short_path
from hyperloci.errors import ConfigurationError
from hyperloci.system.framing import FrameError, Framing
from hyperloci.system.sockets import is_same_user, is_supported, listen_at
from hyperloci_hooks import client, tally
from hyperloci_hooks.events import EVENTS
from hyperloci_hooks.run import MAX_INPUT_BYTES
from hyperloci_hooks.work import EventWork

if TYPE_CHECKING:
    from hyperloci.memory import Memory

_log = logging.getLogger(__name__)

MAX_HEAD_BYTES: Final = 1 << 18
MAX_WAITING_BYTES: Final = 128 << 20
"""Of frames that are taken and not seen to yet: with more, new hooks wait at the door."""

SILENT_SECONDS: Final = 30.0
"""After so long a visitor that hasn't said all is sent away."""

ANSWER_SECONDS: Final = 1.0
"""How long a hook may take to take its answer, which fits the pipe's buffer."""

CLOSE_SECONDS: Final = 0.15
"""How long the end of the server may wait for what is under way; whatever was answered is durable long before."""

OPEN_MEMORIES: Final = 4
"""Projects whose memory stays open for their hooks: one server serves those of every session of its database."""

_BACKLOG: Final = 512
_PIECE: Final = 1 << 18
_FRAMES: Final = Framing(client.MARK, max_header=MAX_HEAD_BYTES, max_body=MAX_INPUT_BYTES)


class HookVisitor:
    """A hook at the other end of a connection.

    Attributes:
        head: the texts of its frame's header.
        payload: what the hook was told.
        size: bytes of the whole frame.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.came = time.monotonic()
        self.head: list[str] = []
        self.payload = b""
        self.size = 0
        self._said = bytearray()

    def receive_piece(self, piece: bytes) -> bool:
        """Take in a piece of what it says; tell whether it has said everything.

        Raises:
            FrameError: what it says is no frame, or too long.
        """
        self._said += piece
        self.size = len(self._said)
        frame = _FRAMES.take(self._said)
        if frame is None:
            return False
        head, self.payload = frame
        self.head = head.decode("utf-8", "surrogateescape").split("\0")
        return True

    def is_slow(self) -> bool:
        """Tell whether its event may bring a whole transcript: others don't wait for such a one."""
        event = EVENTS.get("".join(self.head[2:3]))
        return event is not None and event.drains and not event.injects

    def send_answer(self, answer: bytes) -> None:
        """Say it, and that this was all; a hook that has gone needs none."""
        with contextlib.suppress(OSError):
            self.connection.settimeout(ANSWER_SECONDS)
            self.connection.sendall(answer + b"\n")
        self.connection.close()


Lane = queue.SimpleQueue[HookVisitor | None]
"""Visitors that are seen to one after the other, with memories of the lane's own; None ends it."""


class HookServer:
    """Takes the events of one database's hooks in one server."""

    def __init__(self, settings: Settings, seen_to: Callable[[], None] = lambda: None) -> None:
        """Make it; `seen_to` is called after each event."""
        self._where = settings.installation_paths
        self._address = os.path.join(self._where.sockets, f"{os.getpid()}{client.SUFFIX}")
        self._seen_to = seen_to
        self._listener: socket.socket | None = None
        self._lanes = [Lane(), Lane()]
        self._selector = selectors.DefaultSelector()
        self._nudged, self._nudge = os.pipe()
        self._closing = False
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._workers: list[threading.Thread] = []
        self.served = 0

    def open(self) -> None:
        """Begin to listen.

        Raises:
            ConfigurationError: the folder of sockets is not this user's own, or its path too long.
            OSError: it can't be listened there.
        """
        if not is_supported():
            return
        require_short_path(Path(self._address))
        make_private_folder(Path(self._where.runtime_dir))
        make_private_folder(Path(self._where.sockets))
        listener = self._listener = listen_at(self._address, _BACKLOG)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._nudged, selectors.EVENT_READ)
        threading.Thread(target=self._accept_visitors, name="hook-desk", daemon=True).start()
        for lane in self._lanes:
            worker = threading.Thread(target=self._serve_lane, args=(lane,), name="hook-worker", daemon=True)
            worker.start()
            self._workers.append(worker)

    @property
    def is_listening(self) -> bool:
        """Whether hooks can reach it."""
        return self._listener is not None and not self._closing

    def close(self) -> None:
        """Listen no more; a hook that isn't answered yet sees the line end, and sees to its event itself."""
        if not self.is_listening:
            return
        self._closing = True
        with contextlib.suppress(OSError):
            os.unlink(self._address)
        os.write(self._nudge, b".")
        for lane in self._lanes:
            lane.put(None)
        until = time.monotonic() + CLOSE_SECONDS
        for worker in self._workers:
            worker.join(max(until - time.monotonic(), 0))

    def _accept_visitors(self) -> None:
        visitors: set[HookVisitor] = set()
        while not self._closing:
            for key, _ in self._selector.select(SILENT_SECONDS):
                if key.fileobj is self._listener:
                    visitors.update(self._admit_visitors())
                elif key.fileobj == self._nudged:
                    os.read(self._nudged, _PIECE)
                elif not self._receive_from(key.data):
                    visitors.discard(key.data)
            for visitor in [one for one in visitors if time.monotonic() - one.came > SILENT_SECONDS]:
                visitors.discard(visitor)
                self._dismiss_visitor(visitor)
            self._update_listening()
        for visitor in visitors:
            visitor.connection.close()
        if self._listener is not None:
            self._listener.close()

    def _update_listening(self) -> None:
        assert self._listener is not None
        is_open = self._listener in self._selector.get_map()
        full = self._waiting_bytes > MAX_WAITING_BYTES
        if full and is_open:
            self._selector.unregister(self._listener)
        elif not full and not is_open:
            self._selector.register(self._listener, selectors.EVENT_READ)

    def _admit_visitors(self) -> Iterator[HookVisitor]:
        assert self._listener is not None
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                # Nobody is left, or this process has no descriptor to spare: the next look tells.
                return
            if not is_same_user(connection):
                connection.close()
                continue
            connection.setblocking(False)
            visitor = HookVisitor(connection)
            self._selector.register(connection, selectors.EVENT_READ, visitor)
            yield visitor

    def _receive_from(self, visitor: HookVisitor) -> bool:
        """Take in what a visitor says; return whether more is to come."""
        try:
            piece = visitor.connection.recv(_PIECE)
            whole = visitor.receive_piece(piece)
        except BlockingIOError:
            return True
        except (OSError, FrameError):
            self._dismiss_visitor(visitor)
            return False
        if whole:
            self._selector.unregister(visitor.connection)
            with contextlib.suppress(OSError):  # It has gone, and what it said stays true.
                visitor.connection.send(b"T")
            self._count_waiting_bytes(visitor.size)
            self._lanes[visitor.is_slow()].put(visitor)
            return False
        if not piece:
            self._dismiss_visitor(visitor)
        return bool(piece)

    def _dismiss_visitor(self, visitor: HookVisitor) -> None:
        self._selector.unregister(visitor.connection)
        visitor.connection.close()

    def _count_waiting_bytes(self, size: int) -> None:
        with self._lock:
            was_full = self._waiting_bytes > MAX_WAITING_BYTES
            self._waiting_bytes += size
            if was_full and self._waiting_bytes <= MAX_WAITING_BYTES:
                os.write(self._nudge, b".")

    def _serve_lane(self, lane: Lane) -> None:
        memories = OpenMemories()
        while (visitor := lane.get()) is not None and not self._closing:
            try:
                visitor.send_answer(self._answer_visitor(visitor, memories))
            except Exception:
                # The edge of a visit: the hook sees the line end, and sees to its event itself.
                _log.exception("a hook's event could not be seen to")
                visitor.connection.close()
            self._count_waiting_bytes(-visitor.size)
            self._seen_to()
        memories.close_all()

    def _answer_visitor(self, visitor: HookVisitor, memories: OpenMemories) -> bytes:
        """Return `A` and the answer, or `N`: the hook means another version, or another database."""
        head = visitor.head
        if len(head) < 5 or head[0] != client.VERSION:
            return b"N"
        _, database, name, mark, cwd, *told = head
        environ = dict(item.partition("=")[::2] for item in told)
        if database != self._where.database or not self._means_this_database(environ):
            return b"N"
        work = EventWork(name, environ, cwd=cwd, mark=mark, lend=memories.lend_memory)
        answer = work.answer_event(visitor.payload)
        if work.spooled or work.is_lost:
            tally.append_outcome(self._where.spool, name, tally.DROPPED if work.is_lost else tally.SPOOLED, mark=mark)
        self.served += 1
        return b"A" + json.dumps(answer).encode("ascii")

    def _means_this_database(self, environ: Mapping[str, str]) -> bool:
        """Tell whether a hook's environment leads to this server's database here, too."""
        try:
            return Settings.from_env(environ).installation_paths.database == self._where.database
        except ConfigurationError:
            return False


class OpenMemories:
    """The memories of the projects whose hooks came last. For one thread."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], tuple[Memory, Any]] = OrderedDict()

    @contextlib.contextmanager
    def lend_memory(self, settings: Settings, place: Path, project_id: str) -> Iterator[Memory]:
        """Lend the memory of a place; it stays open afterwards, unless something went wrong with it."""
        key = (str(place), project_id)
        memory = self._find_usable(key, settings) or self._open_memory(key, settings, place)
        try:
            yield memory
        except BaseException:
            self._close_memory(key)
            raise

    def _find_usable(self, key: tuple[str, str], settings: Settings) -> Memory | None:
        if key not in self._open:
            return None
        memory, file = self._open[key]
        if memory.settings != settings or memory.store.read_only or file != _file_identity(memory.store.path):
            self._close_memory(key)
            return None
        self._open.move_to_end(key)
        return memory

    def _open_memory(self, key: tuple[str, str], settings: Settings, place: Path) -> Memory:
        from hyperloci.memory import Memory
        from hyperloci.store.database import vector_extension

        # Before the first connection: sqlite-vec can be registered only for those that are still to come.
        vector_extension.prepare_vec()
        memory = Memory.open(settings, place)
        self._open[key] = memory, _file_identity(memory.store.path)
        if len(self._open) > OPEN_MEMORIES:
            self._close_memory(next(iter(self._open)))
        return memory

    def _close_memory(self, key: tuple[str, str]) -> None:
        memory, _ = self._open.pop(key)
        memory.close()

    def close_all(self) -> None:
        """Close all."""
        for key in list(self._open):
            self._close_memory(key)


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
