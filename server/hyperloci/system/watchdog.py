"""Watchdog: a small process that kills a server which can't end itself.

Python hears a signal, and the end of its stdin, only between two steps of the interpreter. A regular expression, or a
library that doesn't let go of the interpreter's lock, may keep it from both for ever. What C code does at a signal is
to write a byte into a pipe: this process reads it, waits a little, and kills.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from typing import Final

ENDINGS: Final = (signal.SIGINT, signal.SIGTERM) + ((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())
"""The signals that ask a process to end."""

END_SECONDS = 10.0
"""How long a process may take to end that was asked to, or whose client has closed its end. It needs a fifth of a
second; on a busy machine with a slow disk one took more than two."""

_LOOK_SECONDS: Final = 5.0
"""How often to look whether the process is still there, in case another one holds the pipe's end."""


def start_watchdog() -> None:
    """Have this process killed if it doesn't end when it is asked to.

    Call it before any thread is started, and leave `signal.set_wakeup_fd` alone afterwards. Where processes can't be
    forked, and where no further one can be started, it does nothing.
    """
    if sys.platform == "win32":
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    guarded = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        os.close(heard)
        os.close(told)
        return
    if pid:
        os.close(heard)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        return
    try:
        _release_resources(told)
        _watch_process(guarded, heard)
    finally:
        os._exit(0)


def _release_resources(told: int) -> None:
    """Release everything inherited from the guarded process except its stdin, whose end must be noticed."""
    for number in ENDINGS:
        signal.signal(number, signal.SIG_IGN)
    os.close(told)
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def _watch_process(guarded: int, heard: int) -> None:
    poller = select.poll()
    poller.register(heard, select.POLLIN)
    # No event of its own: only that the other end is closed. Nothing is read that is the guarded process's.
    poller.register(0, 0)
    until: float | None = None
    while os.getppid() == guarded:
        left = _LOOK_SECONDS if until is None else max(until - time.monotonic(), 0)
        for descriptor, _ in poller.poll(1_000 * min(left, _LOOK_SECONDS)):
            if descriptor == heard:
                numbers = os.read(heard, 512)
                if not numbers:
                    return
                asked = any(number in ENDINGS for number in numbers)
            else:
                poller.unregister(descriptor)
                asked = True
            if asked and until is None:
                until = time.monotonic() + END_SECONDS
        if until is not None and time.monotonic() >= until and os.getppid() == guarded:
            os.kill(guarded, signal.SIGKILL)
            return
