"""Injection report: what was put before the assistant unasked, when and at which event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.conversations.capture import shown_memories
from hyperloci.conversations.capture.shown_memories import Injection
from hyperloci.model.search import Hit, Present
from hyperloci.store import Store
from hyperloci.system.values import dataclass

RECENT_SESSIONS: Final = 20
"""Sessions that are looked through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionReport:
    """One time that memories were put before the assistant.

    Attributes:
        session_id: whose.
        event: `session start` or `prompt`.
        at: when, as ISO 8601.
        memories: what was shown, as it stands now; what was purged since is missing.
    """

    session_id: str
    event: str
    at: str
    memories: tuple[Hit, ...]


def list_injections(store: Store, scope: str, limit: int, present: Present) -> list[InjectionReport]:
    """Return the last injections into a project's sessions, latest first."""
    found = sorted(_iterate_injections(store, scope), key=lambda pair: -pair[1].at)[:limit]
    return [
        InjectionReport(
            session_id=session_id,
            event=injection.event,
            at=to_iso(injection.at),
            memories=tuple(present([node for id in injection.ids if (node := store.nodes.get_node(id))])),
        )
        for session_id, injection in found
    ]


def _iterate_injections(store: Store, scope: str) -> Iterator[tuple[str, Injection]]:
    for session in store.sessions.list_recent(scope, RECENT_SESSIONS):
        yield from ((session.id, injection) for injection in shown_memories.list_injections(session))
