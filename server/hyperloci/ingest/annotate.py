"""What is noted of every memory as it is written: the things it names, and its facets (B.10, D.07)."""

from __future__ import annotations

from hyperloci.graph.entities import EntityLinker, names_of
from hyperloci.ingest.facets import facets_of, facets_of_chunk
from hyperloci.model.chunk import Chunk, ChunkKind, CodeFacts
from hyperloci.model.facets import Facets
from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.store import Store


def annotate(
    store: Store,
    node: Node,
    *,
    now: int,
    linker: EntityLinker,
    text: str | None = None,
    author: str | None = None,
) -> None:
    """Join a memory in prose to the entities it names, and store its facets. Runs in a transaction.

    Args:
        store: the open store.
        node: the memory, just written.
        now: the time, in milliseconds.
        linker: joins it to what it names.
        text: what of it speaks, where not all does (a commit's message without its list of files).
        author: who wrote it, if that is known.
    """
    said = node.content if text is None else text
    linker.link_text(node.key, node.scope, said, now=now, author=author)
    store.facets.add(node.key, facets_of(said, node.origin, confidence=node.confidence))


def annotate_again(
    store: Store,
    node: Node,
    position: Position | None,
    facts: CodeFacts | None,
    *,
    now: int,
    linker: EntityLinker,
) -> None:
    """Annotate a memory that was written before there were annotations, whatever it is. Runs in a transaction."""
    if node.type is NodeType.ENTITY:
        store.entities.add_alias(node.key, node.content)
    elif node.type is NodeType.SNIPPET and node.origin in (Origin.CODE, Origin.MARKDOWN):
        linker.link(node.key, node.scope, names_of(node.content, facts, position), now=now)
        store.facets.add(node.key, _facets_of_snippet(node, position, facts))
    else:
        author = node.metadata.get("author") if node.subtype == "commit" else None
        annotate(store, node, now=now, linker=linker, author=author if isinstance(author, str) else None)


def _facets_of_snippet(node: Node, position: Position | None, facts: CodeFacts | None) -> Facets:
    chunk = Chunk(
        text=node.content,
        kind=ChunkKind(node.subtype) if node.subtype in set(ChunkKind) else ChunkKind.TEXT,
        position=position or Position(),
        section_type=node.metadata.get("section_type"),
        code=facts,
    )
    return facets_of_chunk(chunk)
