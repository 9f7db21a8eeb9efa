"""Session digest: what a session was for, what came of it and what was done, in lines, the most telling first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.clock import format_minute
from hyperloci.conversations.capture.last_session import find_done, score_turns
from hyperloci.conversations.capture.sessions import ACTIVE_FOR_MS
from hyperloci.conversations.session_request import find_request, find_telling
from hyperloci.model.node import Node
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.search import Present
from hyperloci.model.turn import Speaker
from hyperloci.retrieval.context_assembly import ContextLine, render_hit
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession
from hyperloci.system.values import dataclass
from hyperloci.text.cutting import cut_line

EXCERPT_CHARS: Final = 400
"""Of a request, an answer or an action: what they are about stands at their beginning."""

LAST_TURNS: Final = 60
"""Turns at the end among which the last outcome is looked for: after it, people thank."""

MAX_FILES: Final = 20
MAX_MEMORIES: Final = 20
MAX_ACTIONS: Final = 3
MAX_OUTCOMES: Final = 3


@dataclass(frozen=True, slots=True)
class SessionDigester:
    """Tells what sessions were; `present` makes hits of nodes."""

    store: Store
    present: Present

    def describe(self, session: StoredSession) -> tuple[ContextLine, ...]:
        """Return a session in lines, the most telling first."""
        last = self.store.chunks.list_turns(
            session.key, session.next_seq - LAST_TURNS, session.next_seq, forgotten=False
        )
        return (
            *_quote_turn("request", find_request(self.store, session.key)),
            *(line for turn in _find_outcomes(last) for line in _quote_turn("outcome", turn)),
            *self._list_files(session),
            *self._list_memories(session),
            *_list_actions(last),
            *self._list_summaries(session),
        )

    def _list_files(self, session: StoredSession) -> Iterator[ContextLine]:
        files = self.store.consolidations.list_changed_files(session.key, MAX_FILES)
        if files:
            yield ContextLine("", f"- files changed: {', '.join(files)}")

    def _list_memories(self, session: StoredSession) -> Iterator[ContextLine]:
        for origin in ("tool", "extraction"):
            made = self.store.consolidations.list_memories_made(session.key, origin, MAX_MEMORIES)
            kept = [node for node in made if not (node.subtype or "").startswith("chunk_")]
            yield from (ContextLine(hit.id, render_hit(hit)) for hit in self.present(kept))

    def _list_summaries(self, session: StoredSession) -> Iterator[ContextLine]:
        """Yield the summaries of the session's largest chunks, each stretch once."""
        chunks = self.store.chunks.list_of_session(session.key)
        through = -1
        for level in (PyramidLevel.MACRO, PyramidLevel.MINI, PyramidLevel.MICRO):
            for chunk in chunks:
                node = None if chunk.node_key is None else self.store.nodes.get_by_key(chunk.node_key)
                if chunk.level is level and chunk.first_seq > through and node is not None and node.deleted_at is None:
                    through = chunk.last_seq
                    lines = "\n".join(f"  {cut_line(line, EXCERPT_CHARS)}" for line in node.content.splitlines())
                    place = f"turns {chunk.first_seq}-{chunk.last_seq}"
                    yield ContextLine(
                        node.id, f"- {place}, in short (id {chunk.id}; search_memory with it gives the turns):\n{lines}"
                    )


def title_session(session: StoredSession, *, is_last: bool) -> str:
    """Return the heading of a session: when it was, how long, and its id."""
    name = "The last session" if is_last else "Session"
    return f"{name}: {format_minute(session.started_at)}, {session.next_seq} turns (session {session.id})"


def select_sessions(
    sessions: Sequence[StoredSession], *, now: int, after: int | None, before: int | None
) -> list[StoredSession]:
    """Return the sessions in which something was said between two times, latest first, without the one that asks."""
    over = [
        session
        for session in sessions
        if session.next_seq and (session.ended_at is not None or now - session.last_seen_at > ACTIVE_FOR_MS)
    ]
    return [
        session
        for session in over
        if (after is None or session.last_seen_at >= after) and (before is None or session.started_at < before)
    ]


def _find_outcomes(turns: Sequence[Node]) -> list[Node]:
    """Return the last answers that tell what came of something; else the last that tells anything."""
    said = [turn for turn in turns if turn.metadata.get("role") == Speaker.ASSISTANT and turn.subtype == "episode"]
    told = {node.id: node for _, node, _ in find_done(turns, score_turns(turns))}
    last = find_telling(reversed(said))
    return [*told.values()][-MAX_OUTCOMES:] or ([] if last is None else [last])


def _quote_turn(label: str, turn: Node | None) -> Iterator[ContextLine]:
    if turn is not None:
        yield ContextLine(turn.id, f"- {label}: {cut_line(turn.content, EXCERPT_CHARS)} (id {turn.id})")


def _list_actions(turns: Sequence[Node]) -> Iterator[ContextLine]:
    """Yield what was done last."""
    done = [turn for turn in turns if turn.subtype == "action"][-MAX_ACTIONS:]
    yield from (ContextLine(turn.id, f"- done: {cut_line(turn.content, EXCERPT_CHARS)}") for turn in done)
