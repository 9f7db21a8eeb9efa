"""Open memories: the memories of the projects whose hooks came last stay open in a server."""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hyperloci.config import Settings
    from hyperloci.memory import Memory

OPEN_MEMORIES: Final = 4
"""Projects whose memory stays open for hooks: one server serves the hooks of all sessions of its database."""


class OpenMemories:
    """The open memories of the projects whose hooks came last. For one thread."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], tuple[Memory, Any]] = OrderedDict()

    @contextlib.contextmanager
    def lend_memory(self, settings: Settings, place: Path, project_id: str) -> Iterator[Memory]:
        """Lend the memory of a folder; it stays open afterwards, unless an error occurred."""
        key = (str(place), project_id)
        memory = self._find_usable(key, settings) or self._open_memory(key, settings, place)
        try:
            yield memory
        except BaseException:
            self._close_memory(key)
            raise

    def _find_usable(self, key: tuple[str, str], settings: Settings) -> Memory | None:
        if key not in self._open:
            return None
        memory, file = self._open[key]
        if memory.settings != settings or memory.store.read_only or file != _file_identity(memory.store.path):
            self._close_memory(key)
            return None
        self._open.move_to_end(key)
        return memory

    def _open_memory(self, key: tuple[str, str], settings: Settings, place: Path) -> Memory:
        from hyperloci.memory import Memory
        from hyperloci.store.database import vector_extension

        # Before the first connection: sqlite-vec can only be registered for later connections.
        vector_extension.prepare_vec()
        memory = Memory.open(settings, place)
        self._open[key] = memory, _file_identity(memory.store.path)
        if len(self._open) > OPEN_MEMORIES:
            self._close_memory(next(iter(self._open)))
        return memory

    def _close_memory(self, key: tuple[str, str]) -> None:
        memory, _ = self._open.pop(key)
        memory.close()

    def close_all(self) -> None:
        """Close all, also where one of them can't be closed, whose error is raised then."""
        with contextlib.ExitStack() as closing:
            for key in list(self._open):
                closing.callback(self._close_memory, key)


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
