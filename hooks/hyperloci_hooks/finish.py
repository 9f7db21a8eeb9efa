"""The process that sees to one event when the hook itself can't wait: it ends with the record safe, or by a timer.

It waits for the server that has the event already, or for its turn among the hooks that work by themselves (fifty at
once would only get in each other's way), and then does what a server would have done.
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

from hyperloci.system.framing import write_all
from hyperloci.whereabouts import Whereabouts, whereabouts
from hyperloci_hooks import client, tally
from hyperloci_hooks.budget import SECONDS
from hyperloci_hooks.deadline import Deadline
from hyperloci_hooks.handover import SAFE, Event
from hyperloci_hooks.work import Work

if TYPE_CHECKING:
    from pathlib import Path

    from hyperloci.config import Settings
    from hyperloci.memory import Memory

SERVER_SECONDS: Final = 20.0
"""How long a server that took an event is waited for, before it is done here too (twice is once). A server that has
fifty hooks to see to on a busy machine needs seconds."""

OWN_SECONDS: Final = 30
"""How long the work may take in all: then the kernel ends the process, whatever it is at."""

KNOWN_SHARE: Final = 0.8
"""The part of that in which it must be known what to keep; the rest is for saying so."""

TURN_SECONDS: Final = 600.0
"""How long to wait for others at most."""

LOOK_SECONDS: Final = 0.05
"""How often to look for a turn, or for a server that has come up meanwhile."""


class Words:
    """The pipe to the hook. Threads may say things at once; each thing is said once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._unsaid = {SAFE, b"answer"}

    def safe(self) -> None:
        """Say that the record is durable."""
        with self._lock:
            self._say(SAFE, SAFE)

    def answer(self, answer: bytes) -> None:
        """Say the answer, and with it that the record is durable."""
        with self._lock:
            self._say(SAFE, SAFE)
            self._say(b"answer", answer)

    def _say(self, what: bytes, words: bytes) -> None:
        if what not in self._unsaid:
            return
        self._unsaid.discard(what)
        with contextlib.suppress(OSError):  # The hook has answered and gone.
            write_all(partial(os.write, self._descriptor), words)


def finish(event: Event, line: client.Line | None, descriptor: int) -> None:
    """See to an event.

    Args:
        event: what the hook was told.
        line: to a server that may still answer.
        descriptor: where to say that the record is safe, and the answer.
    """
    with contextlib.suppress(AttributeError):  # Windows has no such signal, and ends no pipe with it.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    where = None
    with contextlib.suppress(ValueError, TypeError, OSError):  # The settings are wrong: the work says so.
        where = whereabouts(event.environ)
    _Finish(event, where, Words(descriptor)).run(line)


class _Finish:
    """One event's way, from the hook that could not wait to its end."""

    def __init__(self, event: Event, where: Whereabouts | None, words: Words) -> None:
        self._event = event
        self._where = where
        self._words = words
        self._started = time.monotonic()

    def run(self, line: client.Line | None) -> None:
        """Wait for a server, or for the turn, and do the work."""
        if line is not None and self._heard(line.wait(time.monotonic() + SERVER_SECONDS), line):
            return
        with self._turn() as ours:
            if ours:
                self._work()

    def _heard(self, outcome: str, line: client.Line | None) -> bool:
        """Pass on what a server said, if it did."""
        if line is None:
            return False
        line.close()
        if outcome != client.ANSWERED:
            return False
        self._words.answer(line.answer)
        self._note(tally.ENDED)
        return True

    @contextlib.contextmanager
    def _turn(self) -> Iterator[bool]:
        """Wait until no other hook works by itself; give False where a server has answered meanwhile."""
        if self._where is None or os.name != "posix":
            yield True
            return
        import fcntl

        descriptor = self._lock(self._where)
        until = self._started + TURN_SECONDS
        try:
            while descriptor is not None and time.monotonic() < until:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if self._heard(*self._call(self._where)):
                        yield False
                        return
                    time.sleep(LOOK_SECONDS)
            yield True
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _lock(self, where: Whereabouts) -> int | None:
        """Open the file whose lock is the turn; None where there is none to be had, and so no turn to wait for."""
        try:
            os.makedirs(where.state_dir, mode=0o700, exist_ok=True)
            return os.open(os.path.join(where.state_dir, f"hooks-{where.key}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None

    def _call(self, where: Whereabouts) -> tuple[str, client.Line | None]:
        """Try a server that was not there when the hook looked."""
        event = self._event
        said = client.frame(event.name, event.payload, where.database, event.mark, event.environ)
        return client.call((where.runtime_dir, where.sockets), said, time.monotonic() + SERVER_SECONDS)

    def _note(self, outcome: str) -> None:
        if self._where is not None:
            took = 1_000 * (time.monotonic() - self._started)
            tally.note(self._where.spool, self._event.name, outcome, took, self._event.mark)

    def _work(self) -> None:
        # Nothing that one event makes is garbage before the process ends, and a vector or two need no pool of threads.
        gc.disable()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - a process's entry point
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, OWN_SECONDS)
        sys.stderr = caught = io.StringIO()
        event = self._event
        work = Work(event.name, event.environ, mark=event.mark, lend=_opened, by_itself=True)
        deadline = Deadline(SECONDS[event.name], lambda: self._out_of_time(work))
        answer = work.answer(event.payload)
        deadline.stop()
        self._note_end(work)
        self._words.answer(json.dumps(answer).encode("ascii") + b"\n")
        if caught.getvalue():
            work.tell(caught.getvalue())

    def _out_of_time(self, work: Work) -> None:
        from hyperloci_hooks.spool import forget_tries

        seconds = SECONDS[self._event.name]
        in_vain = not work.known.wait(KNOWN_SHARE * OWN_SECONDS - seconds)
        forget_tries()
        work.tell(f"{self._event.name} ran out of time{' before it knew what to keep' if in_vain else ''}")
        if in_vain:
            self._note(tally.DROPPED)
            return
        if work.spool():
            self._words.safe()
        self._note_end(work)

    def _note_end(self, work: Work) -> None:
        self._note(tally.DROPPED if work.lost else tally.SPOOLED if work.spooled else tally.ENDED)


def _opened(settings: Settings, place: Path, project_id: str) -> Memory:
    from hyperloci.memory import Memory

    return Memory.open(settings, place)


def main(arguments: list[str]) -> None:
    """See to the event that the arguments name and stdin tells of: for systems where processes can't be forked."""
    environ: dict[str, Any] = dict(os.environ)  # noqa: TID251 - a process's entry point
    finish(Event(arguments[0], sys.stdin.buffer.read(), environ, arguments[1]), None, 1)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
