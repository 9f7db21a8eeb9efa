"""Child: the process a program runs in: `python -I -m hyperloci.sandbox.child`, started by a session, never by hand.

It has its standard input and output and nothing else: no environment, no other descriptor, and limits from the kernel
that it can't lift. A program that breaks out is still confined to it. Nothing of the memory is imported: its functions
are requests to the session.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import unicodedata  # noqa: F401 - "\N{DASH}" loads it, and by then no file can be opened
from collections.abc import Callable, Mapping
from functools import partial
from io import FileIO
from types import FrameType
from typing import Any, Final

from hyperloci.sandbox import limits as kernel
from hyperloci.sandbox.evaluate import CallFailed, ProgramFailure, ProgramOutcome, Stopped, evaluate_program
from hyperloci.sandbox.limits import MESSAGES, ProgramLimits
from hyperloci.system.framing import write_all

_STDIN: Final = 0
_STDOUT: Final = 1

LOOK_EVERY_MS: Final = 50
"""Where the kernel doesn't limit memory (macOS), this often the child looks itself."""

_WATCHER_STACK_BYTES: Final = 256 << 10
"""The address space is limited, and a thread's usual stack of 8 MB would count."""

_SIGNALS: Final = (signal.SIGALRM, signal.SIGXCPU)


class SessionLine:
    """The pipes to the session."""

    def __init__(self) -> None:
        self._source = FileIO(_STDIN, "rb", closefd=False)
        self._sink = FileIO(_STDOUT, "wb", closefd=False)

    def receive_message(self) -> dict[str, Any]:
        """Return the session's next message."""
        message, _ = MESSAGES.read_json(self._source.read)
        return message

    def send_message(self, message: dict[str, Any]) -> None:
        """Send a message whole: a limit that is reached meanwhile waits."""
        frame = MESSAGES.pack_json(message, allow_nan=False)
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            write_all(self._sink.write, frame)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def call_function(self, name: str, *arguments: Any) -> Any:
        """Have the session call a memory function and return what it returned.

        Raises:
            CallFailed: the function refused.
            TypeError: an argument is nothing that JSON holds.
        """
        self.send_message({"call": name, "arguments": arguments})
        answer = self.receive_message()
        if "error" in answer:
            raise CallFailed(answer["error"], answer["message"])
        return answer["value"]


def memory_functions(call: Callable[..., Any]) -> Mapping[str, Callable[..., Any]]:
    """Return the five memory functions (SPEC-02.27 to .31), each a request to the session."""

    def memory_query(query: str, limit: int = 10) -> list[dict[str, Any]]:
        return call("memory_query", query, limit)  # type: ignore[no-any-return]

    def memory_add_fact(content: str, confidence: float = 1.0) -> str:
        return call("memory_add_fact", content, confidence)  # type: ignore[no-any-return]

    def memory_add_experience(content: str, outcome: str, success: bool) -> str:
        return call("memory_add_experience", content, outcome, success)  # type: ignore[no-any-return]

    def memory_get_context(limit: int = 10) -> list[dict[str, Any]]:
        return call("memory_get_context", limit)  # type: ignore[no-any-return]

    def memory_relate(label: str, subject_id: str, object_id: str) -> str:
        return call("memory_relate", label, subject_id, object_id)  # type: ignore[no-any-return]

    found = (memory_query, memory_add_fact, memory_add_experience, memory_get_context, memory_relate)
    for function in found:
        # Python's own complaints of a call name the function by it.
        function.__qualname__ = function.__name__
    return {function.__name__: function for function in found}


def main() -> None:
    """Run one program and end."""
    line = SessionLine()
    order = line.receive_message()
    limits = ProgramLimits(**order["limits"])
    _watch_memory(limits.memory_bytes)
    kernel.apply_limits(limits)
    outcome = _run_program(order["code"], limits, line, order["names"])
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    line.send_message({"done": outcome.to_dict()})


def _run_program(code: str, limits: ProgramLimits, line: SessionLine, sources: Mapping[str, str]) -> ProgramOutcome:
    signal.signal(signal.SIGXCPU, partial(_stop_program, f"it took more than {limits.cpu_seconds} s of processor time"))
    signal.signal(signal.SIGALRM, partial(_stop_program, f"it took more than {limits.wall_seconds:g} s"))
    # Told again and again: a program can hold up one exception with `finally`, but not its end.
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds, 0.1)
    try:
        return evaluate_program(code, memory_functions(line.call_function), limits, sources)
    except Stopped as error:
        # At its limit a second time, while the first was being told.
        return ProgramOutcome("", None, ProgramFailure("Stopped", str(error), None))


def _stop_program(reason: str, number: int, frame: FrameType | None) -> None:
    raise Stopped(reason)


def _watch_memory(memory_bytes: int) -> None:
    threading.stack_size(_WATCHER_STACK_BYTES)
    threading.Thread(target=_die_with_session, args=(memory_bytes,), name="session", daemon=True).start()


def _die_with_session(memory_bytes: int) -> None:
    """End when the other end of stdin is closed: the session is gone."""
    poll = select.poll()
    # No event is asked for: a hang-up is told all the same, and messages are left to whoever reads them.
    poll.register(_STDIN, 0)
    while not poll.poll(None if sys.platform == "linux" else LOOK_EVERY_MS):
        if _resident_bytes() > memory_bytes:
            os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _resident_bytes() -> int:
    import resource

    # The unit is a byte on macOS and a kilobyte elsewhere.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1_024)


if __name__ == "__main__":
    try:
        main()
    finally:
        # Not sys.exit: what a program left behind is not worth tidying up.
        os._exit(0)
