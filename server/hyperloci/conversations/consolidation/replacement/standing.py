"""Standing statements: what holds in a project, beside which a new statement is put (B.17).

Memories that hold, and what was said in passing, of which no memory was made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hyperloci.conversations.consolidation.replacement.features import ComparedStatement, read_statement
from hyperloci.conversations.consolidation.replacement.releases import read_condition
from hyperloci.conversations.consolidation.rewording import read_said
from hyperloci.conversations.consolidation.text_similarity import Said, repeats
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.system.values import dataclass

MAX_LIVING: Final = 400
"""Living statements that a new one is compared with, the newest of each type: more than a year of sessions leaves."""

MAX_PASSING: Final = 100
"""The same of what was said in passing, of all types: some 200 turns of the user's leave so many."""

_SAID_IN_TURNS: Final = (Origin.EXTRACTION, Origin.USER_PROMPT)

_COMPARED_TYPES: Final = ((NodeType.FACT, ()), (NodeType.DECISION, ("decision",)), (NodeType.EXPERIENCE, ("dead_end",)))


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory that holds, or a turn that said something in passing; and what it says."""

    node: Node
    said: ComparedStatement

    @property
    def is_passing(self) -> bool:
        """Whether it is a turn: nothing was made of what it says."""
        return self.node.subtype == "episode"


def list_holding(store: Store, scope: str) -> list[Node]:
    """Return the memories of a project that hold and are compared."""
    return [
        node
        for kind, subtypes in _COMPARED_TYPES
        for node in store.nodes.query_nodes(kind, subtypes=subtypes, scopes=(scope, GLOBAL_SCOPE), limit=MAX_LIVING)
    ]


def list_standing(store: Store, scope: str, *, with_passing: bool = True) -> list[Standing]:
    """Return the statements that hold and what was said in passing, in the order in which they were made."""
    found = [
        Standing(node, read_compared(node))
        for node in list_holding(store, scope)
        # Who proposes once more what was told to have failed has forgotten it: it is said again, not doubted.
        if node.origin is Origin.EXTRACTION or node.subtype != "dead_end"
    ]
    found += [
        Standing(one.turn, read_statement(one.quote, one.about))
        for one in store.passing_statements.list_latest(scope, MAX_PASSING if with_passing else 0)
    ]
    return sorted(found, key=lambda one: (one.node.event_time, one.node.key))


def select_earlier(standing: Iterable[Standing], new: Node) -> list[Standing]:
    """Return what was said before a statement, in another breath than it, and is not the same in a teammate's words."""
    return [one for one in standing if was_said_before(one.node, new) and not _is_shared_view(one.node, new)]


def _is_shared_view(node: Node, new: Node) -> bool:
    """Tell whether a teammate says the same: both hold, each for as long as its author says so."""
    return Origin.TEAMMATE in (node.origin, new.origin) and repeats(read_said(new), read_said(node))


def is_shared_view(one: Standing, said: Said) -> bool:
    """Tell whether a teammate's memory says what somebody says here: that changes nothing of what holds."""
    return one.node.origin is Origin.TEAMMATE and repeats(said, read_said(one.node))


def was_said_before(node: Node, new: Node) -> bool:
    """Return whether a memory was said before a statement, and in another breath than it."""
    return node.event_time <= new.event_time and not _are_of_one_turn(node, new)


def read_compared(node: Node) -> ComparedStatement:
    """Return what a memory says, as it is compared with others."""
    return read_statement(read_quote(node), str(node.metadata.get("about") or ""))


def read_quote(node: Node) -> str:
    """Return the words that a memory was made of."""
    return str(node.metadata.get("quote") or node.content)


def holds_for_a_time(node: Node) -> bool:
    """Tell whether a memory says until when it holds; a deadline's days are when it is due.

    Something may come until then; a number tells how far something goes: `the graph shows a tail until 38 s`.
    """
    awaited = (read_condition(read_quote(node)) or "0").lstrip()
    return ("until" in node.metadata or not awaited[:1].isdigit()) and "due" not in node.metadata


def read_place(node: Node) -> tuple[str | None, object]:
    """Return the session and the turn that a memory is from, or that a turn is."""
    return node.session_id, node.metadata.get("turn") if node.seq is None else node.seq


def _are_of_one_turn(node: Node, other: Node) -> bool:
    """Tell whether two statements were said in one breath: who says two things in one means both."""
    return node.key == other.key or (
        node.session_id is not None and read_place(node) == read_place(other) and node.origin in _SAID_IN_TURNS
    )
