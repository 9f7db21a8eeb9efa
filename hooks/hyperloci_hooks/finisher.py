"""Finisher: a process that handles one event when the hook itself can't wait; it ends with the record stored, or at a
timer.

It waits for the server that already has the event, or for its turn among the hooks without a server (fifty at once
would slow each other down), and then does what a server would have done.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hyperloci.system.data_paths import InstallationPaths, find_paths
from hyperloci.system.framing import write_all
from hyperloci.system.own_folders import make_own_folders
from hyperloci_hooks import client, outcome_log
from hyperloci_hooks.budget import GRACE_SECONDS, MARGIN_SECONDS, SECONDS
from hyperloci_hooks.deadline import ProcessDeadline
from hyperloci_hooks.event_work import EventWork
from hyperloci_hooks.finisher_launch import SAFE, HookInput

if TYPE_CHECKING:
    from pathlib import Path

    from hyperloci.config import Settings
    from hyperloci.memory import Memory

SERVER_SECONDS: Final = 20.0
"""How long to wait for a server that took an event before handling it here too (storing twice is harmless). A server
that handles fifty hooks on a busy machine needs seconds."""

OWN_SECONDS: Final = 30
"""How long the work may take in all; then the kernel ends the process, whatever it is doing."""

KNOWN_SHARE: Final = 0.8
"""The part of that time in which the record must be made; the rest is for storing it."""

TURN_SECONDS: Final = 600.0
"""The longest wait for a turn."""

LOOK_SECONDS: Final = 0.05
"""How often to check for a turn, or for a server that has started meanwhile."""


class OutcomePipe:
    """The pipe to the hook. For several threads; each message is sent once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._unsaid = {SAFE, b"answer"}

    def report_safe(self) -> None:
        """Report that the record is stored durably."""
        with self._lock:
            self._write_once(SAFE, SAFE)

    def report_answer(self, answer: bytes) -> None:
        """Send the answer, and report that the record is stored durably."""
        with self._lock:
            self._write_once(SAFE, SAFE)
            self._write_once(b"answer", answer)

    def _write_once(self, what: bytes, words: bytes) -> None:
        if what not in self._unsaid:
            return
        self._unsaid.discard(what)
        with contextlib.suppress(OSError):  # The hook has answered and ended.
            write_all(partial(os.write, self._descriptor), words)


def finish_event(event: HookInput, line: client.ServerConnection | None, descriptor: int) -> None:
    """Handle an event.

    Args:
        event: the hook's input.
        line: a connection to a server that may still answer.
        descriptor: the pipe for the report that the record is stored, and for the answer.
    """
    with contextlib.suppress(AttributeError):  # Windows has no such signal.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    # One search by one thread: to start others for numpy takes a quarter of its import, on two cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - a process's entry point
    where = None
    with contextlib.suppress(ValueError, TypeError, OSError):  # The settings are wrong: EventWork reports it.
        where = find_paths(event.environ)
    _EventFinisher(event, where, OutcomePipe(descriptor)).run(line)


