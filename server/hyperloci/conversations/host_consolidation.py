"""Host consolidation: sessions of which the assistant itself makes memories, shown to it a part at a time (B.17)."""

from __future__ import annotations

from typing import Final

from hyperloci.clock import Clock
from hyperloci.config import Settings
from hyperloci.conversations import transcript_prompt
from hyperloci.conversations.consolidation.consolidator import HOST_STRATEGY, ConsolidationResult
from hyperloci.conversations.consolidation.finding_writer import FindingWriter
from hyperloci.conversations.consolidation.findings import read_payload
from hyperloci.conversations.consolidation.payload_writer import PayloadWriter
from hyperloci.conversations.consolidation.subject_memories import find_standing_memories
from hyperloci.errors import NotFoundError
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress
from hyperloci.system.values import dataclass

MAX_HOST_TURNS: Final = 1_000

HOST_CHARS: Final = 40_000
"""Characters of turns put before the assistant at once: Claude Code shows 50,000 of a tool's answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest:
    """What an assistant is shown that is to consolidate a session: its turns, and up to which.

    Attributes:
        session_id: which.
        turns: the turns, as JSON lines; '' where nothing waits.
        standing: memories on their subjects, likewise, with what to do about them; '' for none.
        through: the number after the last one shown.
        left: turns that wait for another time.
    """

    session_id: str
    turns: str
    standing: str
    through: int
    left: int


class HostConsolidation:
    """Shows an assistant what waits, and stores what it finds, over one store."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._progress = store.consolidations
        self._payloads = PayloadWriter(store, clock, FindingWriter(store, settings, clock))

    def make_request(self, session_id: str | None, scope: str) -> HostRequest:
        """Return what an assistant is shown that is to consolidate a session; the oldest that waits, if none is named.

        Raises:
            NotFoundError: there is no such session, or none waits.
        """
        if session_id is None:
            waiting = self._progress.list_pending(1, scope=scope)
            if not waiting:
                raise NotFoundError("No session of this project waits to be consolidated.")
            progress = waiting[0]
        else:
            progress = self._find_progress(session_id)
        turns, text, through = self._choose_part(progress)
        left = max(0, progress.next_seq - through) if turns else 0
        standing = transcript_prompt.format_standing(find_standing_memories(self._store, progress.scope, turns))
        return HostRequest(session_id=progress.session_id, turns=text, standing=standing, through=through, left=left)

    def _choose_part(self, progress: ConsolidationProgress) -> tuple[list[Node], str, int]:
        """Return the turns that an assistant is shown, as it reads them, and the first that it is not shown."""
        turns = self._progress.list_turns(progress.session_key, progress.through_seq, MAX_HOST_TURNS)
        text, shown = transcript_prompt.format_turns(turns, HOST_CHARS)
        return turns[:shown], text, int(turns[shown - 1].seq or 0) + 1 if shown else progress.through_seq

    def save_findings(self, session_id: str, given: object) -> ConsolidationResult:
        """Store what an assistant found in a session (`save_consolidation`); what is known already is counted again.

        Without `through`, the turns that it was shown at once are done.

        Raises:
            NotFoundError: there is no such session.
        """
        progress = self._find_progress(session_id)
        turns = {
            int(turn.seq): turn
            for turn in self._progress.list_turns(progress.session_key, 0, progress.next_seq)
            if turn.seq is not None
        }
        payload = read_payload(given, turns)
        done = self._choose_part(progress)[2] if payload.through is None else payload.through
        through = max(progress.through_seq, min(done, progress.next_seq))
        saved = self._payloads.save_whole(progress, payload, turns, through=through, strategy=HOST_STRATEGY)
        self._payloads.promote_explicit_memories(progress.session_key)
        return ConsolidationResult(session_id=session_id, strategy=HOST_STRATEGY, through=through, saved=saved)

    def _find_progress(self, session_id: str) -> ConsolidationProgress:
        progress = self._progress.get_progress(session_id)
        if progress is None:
            raise NotFoundError(
                f"session_id={session_id!r:.80}: there is no such session; `hyperloci sessions` lists them."
            )
        return progress
