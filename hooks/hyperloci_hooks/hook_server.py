"""Hook server: the server's side of the hooks' socket. Events are accepted at once, queued, and handled in order.

One thread receives frames (see `client`) from any number of hooks; two threads handle them, one of them the events that
may bring a whole transcript. Memories stay open between events. A hook is answered when its event is stored durably: in
the database, or, where a transcript brings more than is read at once, in the spool until it is.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import queue
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from hyperloci.config import Settings
from hyperloci.embedder.transport import make_private_folder, require_short_path
from hyperloci.errors import ConfigurationError
from hyperloci.system.framing import FrameError, Framing
from hyperloci.system.sockets import is_same_user, is_supported, listen_at
from hyperloci_hooks import client, outcome_log
from hyperloci_hooks.consolidation_lane import ConsolidationLane
from hyperloci_hooks.event_work import EventWork
from hyperloci_hooks.events import EVENTS
from hyperloci_hooks.open_memories import OpenMemories
from hyperloci_hooks.run import MAX_INPUT_BYTES

_log = logging.getLogger(__name__)

MAX_HEAD_BYTES: Final = 1 << 18
MAX_WAITING_BYTES: Final = 128 << 20
"""Limit of frames that wait to be handled; above it, new connections are not accepted."""

SILENT_SECONDS: Final = 30.0
"""A connection that has not sent its whole frame after this time is closed."""

ANSWER_SECONDS: Final = 1.0
"""How long a hook may take to receive its answer, which fits the socket's buffer."""

CLOSE_SECONDS: Final = 0.15
"""How long the server waits for events in progress when it ends; answered events are already stored."""

HANDOVER_SECONDS: Final = 0.3
"""How long an event that brings a transcript keeps its hook waiting: then its record goes to the spool, the hook is
answered, and the server reads on. An ordinary turn is stored by then; a backlog takes seconds."""

_BACKLOG: Final = 512
_PIECE: Final = 1 << 18
_FRAMES: Final = Framing(client.MARK, max_header=MAX_HEAD_BYTES, max_body=MAX_INPUT_BYTES)


class HookVisitor:
    """A hook connected to the server.

    Attributes:
        head: the texts of its frame's header.
        payload: the hook's input.
        size: bytes of the whole frame.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.came = time.monotonic()
        self.head: list[str] = []
        self.payload = b""
        self.size = 0
        self._said = bytearray()
        self._timer: threading.Timer | None = None
        self._saved: Path | None = None
        self._settled = False
        self._settling = threading.Lock()
        self._unanswered = threading.Lock()

    def receive_piece(self, piece: bytes) -> bool:
        """Add a piece of its frame; return whether the frame is complete.

        Raises:
            FrameError: it is not a frame, or too long.
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
        """Return whether its event may bring a whole transcript, for which other events should not wait."""
        event = EVENTS.get("".join(self.head[2:3]))
        return event is not None and event.drains and not event.injects

    def let_go_later(self, save: Callable[[HookVisitor], Path | None]) -> None:
        """Have the hook answered if its event takes long, once `save` has put the record into the spool."""

        def let_go() -> None:
            saved = save(self)
            with self._settling:
                self._saved = saved
                if saved is not None and self._settled:
                    saved.unlink(missing_ok=True)

        self._timer = threading.Timer(HANDOVER_SECONDS, let_go)
        self._timer.daemon = True
        self._timer.start()

    def settle(self) -> None:
        """Note that the event is stored: what was saved of it meanwhile may go. To store it again would do no harm."""
        if self._timer is not None:
            self._timer.cancel()
        with self._settling:
            self._settled = True
            if self._saved is not None:
                self._saved.unlink(missing_ok=True)

    def send_answer(self, answer: bytes) -> None:
        """Send the answer and close the connection; only the first one is sent, and a hook that has ended needs none.

        The record may be saved ahead just as the event is handled: then two threads have an answer.
        """
        if not self._unanswered.acquire(blocking=False):
            return
        with contextlib.suppress(OSError):
            self.connection.settimeout(ANSWER_SECONDS)
            self.connection.sendall(answer + b"\n")
        self.connection.close()


Lane = queue.SimpleQueue[HookVisitor | None]
"""A queue of visitors that one thread handles in order; None ends it."""


