"""Leash: runs a program that ends when whoever asked for it is gone, or when its time is over.

It is a program of the standard library alone: `python -I -S leash.py SECONDS COMMAND...`. Its stdin holds a line with
the number of bytes of the command's own stdin, those bytes, and then nothing: when it ends, the asker is gone or has
changed its mind, and the command's whole process group is killed. Output and exit status are the command's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

EXPIRED: Final = 124
"""Exit status of a command whose time was over, as `timeout` has it."""

NOT_STARTED: Final = 127
"""Exit status of a command that could not be started, as shells have it; stderr says why."""


def build_leash_command(seconds: float, command: Sequence[str]) -> list[str]:
    """Return the command line that runs a command on a leash."""
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), str(seconds), *command]


def pack_input(data: bytes) -> bytes:
    """Return what the leash is to be given first: what the command reads."""
    return b"%d\n%b" % (len(data), data)


def main(seconds: str, *command: str) -> int:
    """Run a command to its end, its asker's end or the end of its time; return the exit status."""
    given = sys.stdin.buffer.read(int(sys.stdin.buffer.readline()))
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        sys.stderr.write(str(error))
        return NOT_STARTED
    threading.Thread(target=_end_with_asker, args=(child,), daemon=True).start()
    try:
        child.communicate(given, timeout=float(seconds))
    except subprocess.TimeoutExpired:
        return EXPIRED
    finally:
        _kill_group(child)
        child.wait()
    return child.returncode


def _end_with_asker(child: subprocess.Popen[bytes]) -> None:
    # Not by way of `sys.stdin`: a thread that waits in it would hold the interpreter's end up.
    with suppress(OSError):
        while os.read(0, 4_096):
            continue
    _kill_group(child)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill what the command started as well, unless it was waited for: its number may be another's by then."""
    if child.returncode is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
