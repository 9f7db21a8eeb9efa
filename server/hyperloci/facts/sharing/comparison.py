"""Comparison: what a teammate's new memory surely can't hold beside, stored as a contradiction for both to see."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from hyperloci.clock import Clock
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.node import Node
from hyperloci.store import Store

CANDIDATES: Final = 30
"""Memories with the words of a new one that it is compared with."""


def compare_shared(
    store: Store, new: Node, writer: MemoryWriter, clock: Clock, *, replaced: Collection[str] = ()
) -> int:
    """Store with which memories that hold a new one surely can't; return how many.

    Args:
        store: the open store, in a transaction.
        new: the memory.
        writer: stores the contradictions.
        clock: the time.
        replaced: ids of what it replaces.
    """
    from hyperloci.knowledge.contradictions.detector import ContradictionCandidate, ContradictionFinder
    from hyperloci.model.search import SearchFilter
    from hyperloci.store.keywords.analysis import analyse_query

    scopes = (new.scope, GLOBAL_SCOPE)
    wanted = SearchFilter(scopes=scopes, types=("fact", "decision", "experience"))
    allowed = store.filters.select_allowed(wanted)
    near = store.keyword_search.rank_by_bm25(analyse_query(new.content), allowed, CANDIDATES)
    nodes = store.nodes.get_by_keys(set(near) - {new.key})
    candidates = [ContradictionCandidate(node, None) for _, node in sorted(nodes.items())]
    found = 0
    for item in ContradictionFinder(store, None).find(new.content, candidates, scopes=scopes).contradictions:
        old = store.nodes.get_node(item.id)
        if item.sure and old is not None and old.id not in replaced and old.valid_until is None:
            writer.dispute(new, old, item.reason, confidence=min(1.0, item.score), now=clock())
            found += 1
    return found
