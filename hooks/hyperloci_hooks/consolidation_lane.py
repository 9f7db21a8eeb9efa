"""Consolidation lane: in a server, what turns yield is found after their hooks were answered, in a thread of its own.

To have sentences read may take most of a second. An assistant's turn that waited for it behind an earlier one would be
stored after the next prompt, as if nobody had answered that.
"""

from __future__ import annotations

import logging
import queue
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hyperloci.system.values import dataclass
from hyperloci_hooks.open_memories import OpenMemories

if TYPE_CHECKING:
    from hyperloci.config import Settings
    from hyperloci.model.record import CaptureRecord

_log = logging.getLogger(__name__)

CLOSE_SECONDS: Final = 1.0
"""How long a server that ends goes on reading: it mostly ends with its session, whose last turns wait then."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A record that is stored, and whose turns wait."""

    settings: Settings
    place: Path
    record: CaptureRecord


class ConsolidationLane:
    """Reads what was stored, in the order in which it came."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closing = False
        self._worker = threading.Thread(target=self._work, name="hook-consolidation", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._worker.start()

    def close(self) -> None:
        """Read on for a second at most. What waits then is read when the next session starts, or by upkeep."""
        self._waiting.put(None)
        if self._worker.is_alive():
            self._worker.join(CLOSE_SECONDS)
        self._closing = True

    def add_turn(self, settings: Settings, place: Path, record: CaptureRecord) -> None:
        """Have the turns read that a stored record ends; at the end of a session, the next one is prepared.

        Args:
            settings: under which the memory is opened.
            place: the folder of the session.
            record: what was stored.
        """
        from hyperloci.model.record import CaptureKind

        if record.kind in (CaptureKind.TURNS, CaptureKind.ENDED):
            self._waiting.put(_Waiting(settings, place, record))

    def _work(self) -> None:
        memories = OpenMemories()
        while (first := self._waiting.get()) is not None:
            for waiting in self._take_latest(first):
                self._consolidate(waiting, memories)
            if self._waiting.empty():
                self._close_all(memories)
        self._close_all(memories)

    def _take_latest(self, first: _Waiting) -> list[_Waiting]:
        """Return what waits by now, of each session the last end of a turn alone: it reads those before it too."""
        latest: dict[tuple[str, str, str], _Waiting] = {}
        waiting: _Waiting | None = first
        while waiting is not None:
            key = (str(waiting.place), waiting.record.session_id, waiting.record.kind)
            latest.pop(key, None)
            latest[key] = waiting
            try:
                waiting = self._waiting.get_nowait()
            except queue.Empty:
                break
        else:
            self._waiting.put(None)  # The end, which `_work` looks for.
        return list(latest.values())

    def _consolidate(self, waiting: _Waiting, memories: OpenMemories) -> None:
        from hyperloci.errors import HyperlociError

        if self._closing:
            return
        record = waiting.record
        try:
            with memories.lend_memory(waiting.settings, waiting.place, record.project_id) as memory:
                memory.consolidate_record(record)
        except HyperlociError as error:
            _log.warning("the turns of session %s are stored, but not consolidated yet: %s", record.session_id, error)
        except Exception:
            # The edge of a record: its turns are stored, and maintenance reads them.
            _log.exception("the turns of session %s are stored, but not consolidated yet", record.session_id)

    def _close_all(self, memories: OpenMemories) -> None:
        try:
            memories.close_all()
        except Exception:
            # What is read next opens them anew.
            _log.exception("a memory could not be closed")