class HookServer:
    """Handles the hook events of one database, in one server."""

    def __init__(self, settings: Settings, seen_to: Callable[[], None] = lambda: None) -> None:
        """Create it; `seen_to` is called after each event."""
        self._where = settings.installation_paths
        self._address = os.path.join(self._where.sockets, f"{os.getpid()}{client.SUFFIX}")
        self._seen_to = seen_to
        self._listener: socket.socket | None = None
        self._lacks_descriptors = False
        self._lanes = [Lane(), Lane()]
        self._consolidation = ConsolidationLane()
        self._selector = selectors.DefaultSelector()
        self._nudged, self._nudge = os.pipe()
        self._closing = False
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._workers: list[threading.Thread] = []
        self.served = 0

    def open(self) -> None:
        """Start to listen.

        Raises:
            ConfigurationError: the folder of sockets does not belong to this user, or its path is too long.
            OSError: the socket can't be opened.
        """
        if not is_supported():
            return
        self._listener = self._make_listener()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._nudged, selectors.EVENT_READ)
        threading.Thread(target=self._accept_visitors, name="hook-desk", daemon=True).start()
        for lane in self._lanes:
            worker = threading.Thread(target=self._serve_lane, args=(lane,), name="hook-worker", daemon=True)
            worker.start()
            self._workers.append(worker)
        self._consolidation.start()

    def _make_listener(self) -> socket.socket:
        require_short_path(Path(self._address))
        make_private_folder(Path(self._where.runtime_dir))
        make_private_folder(Path(self._where.sockets))
        listener = listen_at(self._address, _BACKLOG)
        listener.setblocking(False)
        return listener

    @property
    def is_listening(self) -> bool:
        """Whether hooks can reach it."""
        return self._listener is not None and not self._closing and os.path.lexists(self._address)

    def close(self) -> None:
        """Stop listening; hooks without an answer see the connection close and handle their event themselves."""
        if self._listener is None or self._closing:
            return
        self._closing = True
        self._remove_address()
        os.write(self._nudge, b".")
        for lane in self._lanes:
            lane.put(None)
        until = time.monotonic() + CLOSE_SECONDS
        for worker in self._workers:
            worker.join(max(until - time.monotonic(), 0))
        self._consolidation.close()

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
            self._replace_lost_listener()
            self._update_listening()
        for visitor in visitors:
            visitor.connection.close()
        if self._listener is not None:
            self._listener.close()

    def _replace_lost_listener(self) -> None:
        """Listen anew where the socket's file is gone: who logs out loses `/run/user`, but not what runs in tmux."""
        assert self._listener is not None
        if self._closing or os.path.lexists(self._address):
            return
        try:
            listener = self._make_listener()
        except (OSError, ConfigurationError):
            return  # There is no place for it yet.
        if self._listener in self._selector.get_map():
            self._selector.unregister(self._listener)
        self._listener.close()
        self._listener = listener
        if self._closing:  # It was closed meanwhile, and found no file to remove.
            self._remove_address()

    def _remove_address(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._address)

    def _update_listening(self) -> None:
        assert self._listener is not None
        is_open = self._listener in self._selector.get_map()
        full = self._waiting_bytes > MAX_WAITING_BYTES or self._lacks_descriptors
        self._lacks_descriptors = False
        if full and is_open:
            self._selector.unregister(self._listener)
        elif not full and not is_open:
            self._selector.register(self._listener, selectors.EVENT_READ)

    def _admit_visitors(self) -> Iterator[HookVisitor]:
        assert self._listener is not None
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                # No connection waits, or none can be had: then the one that waits would wake this thread at once again.
                self._lacks_descriptors = error.errno in (errno.EMFILE, errno.ENFILE)
                return
            if not is_same_user(connection):
                connection.close()
                continue
            connection.setblocking(False)
            visitor = HookVisitor(connection)
            self._selector.register(connection, selectors.EVENT_READ, visitor)
            yield visitor

    def _receive_from(self, visitor: HookVisitor) -> bool:
        """Receive a piece from a visitor; return whether more is to come."""
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
            with contextlib.suppress(OSError):  # The hook has ended, but its event is complete.
                visitor.connection.send(b"T")
            self._count_waiting_bytes(visitor.size)
            if visitor.is_slow():
                visitor.let_go_later(self._save_ahead)
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
                # The edge of a visit: the hook sees the connection close and handles its event itself.
                _log.exception("a hook's event could not be handled")
                visitor.connection.close()
            self._count_waiting_bytes(-visitor.size)
            self._seen_to()
        memories.close_all()

    def _answer_visitor(self, visitor: HookVisitor, memories: OpenMemories) -> bytes:
        """Return `A` and the answer, or `N` if the hook needs another version or database."""
        work = self._make_work(visitor, memories)
        if work is None:
            return b"N"
        answer = work.answer_event(visitor.payload)
        if not work.spooled and not work.is_lost:
            visitor.settle()
        else:
            outcome = outcome_log.DROPPED if work.is_lost else outcome_log.SPOOLED
            outcome_log.append_outcome(self._where.spool, visitor.head[2], outcome, mark=visitor.head[3])
        self.served += 1
        return b"A" + json.dumps(answer).encode("ascii")

    def _save_ahead(self, visitor: HookVisitor) -> Path | None:
        """Save the record of an event that takes long, or waits for one that does, and answer its hook."""
        work = self._make_work(visitor, OpenMemories())
        saved = None if work is None else work.save_ahead(visitor.payload)
        if work is not None and saved is not None:
            visitor.send_answer(b"A" + json.dumps(work.make_empty_answer()).encode("ascii"))
        return saved

    def _make_work(self, visitor: HookVisitor, memories: OpenMemories) -> EventWork | None:
        """Return the work for an event; None if its hook needs another version or database."""
        head = visitor.head
        if len(head) < 5 or head[0] != client.VERSION:
            return None
        _, database, name, mark, cwd, *told = head
        environ = dict(item.partition("=")[::2] for item in told)
        if database != self._where.database or not self._means_this_database(environ):
            return None
        later = self._consolidation.add_turn
        return EventWork(name, environ, cwd=cwd, mark=mark, lend=memories.lend_memory, later=later)

    def _means_this_database(self, environ: Mapping[str, str]) -> bool:
        """Return whether a hook's environment leads to this server's database."""
        try:
            return Settings.from_usable(environ)[0].installation_paths.database == self._where.database
        except ConfigurationError:
            return False
