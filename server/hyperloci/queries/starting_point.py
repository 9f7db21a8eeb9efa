"""Starting point: the memory that a topic means: by its id, by a name, else the one that its words describe best."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.names.named_thing import Resolution, ThingKind
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.intent import classify_intent
from hyperloci.retrieval.search import Searcher, SearchResult
from hyperloci.store import Store
from hyperloci.store.ids import find_node
from hyperloci.system.values import dataclass

BY_ID: Final = "id"
"""The strategy of a search for the memory of an id."""

OUTSIDE: Final = "The memory of this id does not meet the conditions."

FORGOTTEN: Final = "The memory of this id was forgotten; restore brings it back, within 30 days of forgetting it."

UNKNOWN: Final = "No memory here has this id; it was searched for as words."

_WHOLE_ID_CHARS: Final = 36

_ID: Final = re.compile(r"(?:memory://node/)?([0-9a-f]{8}[0-9a-f-]{0,28})", re.IGNORECASE)
"""An id, or as much of it as lists show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingPoint:
    """Where a walk begins.

    Attributes:
        node: the memory.
        rest: the other memories of what was named: the rest of a file, an entity as the other scope knows it; pieces of
            a symbol go with it by themselves.
        described: in words what the topic was taken for, and what else it could have been.
    """

    node: Node
    rest: tuple[NodeKey, ...] = ()
    described: str


def start_at_name(store: Store, resolution: Resolution, scopes: Sequence[str]) -> StartingPoint:
    """Return the starting point at what a name was taken for in some scopes."""
    taken = resolution.taken
    first, *others = taken.keys
    rest = others if taken.kind is ThingKind.FILE else []
    if taken.kind is ThingKind.ENTITY and (entity := store.entities.get_entity(first)) is not None:
        from hyperloci.knowledge.entities.entity_service import list_bearers  # few walks begin at an entity

        keys = [key for scope in scopes if (key := store.scopes.find_key(scope)) is not None]
        rest = [bearer.node_key for bearer in list_bearers(store, entity, keys)[1:]]
    node = store.nodes.get_by_keys([first])[first]
    return StartingPoint(node=node, rest=tuple(rest), described=resolution.describe())


def find_by_id(store: Store, searcher: Searcher, query: str, conditions: Conditions) -> SearchResult | None:
    """Return the memory of an id, of a summary what it covers, in order: what of it meets the conditions.

    What ended or is withheld is shown to who names it, unless a time is asked for. None where none in reach is named;
    of one that was forgotten only that is told, since the words of an id find anything.
    """
    said, where = _ID.fullmatch(query.strip()), conditions.where
    node = None if said is None else find_node(store.nodes, said[1].lower(), "query", scopes=where.scopes)
    if node is None or (where.scopes and node.scope not in where.scopes):
        return None
    if node.deleted_at is not None:
        return _answer_id((), FORGOTTEN)
    # Costs 8 ms once: nearly no search is for an id.
    from hyperloci.conversations.pyramid.chunk_expansion import list_contents

    found = list_contents(store, node) or [node]
    if conditions.are_narrow:
        if not where.types and not where.subtypes:
            # Else an entity would meet none: no search for words finds it.
            where = replace(where, types=tuple(NodeType))
        asked = [where] if where.as_of is not None else [where, replace(where, left_out=True)]
        met = [searcher.select_allowed(replace(conditions, where=one)) for one in asked]
        found = [node for node in found if any(bitmap[int(node.key)] for bitmap in met)]
    return _answer_id(found, None if found else OUTSIDE)


def remark_on_id(query: str) -> tuple[str, ...]:
    """Say of a whole id which none in reach has that it was searched for as words: they find anything."""
    said = _ID.fullmatch(query.strip())
    return (UNKNOWN,) if said is not None and len(said[1]) == _WHOLE_ID_CHARS else ()


def _answer_id(nodes: Sequence[Node], remark: str | None) -> SearchResult:
    """Return the memories of an id; where there are none to be shown, with the reason."""
    return SearchResult(
        intent=classify_intent(""),
        strategy=BY_ID,
        mode="list",
        degraded=None,
        nodes=tuple(nodes),
        scores={},
        named=remark,
    )
