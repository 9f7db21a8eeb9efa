"""Expansion: the turns of a chunk in full, at every stage (C.07)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.errors import NotFoundError
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.pyramid import ExpandedChunk, ExpandedTurn, PyramidChunk
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.store import Store
from hyperloci.store.ids import find_node
from hyperloci.store.memories.node_rows import hash_content
from hyperloci.text.tokens import count_tokens


def expand_chunk(store: Store, chunk_id: str, *, scopes: Sequence[str] = ()) -> ExpandedChunk:
    """Return the chunk with an id, or the beginning of one, with all its turns, forgotten ones left out.

    Each text is compared with the hash of what was said; a turn whose archive's time is over is marked.

    Raises:
        NotFoundError: no chunk has this id.
    """
    with store.snapshot():
        named = find_node(store.nodes, chunk_id, scopes=scopes)
        chunk = store.chunks.get_chunk(chunk_id if named is None else named.id)
        if chunk is None:
            raise NotFoundError(
                f"id={chunk_id!r:.60}: no chunk has this id; take one from a search hit of kind chunk_*."
            )
        node = None if chunk.node_key is None else store.nodes.get_by_key(chunk.node_key)
        return ExpandedChunk(
            id=chunk.id,
            level=chunk.level,
            stage=chunk.stage,
            session_id=chunk.session_id,
            content="" if node is None else node.content,
            key_facts=chunk.key_facts,
            themes=chunk.themes,
            turns=tuple(_expand_turns(store, chunk)),
        )


def list_contents(store: Store, node: Node) -> list[Node] | None:
    """Return what a chunk's summary is of: the summaries of the chunks in it and the turns in none; None for others."""
    chunk = store.chunks.get_chunk(node.id)
    if chunk is None:
        return None
    found = store.chunks.list_turns(chunk.session_key, chunk.first_seq, chunk.last_seq, forgotten=False)
    for level in _PARTS[chunk.level]:
        found = _fold_turns(store, found, store.chunks.list_of_session(chunk.session_key, level))
    return found


_PARTS: Final = {
    PyramidLevel.MICRO: (),
    PyramidLevel.MINI: (PyramidLevel.MICRO,),
    PyramidLevel.MACRO: (PyramidLevel.MINI,),
}


def _fold_turns(store: Store, turns: Sequence[Node], chunks: Sequence[PyramidChunk]) -> list[Node]:
    """Put the summaries of chunks in place of their turns, where all of them are there."""
    folded = list(turns)
    for chunk in chunks:
        inside = [node for node in folded if node.seq is not None and chunk.first_seq <= node.seq <= chunk.last_seq]
        summary = None if chunk.node_key is None else store.nodes.get_by_key(chunk.node_key)
        if len(inside) == chunk.turns and summary is not None:
            at = folded.index(inside[0])
            folded[at : at + len(inside)] = [summary]
    return folded


def _expand_turns(store: Store, chunk: PyramidChunk) -> list[ExpandedTurn]:
    turns = store.chunks.list_turns(chunk.session_key, chunk.first_seq, chunk.last_seq, forgotten=False)
    keys = [turn.key for turn in turns]
    tokens, paths, hashes = (
        store.chunks.count_tokens_of(keys),
        store.chunks.get_paths(keys),
        store.chunks.get_content_hashes(chunk),
    )
    return [_expand_turn(turn, tokens.get(turn.key), paths.get(turn.key), hashes) for turn in turns]


def _expand_turn(turn: Node, tokens: int | None, path: str | None, hashes: dict[NodeKey, bytes]) -> ExpandedTurn:
    return ExpandedTurn(
        id=turn.id,
        seq=turn.seq or 0,
        role=str(turn.metadata.get("role", "user")),
        kind="action" if turn.subtype == "action" else "text",
        at=to_iso(turn.event_time),
        content=turn.content,
        tokens=count_tokens(turn.content) if tokens is None else tokens,
        path=path,
        whole=hash_content(turn.content) == hashes[turn.key],
    )
