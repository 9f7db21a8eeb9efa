"""Context injection: what is put before the assistant unasked as a session starts.

Showing a memory is not recalling it: nothing here reinforces. What a session was shown is noted with it
(`shown_memories`), so that nothing is shown twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.config import Settings
from hyperloci.conversations.capture.injection_format import (
    InjectedContext,
    InjectedItem,
    InjectedSection,
    make_item,
    render_context,
)
from hyperloci.conversations.capture.shown_memories import load_shown_ids
from hyperloci.model.decay import decay_factor
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession

COMPACT_SHARE: Final = 0.5
"""After a compaction the summary still holds a part of it: half the room is for what a summary drops."""

MAX_OUTCOME_CHARS: Final = 600
"""Of the last session's request and of its last answer, each."""

MAX_CANDIDATES: Final = 60
"""Memories of a kind that are considered: the newest; ten times what there is room for."""

NO_SESSION_CONTEXT: Final = frozenset({"fork"})
"""A fork starts with a copy of its parent's context, ours included."""

_SECTIONS: Final = (
    InjectedSection("About the user", "fact", ("user_info",), 0.15),
    InjectedSection("Decisions", "decision", ("decision",), 0.25),
    InjectedSection("Constraints and preferences", "fact", ("constraint", "preference"), 0.25),
    InjectedSection("Dead ends: tried, and failed", "experience", ("dead_end",), 0.2),
)
"""In the order of their weight; what is left of 1.0 is the last session's."""

_LAST_SESSION: Final = "The last session"


def build_session_context(
    store: Store, session: StoredSession, *, scopes: Sequence[str], settings: Settings, now: int, source: str
) -> InjectedContext:
    """Return what a session should know as it starts.

    Args:
        store: where the memories are.
        session: the session; what it was shown before is left out on `resume`.
        scopes: the project, and `global`.
        settings: holds the budget, `inject_chars`.
        now: the time, in milliseconds.
        source: Claude Code's word for how it starts: startup, resume, clear, compact, fork.
    """
    if source in NO_SESSION_CONTEXT:
        return InjectedContext("")
    seen = load_shown_ids(session) if source == "resume" else frozenset()
    budget = int(settings.inject_chars * (COMPACT_SHARE if source == "compact" else 1.0))
    sections = [
        (part, [make_item(node) for node in _rank_section(store, part, scopes, now) if node.id not in seen])
        for part in _SECTIONS
    ]
    outcome = [item for item in _describe_last_session(store, session, scopes) if item.id not in seen]
    last = InjectedSection(_LAST_SESSION, "experience", (), 1.0 - sum(part.share for part in _SECTIONS))
    if source != "compact":
        sections.append((last, outcome))
    return render_context("session-start", sections, budget)


def _rank_section(store: Store, part: InjectedSection, scopes: Sequence[str], now: int) -> list[Node]:
    """Return a section's memories that may be shown, the project's and the surest first, then the newest."""
    nodes = store.nodes.query_nodes(part.type, subtypes=part.subtypes, scopes=scopes, limit=MAX_CANDIDATES)
    usable = [node for node in nodes if not node.metadata.get("flags") and node.tier != "archive"]
    return sorted(
        usable,
        key=lambda node: (
            -round(node.confidence * decay_factor(node.decay_rate, now - node.last_accessed), 1),
            node.scope == GLOBAL_SCOPE,
            -node.created_at,
            node.id,
        ),
    )


def _describe_last_session(store: Store, session: StoredSession, scopes: Sequence[str]) -> list[InjectedItem]:
    """Return what the last session of this project was for and how it ended."""
    project = next((scope for scope in scopes if scope != GLOBAL_SCOPE), GLOBAL_SCOPE)
    earlier = (other for other in store.sessions.list_recent(project, limit=5) if other.id != session.id)
    for other in earlier:
        outcomes = [
            make_item(node)
            for node in store.nodes.query_nodes(
                "experience", subtypes=("outcome",), scopes=scopes, limit=MAX_CANDIDATES
            )
            if node.session_id == other.id and not node.metadata.get("flags")
        ]
        if outcomes:
            return outcomes
        said = (store.turns.get_first(other.key, Speaker.USER), store.turns.get_last(other.key, Speaker.ASSISTANT))
        items = [make_item(node, limit=MAX_OUTCOME_CHARS) for node in said if node and not node.metadata.get("flags")]
        if items:
            return items
    return []
