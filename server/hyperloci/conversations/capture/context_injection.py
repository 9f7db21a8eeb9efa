"""Context injection: what is put before the assistant unasked as a session starts.

What holds now, what needs settling, and where the last session stood. It is rendered ahead, when what it is made of
changed, so that the hook reads one row (`store.openings`); a session that starts otherwise than afresh gets one of its
own. Showing a memory is not recalling it: nothing here reinforces. What a session was shown is noted with it
(`shown_memories`), so that nothing is shown twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci import __version__
from hyperloci.config import Settings
from hyperloci.conversations.capture.injection_format import InjectedContext, name_clients, render_context
from hyperloci.conversations.capture.shown_memories import load_shown_ids
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.record import FRESH_START_SOURCES
from hyperloci.store import Store
from hyperloci.store.conversations.openings import StoredOpening
from hyperloci.store.conversations.sessions import StoredSession

COMPACT_SHARE: Final = 0.5
"""After a compaction the summary still holds a part of it: half the room is for what a summary drops."""

NO_SESSION_CONTEXT: Final = frozenset({"fork"})
"""A fork starts with a copy of its parent's context, ours included."""


def open_session(
    store: Store, session: StoredSession, *, project: str, settings: Settings, now: int, source: str
) -> InjectedContext:
    """Return what a session should know as it starts. Runs in a transaction, which may keep what was rendered.

    Args:
        store: where the memories are.
        session: the session; what it was shown before is left out on `resume`.
        project: the id of the scope.
        settings: holds the budget, `inject_chars`.
        now: the time, in milliseconds.
        source: Claude Code's word for how it starts: startup, resume, clear, compact, fork.
    """
    found = _find_opening(store, session, project=project, settings=settings, now=now, source=source)
    return InjectedContext(name_clients(found.text, session.client), found.ids)


def _find_opening(
    store: Store, session: StoredSession, *, project: str, settings: Settings, now: int, source: str
) -> InjectedContext:
    """Return the opening, rendered ahead or now, with marks where it names a client."""
    if source in NO_SESSION_CONTEXT:
        return InjectedContext("")
    if source not in FRESH_START_SOURCES:
        return _make_opening(store, project, settings, now, besides=session, source=source)[0]
    ready = store.openings.get_opening(project)
    if ready is None or not _still_holds(ready, settings, now):
        ready = _render_ahead(store, project, settings, now)
    if ready.session_key == session.key:
        return _make_opening(store, project, settings, now, besides=session)[0]
    return InjectedContext(ready.text, ready.shown)


def prepare_opening(store: Store, project: str, settings: Settings, now: int) -> bool:
    """Render what the next session of a project begins with, unless that is there; return whether it was done."""
    ready = store.openings.get_opening(project)
    if ready is not None and _still_holds(ready, settings, now):
        return False
    with store.transaction():
        _render_ahead(store, project, settings, now)
    return True


def read_ready_opening(
    store: Store, project: str, settings: Settings, *, now: int, source: str, client: str | None, besides: int | None
) -> str:
    """Return an opening as it was rendered ahead, '' where none holds; reads one row and writes nothing.

    Args:
        store: where the memories are.
        project: the id of the scope.
        settings: holds the budget.
        now: the time, in milliseconds.
        source: how the session starts; what was rendered ahead is for one that starts afresh.
        client: the client of the session.
        besides: the session's key if it is known: an opening that calls it the last one is not for it.
    """
    if source not in FRESH_START_SOURCES:
        return ""
    ready = store.openings.get_opening(project)
    if ready is None or not _still_holds(ready, settings, now) or (besides and ready.session_key == besides):
        return ""
    return name_clients(ready.text, client)


def _render_ahead(store: Store, project: str, settings: Settings, now: int) -> StoredOpening:
    """Render an opening and keep it, in one transaction: nothing may change between what is read and what is kept."""
    injection, session_key, holds_until = _make_opening(store, project, settings, now)
    opening = StoredOpening(
        basis=_describe_basis(settings),
        text=injection.text,
        shown=injection.ids,
        session_key=session_key,
        made_at=now,
        holds_until=holds_until,
    )
    store.openings.put_opening(project, opening)
    return opening


def _still_holds(ready: StoredOpening, settings: Settings, now: int) -> bool:
    """Tell whether an opening is as this program would render it now; memories that changed have removed it."""
    in_time = ready.made_at <= now and (ready.holds_until is None or now < ready.holds_until)
    return in_time and ready.basis == _describe_basis(settings)


def _describe_basis(settings: Settings) -> str:
    return f"{__version__} {settings.inject_chars}"


def _make_opening(
    store: Store,
    project: str,
    settings: Settings,
    now: int,
    *,
    besides: StoredSession | None = None,
    source: str = "startup",
) -> tuple[InjectedContext, int | None, int | None]:
    """Return an opening, the session that it calls the last one, and when time alone makes it wrong.

    Args:
        store: where the memories are.
        project: the id of the scope.
        settings: holds the budget.
        now: the time, in milliseconds.
        besides: the session that starts; None to render ahead.
        source: how it starts.
    """
    # Only an opening needs them: what was rendered ahead is read without.
    from hyperloci.conversations.capture.last_session import describe_last_session
    from hyperloci.conversations.capture.opening_memories import collect_memories

    scopes: Sequence[str] = (project, GLOBAL_SCOPE)
    seen = load_shown_ids(besides) if source == "resume" else frozenset()
    compact = source == "compact"
    standing = collect_memories(store, scopes, now)
    last = None if compact else describe_last_session(store, scopes, now, besides=besides)
    sections = list(standing.sections) if last is None else [*standing.sections, (last.section, list(last.items))]
    unseen = [(part, [item for item in items if item.id not in seen]) for part, items in sections]
    budget = int(settings.inject_chars * (COMPACT_SHARE if compact else 1.0))
    injection = render_context("session-start", unseen, budget)
    ends = (standing.holds_until, None if last is None else last.holds_until)
    holds_until = min((end for end in ends if end is not None), default=None)
    return injection, None if last is None else last.session_key, holds_until
