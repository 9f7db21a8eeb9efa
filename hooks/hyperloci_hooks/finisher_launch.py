"""Finisher process: hands an event over to a separate process, which has all the time it needs.

The hook itself loads nothing that could delay its answer. Slow work, and work that holds the interpreter, happens in
that process, which lives on after the hook has answered.
"""

from __future__ import annotations

import os
import select
import sys
import time

from hyperloci_hooks.client import ANSWERED, LATE, REFUSED, TOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

    from hyperloci_hooks.client import ServerConnection
else:
    import _signal as signal  # As `run` does.

SAFE = b"safe\n"
"""What the process sends when its record is stored durably; an answer, one line of JSON, may follow."""

_PIECE = 1 << 16


class HookInput:
    """A hook's input, and the parts of its process that the handling needs."""

    def __init__(self, name: str, payload: bytes, environ: dict[str, str], mark: str) -> None:
        """Create it.

        Args:
            name: Claude Code's name of the event.
            payload: what came on stdin.
            environ: the hook's environment.
            mark: identifies this event; its record gets the same id from it, even if it is made twice.
        """
        self.name = name
        self.payload = payload
        self.environ = environ
        self.mark = mark


class FinisherProcess:
    """The hook's handle on the separate process."""

    def __init__(self, pid: int, words: int) -> None:
        self._pid = pid
        self._words = words
        self._heard = b""

    @property
    def is_safe(self) -> bool:
        """Whether the record is stored durably."""
        return self._heard.startswith(SAFE)

    @property
    def answer(self) -> bytes:
        """The answer and a newline; empty if there is none yet."""
        rest = self._heard[len(SAFE) :] if self.is_safe else b""
        return rest[: rest.index(b"\n") + 1] if b"\n" in rest else b""

    def wait_for_outcome(self, until: float, bell: int, *, for_answer: bool = True) -> str:
        """Wait for the answer, or only until the record is stored."""
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
        """Tell it to save its record to the spool at once."""
        try:
            os.kill(self._pid, signal.SIGTERM)
        except OSError:
            return  # The process has ended.


def fork_finisher(
    event: HookInput, line: ServerConnection | None, finish: Callable[[HookInput, ServerConnection | None, int], None]
) -> FinisherProcess:
    """Start a process that handles an event.

    Args:
        event: the hook's input.
        line: a connection to a server that may still answer.
        finish: called in that process with both, and with the descriptor on which it reports the outcome.

    Raises:
        OSError: the process can't be started.
    """
    heard, words = os.pipe()
    pid = os.fork()
    if pid:
        os.close(words)
        return FinisherProcess(pid, heard)
    try:
        # Leave the session's process group and its pipes: nothing waits for this process or ends it.
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
        # The edge of the process: nothing else reports the error.
        from hyperloci_hooks.log import log_error

        log_error(error, event.environ)
    finally:
        os._exit(0)


def spawn_finisher(event: HookInput) -> tuple[int, bytes]:
    """Do the same without fork (Windows): wait for the process for as long as the event may take.

    The process alone stores the event's record, and continues when nothing waits for it any more.
    """
    import subprocess

    from hyperloci_hooks.budget import SECONDS

    process = subprocess.Popen(
        [sys.executable, "-m", "hyperloci_hooks.finisher", event.name, event.mark],
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
