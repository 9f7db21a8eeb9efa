"""Annotating what was written before there were entities and facets, in the background (B.10, D.07)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hyperloci.graph.entities import EntityLinker
from hyperloci.ingest.annotate import annotate_again
from hyperloci.lifecycle.costing import costing_only

if TYPE_CHECKING:
    from hyperloci.lifecycle.step import UpkeepContext

NEXT: Final = "annotate.next"
"""The first key that is not annotated yet; absent where all are."""

AT_ONCE: Final = 50
"""Memories of one transaction: about 20 ms."""


def annotate_step(context: UpkeepContext) -> int:
    """Annotate the memories that older versions wrote, from where the last run stopped; return how many."""
    store = context.store
    waiting = store.meta.get(NEXT)
    if waiting is None:
        return 0
    linker, done, first = EntityLinker(store, sparing=True), 0, int(waiting)
    while keys := store.nodes.keys_from(first, AT_ONCE):
        with store.transaction():
            nodes = store.nodes.by_keys(keys)
            places, facts = store.positions.of(keys), store.positions.code_facts(keys)
            for key, node in sorted(nodes.items()):
                with costing_only(store, node, "annotate", now=context.clock()) as attempt:
                    annotate_again(store, node, places.get(key), facts.get(key), now=context.clock(), linker=linker)
                if attempt.failed:
                    linker = EntityLinker(store, sparing=True)  # It may know of what was undone.
            first = keys[-1] + 1
            store.meta.set(NEXT, str(first))
        done += len(keys)
        context.breathe()
    with store.transaction():
        store.meta.drop(NEXT)
    return done
