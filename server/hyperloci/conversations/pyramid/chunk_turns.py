"""Parts: what the builders of a pyramid share: a chunk's turns, and log entries."""

from __future__ import annotations

from collections.abc import Sequence

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.pyramid import PyramidChunk
from hyperloci.store import Store


def load_turns(store: Store, chunk: PyramidChunk) -> list[Node]:
    """Return the turns of a chunk, forgotten ones too."""
    return store.chunks.list_turns(chunk.session_key, chunk.first_seq, chunk.last_seq)


def turns_state(store: Store, turns: Sequence[Node]) -> list[tuple[NodeKey, str, int | None, bool]]:
    """Return what must not have changed between reading turns and storing what was made of them."""
    withheld = store.withheld.select_withheld(turn.key for turn in turns)
    return [(turn.key, turn.content, turn.deleted_at, turn.key in withheld) for turn in turns]


def describe_range(chunk: PyramidChunk) -> str:
    """Return a chunk's turns in words."""
    return f"turns {chunk.first_seq}-{chunk.last_seq}"


def log_chunks(store: Store, operation: str, chunks: Sequence[PyramidChunk], why: str, *, now: int) -> None:
    """Log what was done with chunks."""
    if chunks:
        store.log.add_entry(operation, [chunk.id for chunk in chunks], now=now, reasoning=why)
