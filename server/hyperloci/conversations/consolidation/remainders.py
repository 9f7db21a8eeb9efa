"""Remainders: what still holds of a statement of several sentences when a later one changes another of them (B.19).

`All customer data is deleted after 24 months. Analysts must not export PII.` and later `make it 23`: the first sentence
ends, and the second becomes a statement of its own, of the same turn and words.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.clock import Clock
from hyperloci.conversations.consolidation.findings import NODE_TYPES, FindingKind
from hyperloci.conversations.consolidation.replacement.features import ComparedStatement, read_statement
from hyperloci.conversations.consolidation.replacement.scorer import load_replacement_scorer
from hyperloci.conversations.consolidation.replacement.surroundings import Surroundings
from hyperloci.conversations.consolidation.statement_features import read_features
from hyperloci.conversations.consolidation.statement_scorer import choose_kind, load_weights
from hyperloci.conversations.consolidation.turn_view import USER, TurnView
from hyperloci.conversations.referents import lacks_subject
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.knowledge.deadlines.due_dates import note_days
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import NewNode, Node
from hyperloci.store import Store
from hyperloci.text.language.sentences import sentence_spans

CHANGED: Final = 0.2
"""Probability from which on a sentence is what a newer statement changes; where none has it, all of them are: `The
watchdog. 4 s` says one thing."""

UNCHANGED: Final = 0.3
"""How much of the likeliest one's probability a sentence has at most that is left."""

ALONE: Final = 0.6
"""Probability of being worth keeping from which on a piece is kept alone. Of 57 pieces that changes in 20 projects
left, 12 pass it: five hold, three end with the rest, four say little; of those below, three of 45 hold, and most are
reasons of what ended (docs/benchmarks/changed-minds.md, "What a change leaves")."""

_COPIED: Final = ("strategy", "trust", "turn", "speaker", "flags", "redactions")
"""What is noted of a statement and holds of each of its sentences."""


def find_remainders(new: ComparedStatement, quote: str, around: Surroundings) -> list[str]:
    """Return the pieces of a statement that a newer one leaves, word for word; each says something worth keeping alone.

    Args:
        new: the newer statement, which replaces a part of the older one or all of it.
        quote: the older one's words.
        around: what the assistant said right before and after the newer one, and what it did.
    """
    spans = [span for span in sentence_spans(quote) if quote[slice(*span)].strip()]
    if len(spans) < 2:
        return []
    scores = load_replacement_scorer().score(new, [read_statement(quote[slice(*span)]) for span in spans], None, around)
    most = max(scores)
    if most < CHANGED:
        return []
    return [piece for piece in _join_left(quote, spans, scores, UNCHANGED * most) if _stands_alone(piece)]


def _join_left(quote: str, spans: Sequence[tuple[int, int]], scores: Sequence[float], most: float) -> Iterator[str]:
    """Yield the neighbouring sentences that are left, as one piece each."""
    for is_left, run in itertools.groupby(zip(spans, scores, strict=True), key=lambda one: one[1] < most):
        if is_left:
            left = [span for span, _ in run]
            yield quote[left[0][0] : left[-1][1]].strip()


def _stands_alone(piece: str) -> bool:
    view = TurnView(0, USER, piece)
    scores = (load_weights().score(read_features([view], 0, number)) for number in range(len(view.sentences)))
    return not lacks_subject(piece) and max(scores, default=0.0) >= ALONE


def keep_remainder(store: Store, clock: Clock, old: Node, piece: str) -> Node | None:
    """Store a piece of a statement that ended as one of its own; None where it is known or was forgotten.

    Runs in a transaction.
    """
    if store.nodes.find_duplicate(piece, old.scope) or store.nodes.find_forgotten(piece, old.scope):
        return None
    kind, due = choose_kind(piece, old.event_time)
    metadata = {name: old.metadata[name] for name in _COPIED if name in old.metadata}
    metadata |= note_days(piece, old.event_time, due=due)
    metadata |= {"approach": piece} if kind is FindingKind.DEAD_END else {}
    progress = store.consolidations.get_progress(old.session_id) if old.session_id else None
    node = MemoryWriter(store, sparing=True).write_statement(
        NewNode(
            type=NODE_TYPES.get(kind, NodeType.FACT),
            subtype=kind.value,
            content=piece,
            tier=old.tier,
            confidence=old.confidence,
            decay_rate=old.decay_rate,
            provenance=old.provenance,
            origin=old.origin,
            scope=old.scope,
            event_time=old.event_time,
            valid_from=old.valid_from,
            metadata=metadata,
        ),
        progress.scope if progress else old.scope,
        now=clock(),
        session_key=progress.session_key if progress else None,
        operation="extract",
        reason=f"what a later statement left of {old.id}",
    )
    if turns := _list_turns(store, old):
        store.edges.link_nodes("derived_from", node.key, turns, now=clock(), automatic=True, evidence="remainder")
    store.consolidations.queue_review(node.key)
    return node


def _list_turns(store: Store, statement: Node) -> list[NodeKey]:
    """Return the turns that a statement was made of."""
    edges = store.edges.list_of_node(statement.key, "derived_from")
    return [member.node for edge in edges if edge.members[0].node == statement.key for member in edge.members[1:]]
