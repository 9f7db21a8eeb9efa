"""Session replay: what was said and done turn by turn, what the assistant was shown, and what was made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.conversations.capture import shown_memories
from hyperloci.conversations.capture.shown_memories import Injection
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.search import Hit, Present
from hyperloci.queries.injection_report import InjectionReport
from hyperloci.queries.session_report import SessionReport, make_session_report
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession
from hyperloci.system.values import dataclass

PAGE_TURNS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedTurn:
    """A turn as it was.

    Attributes:
        at: when, as ISO 8601.
        memory: the turn itself.
        injected: what was put before the assistant after it and before the next.
        made: what was extracted from it.
    """

    at: str
    memory: Hit
    injected: tuple[InjectionReport, ...]
    made: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReplay:
    """A page of a session.

    Attributes:
        report: the session in short.
        begun_with: what was put before the assistant before its first turn; on the first page only.
        turns: in order; forgotten ones too.
        earlier, later: where the pages before and after begin; None where there is none.
    """

    report: SessionReport
    begun_with: tuple[InjectionReport, ...]
    turns: tuple[ReplayedTurn, ...]
    earlier: int | None
    later: int | None


def replay_session(store: Store, session: StoredSession, first: int, present: Present) -> SessionReplay:
    """Return the turns of a session from a sequence number on, `PAGE_TURNS` of them."""
    first = max(0, min(first, session.next_seq - 1))
    end = first + PAGE_TURNS
    nodes = store.chunks.list_turns(session.key, first, end)
    following = nodes[-1].event_time if nodes and nodes[-1].seq == end else None
    nodes = [node for node in nodes if node.seq != end]
    shown = shown_memories.list_injections(session)
    starts = [node.event_time for node in nodes]
    ends = [*starts[1:], following] if nodes else []
    made = _list_made(store, nodes)
    return SessionReplay(
        report=make_session_report(store, session, present),
        begun_with=_report_between(store, session, shown, None, starts[0] if starts else None, present)
        if first == 0
        else (),
        turns=tuple(
            ReplayedTurn(
                at=to_iso(node.event_time),
                memory=hit,
                injected=_report_between(store, session, shown, node.event_time, later, present),
                made=tuple(present(made.get(node.key, ()))),
            )
            for node, hit, later in zip(nodes, present(nodes), ends, strict=True)
        ),
        earlier=max(0, first - PAGE_TURNS) if first else None,
        later=end if end < session.next_seq else None,
    )


def _report_between(
    store: Store,
    session: StoredSession,
    shown: Sequence[Injection],
    since: int | None,
    until: int | None,
    present: Present,
) -> tuple[InjectionReport, ...]:
    return tuple(
        InjectionReport(
            session_id=session.id,
            event=one.event,
            at=to_iso(one.at),
            memories=tuple(present([node for id in one.ids if (node := store.nodes.get_node(id))])),
        )
        for one in shown
        if (since is None or since <= one.at) and (until is None or one.at < until)
    )


def _list_made(store: Store, turns: Sequence[Node]) -> dict[NodeKey, list[Node]]:
    """Return what was extracted from each turn."""
    steps = store.traversal.find_steps([turn.key for turn in turns], label="derived_from", direction="in")
    nodes = store.nodes.get_by_keys({step.target for step in steps})
    made: dict[NodeKey, list[Node]] = {}
    for step in steps:
        if step.target in nodes:
            made.setdefault(step.source, []).append(nodes[step.target])
    return made