class _EventFinisher:
    """Handles one event whose hook could not wait."""

    def __init__(self, event: HookInput, where: InstallationPaths | None, words: OutcomePipe) -> None:
        self._event = event
        self._where = where
        self._words = words
        self._started = time.monotonic()

    def run(self, line: client.ServerConnection | None) -> None:
        """Wait for a server or for the turn, and do the work."""
        if line is not None and self._relay_answer(line.wait_for_answer(time.monotonic() + SERVER_SECONDS), line):
            return
        with self._wait_for_turn() as ours:
            if ours:
                self._do_work()

    def _relay_answer(self, outcome: str, line: client.ServerConnection | None) -> bool:
        """Pass a server's answer on; return whether there was one."""
        if line is None:
            return False
        line.close()
        if outcome != client.ANSWERED:
            return False
        self._words.report_answer(line.answer)
        self._note_outcome(outcome_log.ENDED)
        return True

    @contextlib.contextmanager
    def _wait_for_turn(self) -> Iterator[bool]:
        """Wait until no other hook works without a server; yield False if a server has answered meanwhile."""
        if self._where is None or os.name != "posix":
            yield True
            return
        import fcntl

        descriptor = self._open_turn_lock(self._where)
        until = self._started + TURN_SECONDS
        try:
            while descriptor is not None and time.monotonic() < until:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if self._relay_answer(*self._call_server(self._where)):
                        yield False
                        return
                    time.sleep(LOOK_SECONDS)
            yield True
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _open_turn_lock(self, where: InstallationPaths) -> int | None:
        """Open the file whose lock is the turn; None if it can't be opened, and so there is no turn to wait for."""
        try:
            make_own_folders(where.state_dir)
            return os.open(os.path.join(where.state_dir, f"hooks-{where.key}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None

    def _call_server(self, where: InstallationPaths) -> tuple[str, client.ServerConnection | None]:
        """Try a server that has started since the hook looked for one."""
        event = self._event
        said = client.pack_event(event.name, event.payload, where.database, event.mark, event.environ)
        return client.call_server((where.runtime_dir, where.sockets), said, time.monotonic() + SERVER_SECONDS)

    def _note_outcome(self, outcome: str) -> None:
        if self._where is not None:
            took = 1_000 * (time.monotonic() - self._started)
            outcome_log.append_outcome(self._where.spool, self._event.name, outcome, took, self._event.mark)

    def _do_work(self) -> None:
        # One event makes no garbage before the process ends, and a vector or two need no thread pool.
        gc.disable()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - a process's entry point
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, OWN_SECONDS)
        sys.stderr = caught = io.StringIO()
        event = self._event
        # Closed when the answer is on its way: that empties the database's log, and nothing acknowledged waits for it.
        with contextlib.ExitStack() as open_until_answered:
            lend = partial(_lend_memory, open_until_answered)
            work = EventWork(event.name, event.environ, mark=event.mark, lend=lend, by_itself=True)
            deadline = ProcessDeadline(_allow_seconds(event.name), lambda: self._handle_timeout(work))
            answer = work.answer_event(event.payload)
            deadline.cancel()
            self._note_final_outcome(work)
            self._words.report_answer(json.dumps(answer).encode("ascii") + b"\n")
        if caught.getvalue():
            work.write_log(caught.getvalue())

    def _handle_timeout(self, work: EventWork) -> None:
        seconds = _allow_seconds(self._event.name)
        in_vain = not work.known.wait(KNOWN_SHARE * OWN_SECONDS - seconds)
        work.clear_try_marks()
        work.write_log(f"{self._event.name} ran out of time{' before its record was made' if in_vain else ''}")
        if in_vain:
            self._note_outcome(outcome_log.DROPPED)
            return
        if work.spool_record():
            self._words.report_safe()
            if (answer := work.make_ready_answer()) is not None:
                self._words.report_answer(json.dumps(answer).encode("ascii") + b"\n")
        self._note_final_outcome(work)

    def _note_final_outcome(self, work: EventWork) -> None:
        self._note_outcome(
            outcome_log.DROPPED if work.is_lost else outcome_log.SPOOLED if work.spooled else outcome_log.ENDED
        )


def _allow_seconds(name: str) -> float:
    """Return how long the work for an event may take: as long as the hook waits for context."""
    grace = GRACE_SECONDS.get(name, 0.0)
    return SECONDS[name] + max(0.0, grace - MARGIN_SECONDS)


def _lend_memory(
    owner: contextlib.ExitStack, settings: Settings, place: Path, project_id: str
) -> contextlib.AbstractContextManager[Memory]:
    """Open a memory that stays open for as long as its owner."""
    from hyperloci.memory import Memory

    return contextlib.nullcontext(owner.enter_context(Memory.open(settings, place)))


def main(arguments: list[str]) -> None:
    """Handle the event named by the arguments with its payload on stdin: for systems without fork."""
    environ: dict[str, Any] = dict(os.environ)  # noqa: TID251 - a process's entry point
    finish_event(HookInput(arguments[0], sys.stdin.buffer.read(), environ, arguments[1]), None, 1)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
