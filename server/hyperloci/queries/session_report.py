"""Session report: what a session was for, how it ended, which files it changed, what it left in the memory."""

from __future__ import annotations

from typing import Final

from hyperloci.clock import to_iso
from hyperloci.conversations.session_request import find_request
from hyperloci.model.node import Node
from hyperloci.model.search import Hit, Present
from hyperloci.model.turn import Speaker
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession
from hyperloci.system.values import dataclass
from hyperloci.text.cutting import cut_line

EXCERPT_CHARS: Final = 600
"""Of the request and of the last answer: what they are about stands at their beginning."""

MAX_FILES: Final = 50
MAX_MEMORIES: Final = 50
"""The newest are shown; a session that made more was an import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """One session. Times are ISO 8601.

    Attributes:
        id, project, status, started_at, last_seen_at, ended_at: as registered.
        turns: how many were stored.
        consolidated_turns, strategy: how far it was made into facts, and how.
        asked, answered: its request and its last answer, cut; None where there is none.
        files: paths that it changed, in order.
        extracted: what consolidation made of it.
        remembered: what was stored on purpose during it.
    """

    id: str
    project: str
    status: str
    started_at: str
    last_seen_at: str
    ended_at: str | None
    turns: int
    consolidated_turns: int
    strategy: str | None
    asked: str | None
    answered: str | None
    files: tuple[str, ...]
    extracted: tuple[Hit, ...]
    remembered: tuple[Hit, ...]


def make_session_report(store: Store, session: StoredSession, present: Present) -> SessionReport:
    """Return a session in short; reading it reinforces nothing."""
    turns, marks = store.turns, store.consolidations
    progress = marks.get_progress(session.id)
    made = {origin: marks.list_memories_made(session.key, origin, MAX_MEMORIES) for origin in ("extraction", "tool")}
    return SessionReport(
        id=session.id,
        project=session.scope,
        status=session.status,
        started_at=to_iso(session.started_at),
        last_seen_at=to_iso(session.last_seen_at),
        ended_at=None if session.ended_at is None else to_iso(session.ended_at),
        turns=session.next_seq,
        consolidated_turns=0 if progress is None else progress.through_seq,
        strategy=None if progress is None else progress.strategy,
        asked=cut_excerpt(find_request(store, session.key)),
        answered=cut_excerpt(turns.get_last(session.key, Speaker.ASSISTANT)),
        files=tuple(marks.list_changed_files(session.key, MAX_FILES)),
        extracted=tuple(present(made["extraction"])),
        remembered=tuple(present(made["tool"])),
    )


def cut_excerpt(node: Node | None) -> str | None:
    """Return the beginning of what was said, on one line; None of nothing."""
    return None if node is None else cut_line(node.content, EXCERPT_CHARS)
