"""Parser: an index run's side of the parser process: sends it files in advance and takes their chunks, in order.

A file that takes too long, crashes the process or exhausts its memory is answered with the reason; the process is
started anew and the others go on. A process that something outside ended is no file's fault: the file is tried again.
Where there can be no such process (Windows, no room for one), files are cut in this one, and `unisolated` says so.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from hyperloci.indexing.file_reader import chunk_bytes
from hyperloci.indexing.parsing.protocol import READY, ParseAnswer, ParseRequest, frame_of, take_frame
from hyperloci.store.projects.set_aside import describe_failure
from hyperloci.system.framing import FrameError
from hyperloci.system.values import dataclass

COMMAND: Final = (sys.executable, "-P", "-m", "hyperloci.indexing.parsing.child")
"""`-P` keeps the working folder out of it: a project may hold a module called `random`."""

LARGE_BYTES: Final = 1_000_000
"""A file above this may take proportionally longer."""

WALL_FACTOR: Final = 30.0
"""A process that waits instead of working is ended after so many times its processor time: it was frozen."""

CANCEL_CHECK_SECONDS: Final = 0.2
"""How often a waiting run asks whether it was cancelled."""

MAX_STARTS: Final = 2
"""So often it is tried to start a process that says nothing."""

_PIPE_BYTES: Final = 1 << 20

_OUTSIDE_SIGNALS: Final = tuple(getattr(signal, name, None) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"))
"""Signals that a process does not give itself; the kernel's, for want of memory, is the first."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserLimits:
    """What cutting one file may cost.

    Attributes:
        seconds: processor time, for a file of up to `LARGE_BYTES`.
        memory: bytes of address space, the program's own share (0.2 GB) included.
    """

    seconds: float = 10.0
    memory: int = 2 << 30

    def make_request(self, path: str, data: bytes) -> ParseRequest:
        """Return the request for a file."""
        seconds = self.seconds * max(1.0, len(data) / LARGE_BYTES)
        return ParseRequest(path=path, data=data, seconds=seconds, memory=self.memory)


class ParsingCancelledError(Exception):
    """The run was cancelled while it waited for a file."""


@dataclass(slots=True)
class _WaitingFile:
    """A file without an answer yet; `deaths` counts the processes that ended over it by no fault of its own."""

    request: ParseRequest
    deaths: int = 0


class _ParserProcess:
    """One process and the bytes on their way to and from it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        self.ready = False
        self.ended = False
        self.received = bytearray()
        self._unsent: deque[memoryview] = deque()
        assert self.process.stdin is not None and self.process.stdout is not None
        self._to, self._from = self.process.stdin.fileno(), self.process.stdout.fileno()
        for end in (self._to, self._from):
            os.set_blocking(end, False)
            _widen_pipe(end)

    def send(self, request: ParseRequest) -> None:
        self._unsent.append(memoryview(frame_of(request)))
        self.exchange(0.0)

    def exchange(self, seconds: float) -> None:
        """Move bytes both ways, waiting so long for the first."""
        if self.ended:
            return
        readable, writable, _ = select.select([self._from], [self._to] if self._unsent else [], [], seconds)
        if writable:
            self._write()
        if readable:
            self._read()

    def _write(self) -> None:
        try:
            while self._unsent:
                sent = os.write(self._to, self._unsent[0])
                if sent < len(self._unsent[0]):
                    self._unsent[0] = self._unsent[0][sent:]
                    return
                self._unsent.popleft()
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()  # What it said before it ended can still be read.

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._from, _PIPE_BYTES):
                self.received += part
                if len(part) < _PIPE_BYTES:
                    return
            self.ended = True

    def end(self) -> int:
        """End the process, if it has not ended, and return its status."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0 if self.ended else 0.0)
        if self.process.returncode is None:
            self.process.kill()
        status = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        return status


