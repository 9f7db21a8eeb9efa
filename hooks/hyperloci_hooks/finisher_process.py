"""Handing an event over to a process of its own, which has all the time it needs.

The hook itself loads nothing that could keep it from answering; what takes long, or holds the interpreter, happens in
that process, which lives on when the hook has answered.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

from hyperloci_hooks.client import ANSWERED, LATE, REFUSED, TOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperloci_hooks.client import ServerConnection

SAFE = b"safe\n"
"""What the process says when its record is durable; its answer, one line of JSON, follows or not."""

_PIECE = 1 << 16


class HookInput:
    """What a hook was told, and all of its process that the handling depends on."""

    def __init__(self, name: str, payload: bytes, environ: dict[str, str], mark: str) -> None:
        """Take it down.

        Args:
            name: Claude Code's name of the event.
            payload: what came on stdin.
            environ: the hook's environment.
            mark: tells this event from all others; whoever makes its record, once or twice, gives it the same id.
        """
        self.name = name
        self.payload = payload
        self.environ = environ
        self.mark = mark


class FinisherProcess:
    """The process of its own, as the hook sees it."""

    def __init__(self, pid: int, words: int) -> None:
        self._pid = pid
        self._words = words
        self._heard = b""

    @property
    def is_safe(self) -> bool:
        """Whether the record is durable."""
        return self._heard.startswith(SAFE)

    @property
    def answer(self) -> bytes:
        """The answer, and a newline; empty if there is none (yet)."""
        rest = self._heard[len(SAFE) :] if self.is_safe else b""
        return rest[: rest.index(b"\n") + 1] if b"\n" in rest else b""

    def wait_for_outcome(self, until: float, bell: int, *, for_answer: bool = True) -> str:
        """Wait for the answer, or only for the record to be safe."""
        while not (self.answer if for_answer else self.is_safe):
            left = max(until - time.monotonic(), 0)
            readable, _, _ = select.select([self._words, bell] if bell >= 0 else [self._words], [], [], left)
            if bell in readable:
                return TOLD
            if not readable:
                return LATE
            piece = os.read(self._words, _PIECE)
            self._heard += piece
            if not piece:
                return REFUSED
        return ANSWERED

    def tell_to_spool(self) -> None:
        """Tell it to leave its record in the spool at once."""
        try:
            os.kill(self._pid, signal.SIGTERM)
        except OSError:
            return  # It has ended.


def fork_finisher(
    event: HookInput, line: ServerConnection | None, finish: Callable[[HookInput, ServerConnection | None, int], None]
) -> FinisherProcess:
    """Start a process that sees to an event.

    Args:
        event: what the hook was told.
        line: to a server that may still answer.
        finish: called in that process with both, and with the descriptor where it says how it went.

    Raises:
        OSError: no process can be started.
    """
    heard, words = os.pipe()
    pid = os.fork()
    if pid:
        os.close(words)
        return FinisherProcess(pid, heard)
    try:
        # Out of the session's process group, and off its pipes: nobody waits for this process, and none ends it.
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.setsid()
        os.close(heard)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        finish(event, line, words)
    except BaseException as error:
        # The edge of the process: nobody else will tell.
        from hyperloci_hooks.log import log_error

        log_error(error, event.environ)
    finally:
        os._exit(0)


def spawn_finisher(event: HookInput) -> tuple[int, bytes]:
    """Do the same where processes can't be forked (Windows): wait for the process, for as long as the event may take.

    The process has the event's record to itself, and goes on when nobody waits any more.
    """
    import subprocess

    from hyperloci_hooks.budget import SECONDS

    process = subprocess.Popen(
        [sys.executable, "-m", "hyperloci_hooks.finish", event.name, event.mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=event.environ,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    try:
        said, _ = process.communicate(event.payload, timeout=SECONDS[event.name])
    except subprocess.TimeoutExpired:
        return process.pid, b""
    return process.pid, said[len(SAFE) :] if said.startswith(SAFE) else b""
