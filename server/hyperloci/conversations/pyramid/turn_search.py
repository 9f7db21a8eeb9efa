"""Turn search: searches the turns of one conversation (C.06, C.09)."""

from __future__ import annotations

from typing import Final

from hyperloci.conversations.pyramid.context_window import RelevantTurns, build_context_window
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.model.pyramid import ContextWindow
from hyperloci.model.search import SearchFilter
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.search import MAX_LIMIT, MAX_QUERY_CHARS, Searcher
from hyperloci.store import Store
from hyperloci.store.ids import resolve_id, session_ids

SPOKEN: Final = ("episode", "action")


def build_session_window(
    store: Store,
    searcher: Searcher,
    project: str,
    *,
    session_id: str | None,
    max_tokens: int | None,
    query: str | None,
) -> ContextWindow:
    """Return a session's context window; see `Memory.get_context_window`."""
    if max_tokens is not None and max_tokens < 1:
        raise BadRequestError(f"max_tokens={max_tokens} must be 1 or above.")

    def find(question: str, session: str) -> RelevantTurns:
        where = SearchFilter(session_id=session, subtypes=SPOKEN)
        found = searcher.find(question[:MAX_QUERY_CHARS], Conditions(where=where), limit=MAX_LIMIT)
        return RelevantTurns([node.key for node in found.nodes], found.mode, found.degraded)

    asked = query if query and query.strip() else None
    return build_context_window(store, _find_session(store, project, session_id), max_tokens, asked, find)


def _find_session(store: Store, project: str, session_id: str | None) -> int:
    if session_id is not None:
        session = resolve_id(session_ids(store.sessions, scope=project), session_id)
        if session.scope != project:
            raise NotFoundError(
                f"session_id={session_id!r:.60}: no session of this project; `hyperloci sessions` lists them."
            )
        return session.key
    spoken = [session for session in store.sessions.list_recent(project) if session.next_seq]
    if not spoken:
        raise NotFoundError("This project has no conversation yet.")
    return spoken[0].key
