"""What goes in and out of a hook: one JSON object on stdin, one on stdout, whatever happens."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import Any, Final

MAX_INPUT_BYTES: Final = 16 << 20
"""An edit of a large file brings the whole file along; beyond this nothing is worth a second of parsing."""

READ_BYTES: Final = 1 << 16

WRITE_SECONDS: Final = 1.0
"""How long a thread that came second waits for the first one's answer to be written, before it may end the process."""

STDIN: Final = 0
STDOUT: Final = 1


def read_input(descriptor: int = STDIN, limit: int = MAX_INPUT_BYTES) -> bytes:
    """Return what stands on stdin; nothing if it is longer than `limit` (it is read to its end all the same)."""
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(descriptor, READ_BYTES):
        size += len(piece)
        if size <= limit:
            pieces.append(piece)
        else:
            pieces.clear()
    return b"".join(pieces)


def parse(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`; an empty one for anything else (nothing, torn, an array, not JSON)."""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def text_of(payload: Mapping[str, Any], name: str) -> str:
    """Return a field that should be a text; '' where it is missing or something else.

    Half of a surrogate pair, which JSON can hold and no file can, becomes a question mark.
    """
    value = payload.get(name)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def object_of(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a field that should be an object; an empty one where it is missing or something else."""
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def answer_of(event: str, context: str = "", notice: str = "") -> dict[str, Any]:
    """Return a hook's answer.

    Args:
        event: Claude Code's name of it.
        context: what to put before the assistant; only where the event takes it.
        notice: what to tell the person.
    """
    answer: dict[str, Any] = {}
    if notice:
        answer["systemMessage"] = notice
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    return answer


class Outlet:
    """Stdout, which takes one answer: the first. Threads may race for it."""

    def __init__(self, descriptor: int = STDOUT) -> None:
        self._descriptor = descriptor
        self._free = threading.Lock()
        self._written = threading.Event()

    def answer(self, answer: Mapping[str, Any]) -> bool:
        """Write an answer and return True, or False if there was one already, or nobody reads."""
        if not self._free.acquire(blocking=False):
            self._written.wait(WRITE_SECONDS)
            return False
        # ASCII, so that no code page of any terminal can spoil it.
        data = json.dumps(answer).encode("ascii") + b"\n"
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            return False
        finally:
            self._written.set()
        return True