def _widen_pipe(pipe: int) -> None:
    """Have a pipe hold many files, where the system can: the process goes on while the run is busy."""
    import fcntl

    with contextlib.suppress(AttributeError, OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


class FileParser:
    """Cuts files in a process of its own; used by one thread at a time.

    Args:
        command: starts the process.
        limits: what one file may cost.
    """

    def __init__(self, command: Sequence[str] = COMMAND, limits: ParserLimits | None = None) -> None:
        self._command = command
        self.limits = limits or ParserLimits()
        self._child: _ParserProcess | None = None
        self._waiting: deque[_WaitingFile] = deque()
        self._silent_starts = 0
        self.unisolated: str | None = None if os.name == "posix" else "this system cannot limit a process"

    @property
    def is_idle(self) -> bool:
        """Whether every file has its answer."""
        return not self._waiting

    @property
    def process_id(self) -> int | None:
        """The process's number, None while there is none."""
        return None if self._child is None else self._child.process.pid

    def submit(self, path: str, data: bytes) -> None:
        """Hand over a file; the answers come in the order of the files."""
        if self.is_idle and self._child is not None and self._child.process.poll() is not None:
            self.close()  # It ended while it was idle.
        waiting = _WaitingFile(self.limits.make_request(path, data))
        self._waiting.append(waiting)
        if self._child is not None:
            self._child.send(waiting.request)

    def wait_for_answer(self, cancelled: Callable[[], bool] = lambda: False) -> ParseAnswer:
        """Wait for what the first file without an answer was cut into, and return it.

        Args:
            cancelled: asked while waiting.

        Raises:
            CancelledError: it was cancelled; close this parser.
        """
        deadline = time.monotonic() + self._waiting[0].request.seconds * WALL_FACTOR
        while True:
            if self.unisolated is not None:
                return _parse_here(self._waiting.popleft().request)
            parsed = self._take_answer() or self._judge_process(deadline)
            if parsed is not None:
                self._waiting.popleft()
                return parsed
            if cancelled():
                raise ParsingCancelledError
            if self._child is None:
                self._start()
            else:
                self._child.exchange(CANCEL_CHECK_SECONDS)

    def close(self) -> None:
        """End the process, and forget what it has not answered."""
        self._waiting.clear()
        if self._child is not None:
            self._child.end()
            self._child = None

    def _start(self) -> None:
        try:
            self._child = _ParserProcess(self._command)
        except OSError as error:
            self._fall_back(error.strerror or str(error))
            return
        for waiting in self._waiting:
            self._child.send(waiting.request)

    def _fall_back(self, why: str) -> None:
        self.unisolated = f"its process could not be started: {why}"
        _log.warning("reading files without a separate process: %s", self.unisolated)

    def _take_answer(self) -> ParseAnswer | None:
        """Return the next answer that is there."""
        child = self._child
        if child is None:
            return None
        value = _take_value(child)
        if value == READY:
            child.ready, self._silent_starts = True, 0
            value = _take_value(child)
        return value if isinstance(value, ParseAnswer) else None

    def _judge_process(self, deadline: float) -> ParseAnswer | None:
        """Look whether the process ended or was frozen; return the answer if that was the first file's doing."""
        child, first = self._child, self._waiting[0]
        if child is None:
            return None
        if not child.ended:
            if time.monotonic() < deadline:
                return None
            self._child = None
            child.end()
            return ParseAnswer(failure=f"was not read within {first.request.seconds * WALL_FACTOR:g} s")
        self._child = None
        status = child.end()
        if not child.ready:
            self._silent_starts += 1
            if self._silent_starts >= MAX_STARTS:
                self._fall_back(f"it ended at once (status {status})")
            return None
        if status == -signal.SIGPROF:
            return ParseAnswer(failure=f"takes more than {first.request.seconds:g} s to read")
        if status >= 0 or -status in _OUTSIDE_SIGNALS:
            first.deaths += 1
            return (
                None
                if first.deaths < MAX_STARTS
                else ParseAnswer(failure="its parser was ended twice while reading it")
            )
        return ParseAnswer(failure=f"crashes its parser ({signal.Signals(-status).name})")


def _take_value(child: _ParserProcess) -> ParseAnswer | str | None:
    """Return the next value a process sent, None while there is none; nonsense ends it."""
    try:
        value = take_frame(child.received)
        if value is None or isinstance(value, ParseAnswer) or value == READY:
            return value
    except FrameError:
        pass
    child.process.kill()
    child.received.clear()
    child.ended = True
    return None


@contextlib.contextmanager
def borrow_parser(limits: ParserLimits | None = None) -> Iterator[FileParser]:
    """Lend this process's parser for a run, or one of its own while another run has it.

    Its process stays for a while after the run: a watcher's next file does not wait for a start.
    """
    with _idle_parsers_lock:
        parser = _idle_parsers.pop() if _idle_parsers else FileParser()
    parser.limits = limits or ParserLimits()
    try:
        yield parser
    finally:
        with _idle_parsers_lock:
            is_kept = parser.is_idle and not _idle_parsers
            if is_kept:
                _idle_parsers.append(parser)
        if not is_kept:
            parser.close()


_idle_parsers_lock: Final = threading.Lock()
_idle_parsers: Final[list[FileParser]] = []


@atexit.register
def _close_kept() -> None:
    with _idle_parsers_lock:
        while _idle_parsers:
            _idle_parsers.pop().close()


def _parse_here(request: ParseRequest) -> ParseAnswer:
    try:
        return ParseAnswer(chunks=chunk_bytes(request.path, request.data))
    except Exception as error:  # One unexpected file must not stop the others.
        return ParseAnswer(failure=describe_failure(error))
