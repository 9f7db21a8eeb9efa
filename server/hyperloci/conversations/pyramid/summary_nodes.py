"""Summary nodes: store the summaries of chunks as nodes, joined to what they cover (C.05)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from hyperloci.clock import Clock
from hyperloci.conversations.pyramid.chunk_turns import describe_range, load_turns, turns_state
from hyperloci.conversations.pyramid.summary import Summariser
from hyperloci.errors import HyperlociError
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.model.kinds import NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.model.pyramid import Digest, PyramidChunk
from hyperloci.model.pyramid_levels import SUBTYPES, PyramidLevel
from hyperloci.store import Store
from hyperloci.store.conversations.chunks import turn_from_node
from hyperloci.system.values import dataclass

logger = logging.getLogger(__name__)

SUMMARY_CONFIDENCE: Final = 0.6
"""Of a summary: that of what was extracted."""

NOTHING_LEFT: Final = "Nothing of {turns} is told: they are forgotten or withheld."
"""What a summary says whose turns may all not be shown."""


@dataclass(frozen=True, slots=True)
class Digester:
    """Makes and stores digests.

    Attributes:
        store, clock: the database and the time.
        summarise: the strategy; `fallback` stands in where it can't.
    """

    store: Store
    clock: Clock
    summarise: Summariser
    fallback: Summariser

    def make_digest(self, chunk: PyramidChunk) -> int:
        """Give a chunk its summary, or a new one; 0 if its turns changed meanwhile, or none of them is left to sum up.

        A summary that there is tells nothing any more where none is left.
        """
        with self.store.snapshot():
            turns = load_turns(self.store, chunk)
            state = turns_state(self.store, turns)
        digest = self.digest_turns(chunk, turns)
        if digest is None and chunk.node_key is not None:
            digest = Digest(NOTHING_LEFT.format(turns=describe_range(chunk)))
        if digest is None:
            return 0
        with self.store.transaction():
            if turns_state(self.store, load_turns(self.store, chunk)) != state:
                return 0
            self.store_digest(chunk, digest)
        return 1

    def digest_turns(self, chunk: PyramidChunk, turns: Sequence[Node]) -> Digest | None:
        """Return what a chunk of these turns comes to; None where none of them may be shown."""
        withheld = self.store.withheld.select_withheld(turn.key for turn in turns)
        living = [turn_from_node(turn) for turn in turns if turn.deleted_at is None and turn.key not in withheld]
        if not living:
            return None
        parts = [] if chunk.level is PyramidLevel.MICRO else self._part_digests(chunk)
        try:
            return self.summarise(chunk.level, living, parts)
        except HyperlociError as error:
            logger.warning("summarising chunk %s without a language model: %s", chunk.id, error)
            return self.fallback(chunk.level, living, parts)

    def _part_digests(self, chunk: PyramidChunk) -> list[Digest]:
        below = PyramidLevel.MINI if chunk.level is PyramidLevel.MACRO else PyramidLevel.MICRO
        inside = [part for part in self._chunks_inside(chunk, below) if part.node_key is not None]
        nodes = self.store.nodes.get_by_keys([part.node_key for part in inside if part.node_key is not None])
        return [
            Digest(nodes[part.node_key].content, part.key_facts, part.themes)
            for part in inside
            if part.node_key in nodes
        ]

    def _chunks_inside(self, chunk: PyramidChunk, level: PyramidLevel) -> list[PyramidChunk]:
        """Return the chunks of a level that lie within another as a whole."""
        return [
            part
            for part in self.store.chunks.list_of_session(chunk.session_key, level)
            if chunk.first_seq <= part.first_seq and part.last_seq <= chunk.last_seq
        ]

    def store_digest(self, chunk: PyramidChunk, digest: Digest) -> None:
        """Store a digest: as the chunk\'s node, joined to what it covers. Runs in a transaction."""
        now = self.clock()
        present = self.store.chunks.get_by_keys([chunk.key])[0]
        known = None if present.node_key is None else self.store.nodes.get_by_key(present.node_key)
        if known is not None:
            self.store.nodes.update_node(known.id, now=now, content=digest.summary)
        else:
            scope = self.store.chunks.get_scope_id(chunk.session_key)
            node = MemoryWriter(self.store).write_summary(
                _make_summary_node(chunk, digest, scope),
                self._covered_nodes(chunk),
                now=now,
                place=_node_place(chunk),
                session_key=chunk.session_key,
            )
            self.store.chunks.set_summary_node(chunk, node)
        self.store.chunks.set_digest(chunk, digest, now=now)

    def _covered_nodes(self, chunk: PyramidChunk) -> list[NodeKey]:
        """Return what a chunk contains: of chunks those that lie within it as a whole, and the turns beside them."""
        if chunk.level is PyramidLevel.MACRO:
            return [
                part.node_key for part in self._chunks_inside(chunk, PyramidLevel.MINI) if part.node_key is not None
            ]
        inside = [] if chunk.level is PyramidLevel.MICRO else self._chunks_inside(chunk, PyramidLevel.MICRO)
        inside = [part for part in inside if part.node_key is not None]
        found = [(part.first_seq, part.node_key) for part in inside if part.node_key is not None]
        for turn in self.store.chunks.list_turns(chunk.session_key, chunk.first_seq, chunk.last_seq, forgotten=False):
            seq = turn.seq or 0
            if not any(part.first_seq <= seq <= part.last_seq for part in inside):
                found.append((seq, turn.key))
        return [key for _, key in sorted(found)]


def renew_summaries_over(store: Store, turn: Node, clock: Clock, summarise: Summariser) -> int:
    """Make the summaries that quote from a turn anew, the small ones first, and return how many.

    For a turn that was withheld or released. Where turns change meanwhile, maintenance makes the summary.
    """
    session = None if turn.session_id is None else store.sessions.get_session(turn.session_id)
    if session is None or turn.seq is None:
        return 0
    digester = Digester(store, clock, summarise, summarise)
    covering = [chunk for chunk in store.chunks.find_covering(session.key, turn.seq) if chunk.node_key is not None]
    covering.sort(key=lambda chunk: list(PyramidLevel).index(chunk.level))
    return sum(digester.make_digest(chunk) for chunk in covering)


def _node_place(chunk: PyramidChunk) -> str:
    return f"{chunk.session_id}:{chunk.level}:{chunk.first_seq}"


def _make_summary_node(chunk: PyramidChunk, digest: Digest, scope: str) -> NewNode:
    return NewNode(
        type=NodeType.SNIPPET,
        subtype=SUBTYPES[chunk.level],
        content=digest.summary,
        tier=Tier.SESSION,
        confidence=SUMMARY_CONFIDENCE,
        decay_rate=0.0,
        provenance=f"session {chunk.session_id}, {describe_range(chunk)}",
        origin=Origin.EXTRACTION,
        scope=scope,
        event_time=chunk.ended_at,
        valid_from=chunk.started_at,
        metadata={"first_seq": chunk.first_seq, "last_seq": chunk.last_seq, "turns": chunk.turns},
        extra_terms=" ".join(digest.themes),
    )
