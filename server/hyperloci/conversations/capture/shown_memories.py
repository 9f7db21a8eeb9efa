"""Shown memories: which memories a session was shown, so that nothing is shown twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession

MAX_SHOWN: Final = 400
"""Ids of shown memories that are kept with a session: more than two days of work fill."""


def load_shown_ids(session: StoredSession | None) -> frozenset[str]:
    """Return the ids of the memories that a session was shown since it last lost its context."""
    shown = session.metadata.get("shown") if session else None
    return frozenset(map(str, shown)) if isinstance(shown, list) else frozenset()


def save_shown_ids(store: Store, session: StoredSession, ids: Iterable[str], *, anew: bool) -> None:
    """Note what a session was shown; `anew` forgets what it was shown before. Runs in a transaction."""
    before = [] if anew else [str(id) for id in session.metadata.get("shown") or ()]
    shown = list(dict.fromkeys((*before, *ids)))[-MAX_SHOWN:]
    if shown != before or anew:
        store.sessions.merge_metadata(session.id, shown=shown)
