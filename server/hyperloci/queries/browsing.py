"""Browsing: pages of what happened, of sessions and of what was forgotten, and what a search leaves out.

A page is read by key from an index, so that the thousandth costs what the first does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.conversations.session_request import find_request
from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import NodeKey
from hyperloci.model.search import Hit, Present, SearchFilter
from hyperloci.model.topic import EventPlace
from hyperloci.queries.session_report import cut_excerpt
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession
from hyperloci.store.keywords.analysis import analyse_search
from hyperloci.system.values import dataclass

EVENT_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "learnt": (
        "decision",
        "dead_end",
        "outcome",
        "semantic",
        "user_info",
        "preference",
        "constraint",
        "deadline",
        "insight",
        "opinion",
        "procedure",
    ),
    "decisions": ("decision",),
    "dead ends": ("dead_end",),
    "preferences": ("preference", "user_info", "constraint"),
    "turns": ("episode",),
    "actions": ("action",),
    "commits": ("commit",),
}
"""What a reader of the timeline may ask for, each as subtypes of facts, decisions and experiences."""

ALL_EVENTS: Final = "all"

MAX_PAGE: Final = 200

LEFT_OUT_LOOK: Final = 2_000
"""Statements and turns that a search leaves out and that are looked through for its words, the newest: 12 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowsedEvent:
    """A memory on a page, and when it happened or was forgotten (ISO 8601)."""

    at: str
    memory: Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """A page of memories, latest first; `older` is where the next one begins, None on the last."""

    events: tuple[BrowsedEvent, ...]
    older: EventPlace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session in a list: `asked` is the beginning of its request, None before one. Times are ISO 8601."""

    id: str
    status: str
    started_at: str
    last_seen_at: str
    turns: int
    asked: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """A page of sessions, latest first; `older` is where the next one begins, None on the last."""

    sessions: tuple[ListedSession, ...]
    older: EventPlace | None


def list_events(
    store: Store, scopes: Sequence[str], kind: str, limit: int, *, before: EventPlace | None, present: Present
) -> EventPage:
    """Return a page of what happened.

    Args:
        store: where.
        scopes: whose.
        kind: one of `EVENT_KINDS`, or `all`.
        limit: memories a page, at most 200.
        before: the `older` of the page before; None for the first.
        present: makes hits of nodes.

    Raises:
        BadRequestError: an unknown kind or limit.
    """
    check_page(limit)
    if kind != ALL_EVENTS and kind not in EVENT_KINDS:
        raise BadRequestError(f"kind={kind!r:.80} is unknown: use one of {', '.join((ALL_EVENTS, *EVENT_KINDS))}.")
    wanted = {name for kinds in EVENT_KINDS.values() for name in kinds} if kind == ALL_EVENTS else EVENT_KINDS[kind]
    places = store.timeline.list_page(scopes, sorted(wanted), limit + 1, before=before)
    shown = places[:limit]
    nodes = store.nodes.get_by_keys(place.key for place in shown)
    hits = present([nodes[place.key] for place in shown])
    return EventPage(
        events=tuple(
            BrowsedEvent(at=to_iso(place.event_time), memory=hit) for place, hit in zip(shown, hits, strict=True)
        ),
        older=shown[-1] if len(places) > limit else None,
    )


def list_forgotten(
    store: Store, scopes: Sequence[str], limit: int, *, before: EventPlace | None, present: Present
) -> EventPage:
    """Return a page of what was forgotten, latest first; until it is deleted, it can be restored."""
    check_page(limit)
    found = store.node_lists.list_forgotten(scopes, limit + 1, before=before)
    nodes = found[:limit]
    hits = present(nodes)
    last = nodes[-1] if len(found) > limit else None
    return EventPage(
        events=tuple(
            BrowsedEvent(at=to_iso(node.deleted_at or 0), memory=hit) for node, hit in zip(nodes, hits, strict=True)
        ),
        older=None if last is None else EventPlace(last.deleted_at or 0, last.key),
    )


def list_session_page(store: Store, scope: str, limit: int, *, before: EventPlace | None) -> SessionPage:
    """Return a page of a project's sessions, the last used first."""
    check_page(limit)
    found = store.sessions.list_recent(scope, limit + 1, before=before)
    last = found[limit - 1] if len(found) > limit else None
    return SessionPage(
        sessions=tuple(_list_session(store, session) for session in found[:limit]),
        older=None if last is None else EventPlace(last.last_seen_at, NodeKey(last.key)),
    )


def list_left_out(store: Store, query: str, scopes: Sequence[str], limit: int, present: Present) -> tuple[Hit, ...]:
    """Return what was said with a question's words and no search finds: forgotten, no longer valid, withheld."""
    terms = analyse_search(query)
    if not terms:
        return ()
    with store.snapshot():
        left_out = SearchFilter(scopes=tuple(scopes), types=("fact", "decision", "experience"), left_out=True)
        allowed = store.filters.select_allowed(left_out)
        best = list(store.keyword_search.score_among(terms, allowed, LEFT_OUT_LOOK))[:limit]
        nodes = store.nodes.get_by_keys(NodeKey(key) for key in best)
    return tuple(present([nodes[NodeKey(key)] for key in best if NodeKey(key) in nodes]))


def check_page(limit: int) -> None:
    """Raise BadRequestError for a page of no size, or of one that no reader needs."""
    if not 1 <= limit <= MAX_PAGE:
        raise BadRequestError(f"limit={limit} is outside 1..{MAX_PAGE}.")


def _list_session(store: Store, session: StoredSession) -> ListedSession:
    return ListedSession(
        id=session.id,
        status=session.status,
        started_at=to_iso(session.started_at),
        last_seen_at=to_iso(session.last_seen_at),
        turns=session.next_seq,
        asked=cut_excerpt(find_request(store, session.key)),
    )
