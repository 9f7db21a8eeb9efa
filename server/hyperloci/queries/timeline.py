"""Timeline: the memories before and after one, in the order they happened (E.10).

Within a session the sequence of turns decides, even against the clock; between sessions the time does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.search import Present
from hyperloci.model.topic import EventMoment, Timeline, TimelineEvent
from hyperloci.store import Store
from hyperloci.store.ids import resolve_id, session_ids

DIRECTIONS: Final = ("before", "after", "both")
MAX_EVENTS: Final = 50


def check_arguments(direction: str, limit: int, around: str | None, session_id: str | None) -> None:
    """Raise BadRequestError for a timeline that can't be drawn."""
    if direction not in DIRECTIONS:
        raise BadRequestError(f"direction={direction!r} is unknown: use one of {', '.join(DIRECTIONS)}.")
    if not 1 <= limit <= MAX_EVENTS:
        raise BadRequestError(f"limit={limit} is outside 1..{MAX_EVENTS}.")
    if around is not None and session_id is not None:
        raise BadRequestError("Give around (a memory's id, or words that find it) or session_id, not both.")


def timeline_around(
    store: Store, anchor: Node, direction: str, limit: int, *, scopes: Sequence[str], present: Present
) -> Timeline:
    """Return what happened around a memory, itself among it: `limit` events on each side that is asked for."""
    moment = store.timeline.get_moment(anchor.key)
    assert moment is not None
    before = _nearest_moments(store, moment, scopes, limit, before=True) if direction != "after" else []
    after = _nearest_moments(store, moment, scopes, limit, before=False) if direction != "before" else []
    ordered = [*reversed(before), moment, *after]
    relations = ["before"] * len(before) + ["anchor"] + ["after"] * len(after)
    return Timeline(
        anchor=anchor.id,
        session_id=anchor.session_id,
        direction=direction,
        events=_make_events(store, ordered, relations, present),
    )


def timeline_of_session(
    store: Store, session_id: str, direction: str, limit: int, *, scope: str, present: Present
) -> Timeline:
    """Return a session from its beginning (`after`, `both`) or the end of it (`before`).

    Raises:
        NotFoundError: no such session.
    """
    session_id = resolve_id(session_ids(store.sessions, scope=scope), session_id).id
    moments = store.timeline.list_of_session(session_id, limit, last=direction == "before")
    relations = ["within"] * len(moments)
    return Timeline(
        anchor=None, session_id=session_id, direction=direction, events=_make_events(store, moments, relations, present)
    )


def timeline_of_latest_session(store: Store, direction: str, limit: int, *, scope: str, present: Present) -> Timeline:
    """Return a project's latest session in which something was said or stored, or else its latest; or nothing."""
    empty: Timeline | None = None
    for session in store.sessions.list_recent(scope):
        told = timeline_of_session(store, session.id, direction, limit, scope=scope, present=present)
        if told.events:
            return told
        empty = empty or told
    return empty or Timeline(anchor=None, session_id=None, direction=direction, events=())


def _nearest_moments(
    store: Store, moment: EventMoment, scopes: Sequence[str], limit: int, *, before: bool
) -> list[EventMoment]:
    """Return the nearest moments on one side, nearest first, the session's own in their sequence."""
    own = store.timeline.list_near_in_session(moment, limit, before=before)
    others = store.timeline.list_near_by_time(moment, scopes, limit, before=before)
    sign = -1 if before else 1
    merged = [((sign * item.event_time, sign * item.key), item) for item in others]
    # A clock that was set back must not put a turn on the wrong side of the one it followed.
    place = (sign * moment.event_time, sign * moment.key)
    for item in own:
        place = max(place, (sign * item.event_time, sign * item.key))
        merged.append((place, item))
    return [item for _, item in sorted(merged, key=lambda entry: entry[0])[:limit]]


def _make_events(
    store: Store, moments: Sequence[EventMoment], relations: Sequence[str], present: Present
) -> tuple[TimelineEvent, ...]:
    nodes = store.nodes.get_by_keys([NodeKey(moment.key) for moment in moments])
    there = [(moment, relation) for moment, relation in zip(moments, relations, strict=True) if moment.key in nodes]
    hits = present([nodes[moment.key] for moment, _ in there])
    return tuple(
        TimelineEvent(at=to_iso(moment.event_time), relation=relation, memory=hit)
        for (moment, relation), hit in zip(there, hits, strict=True)
    )
