"""Recent: a project's sessions, its memories by time, and those stored or used last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hyperloci.clock import to_iso
from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import SUBTYPES, NodeType
from hyperloci.model.node import Node
from hyperloci.names import describe_unknown_value
from hyperloci.store import Store

NEWEST_OF_KIND: Final = 100
"""Of each kind, the newest are looked at for what was used last: twice what a caller may ask for."""


def list_latest(store: Store, scopes: tuple[str, ...], limit: int) -> list[Node]:
    """Return the facts, decisions and experiences stored or used last, latest first."""
    query = store.nodes.query_nodes
    found = [
        *query("fact", limit=NEWEST_OF_KIND, scopes=scopes),
        *query("decision", limit=NEWEST_OF_KIND, scopes=scopes, subtypes=("decision",)),
        *query("experience", limit=NEWEST_OF_KIND, scopes=scopes, subtypes=("dead_end", "outcome")),
    ]
    return sorted(found, key=lambda node: (-max(node.last_accessed, node.created_at), -node.key))[:limit]


STATEMENTS: Final = (
    *sorted(SUBTYPES[NodeType.FACT]),
    "decision",
    "dead_end",
    "outcome",
)
"""The kinds that are listed where none is asked for: what is stated, not what was said, done or read."""


def list_memories(
    store: Store,
    scopes: tuple[str, ...],
    *,
    kinds: Sequence[str],
    origins: Sequence[str],
    since: int | None,
    include_ended: bool,
    limit: int,
) -> list[Node]:
    """Return memories by the time they are of, latest first; see `Memory.list_memories`.

    Raises:
        BadRequestError: an unknown kind.
    """
    return store.node_lists.list_memories(
        check_kinds(kinds) or STATEMENTS, scopes, origins=origins, since=since, include_ended=include_ended, limit=limit
    )


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return kinds that are subtypes of memories.

    Raises:
        BadRequestError: one of them is not.
    """
    known = {name for names in SUBTYPES.values() for name in names}
    for kind in kinds:
        if kind not in known:
            raise BadRequestError(describe_unknown_value("kinds", kind, sorted(known)))
    return tuple(kinds)


def list_sessions(store: Store, project_id: str, limit: int) -> list[dict[str, Any]]:
    """Return a project's sessions, latest first, times as ISO 8601."""
    return [
        {
            "id": session.id,
            "client": session.client,
            "client_version": session.client_version,
            "status": session.status,
            "started_at": to_iso(session.started_at),
            "last_seen_at": to_iso(session.last_seen_at),
            "ended_at": None if session.ended_at is None else to_iso(session.ended_at),
            "turns": session.next_seq,
            "consolidated_at": None if session.consolidated_at is None else to_iso(session.consolidated_at),
        }
        for session in store.sessions.list_recent(project_id, limit)
    ]
