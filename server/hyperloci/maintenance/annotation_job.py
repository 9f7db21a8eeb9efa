"""Annotation job: adds entities and facets to memories of older versions (B.10, D.07)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hyperloci.facts.memory_writer import annotate
from hyperloci.knowledge.entities.registry import EntityLinker, find_mentions
from hyperloci.knowledge.facets import classify_chunk_facets
from hyperloci.model.chunk import ChunkKind, CodeFacts, TextChunk
from hyperloci.model.facets import Facets
from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.store import Store

if TYPE_CHECKING:
    from hyperloci.jobs import MaintenanceContext

NEXT_KEY: Final = "annotate.next"
"""The first key that is not annotated yet; absent where all are."""

ANNOTATION_BATCH: Final = 50
"""Memories of one transaction: about 20 ms."""


def annotate_old_memories(context: MaintenanceContext) -> int:
    """Annotate the memories that older versions wrote, from where the last run stopped; return how many."""
    store = context.store
    waiting = store.meta.get(NEXT_KEY)
    if waiting is None:
        return 0
    linker, done, first = EntityLinker(store, sparing=True), 0, int(waiting)
    while keys := store.nodes.list_keys_from(first, ANNOTATION_BATCH):
        with store.transaction():
            nodes = store.nodes.get_by_keys(keys)
            places, facts = store.positions.get_positions(keys), store.positions.get_code_facts(keys)
            for key, node in sorted(nodes.items()):
                with context.isolate_failure(node, "annotate") as attempt:
                    annotate_again(store, node, places.get(key), facts.get(key), now=context.clock(), linker=linker)
                if attempt.failed:
                    linker = EntityLinker(store, sparing=True)  # It may know of what was undone.
            first = keys[-1] + 1
            store.meta.set(NEXT_KEY, str(first))
        done += len(keys)
        context.yield_to_others()
    with store.transaction():
        store.meta.drop(NEXT_KEY)
    return done


def annotate_again(
    store: Store,
    node: Node,
    position: Position | None,
    facts: CodeFacts | None,
    *,
    now: int,
    linker: EntityLinker,
) -> None:
    """Annotate a memory that has no annotations yet, of any kind. Runs in a transaction."""
    if node.type is NodeType.ENTITY:
        store.entities.add_alias(node.key, node.content)
    elif node.type is NodeType.SNIPPET and node.origin in (Origin.CODE, Origin.MARKDOWN):
        linker.link_mentions(node.key, node.scope, find_mentions(node.content, facts, position), now=now)
        store.facets.add_facets(node.key, _snippet_facets(node, position, facts))
    else:
        author = node.metadata.get("author") if node.subtype == "commit" else None
        annotate(store, node, now=now, linker=linker, author=author if isinstance(author, str) else None)


def _snippet_facets(node: Node, position: Position | None, facts: CodeFacts | None) -> Facets:
    chunk = TextChunk(
        text=node.content,
        kind=ChunkKind(node.subtype) if node.subtype in set(ChunkKind) else ChunkKind.TEXT,
        position=position or Position(),
        section_type=node.metadata.get("section_type"),
        code=facts,
    )
    return classify_chunk_facets(chunk)
