"""Subject memories: what a project holds true on the subjects of some turns, for the model that reads them (B.17)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.model.node import Node
from hyperloci.store import Store

MAX_CANDIDATES: Final = 300
"""The newest statements that are looked at."""

SHARED_WORDS: Final = 2
"""A memory is on a subject of the turns if they have so many of its words, or all of a shorter one's."""

STANDING_SUBTYPES: Final = ("decision", "constraint", "preference", "deadline", "dead_end", "procedure")
"""Kinds that a session replaces."""


def find_standing_memories(store: Store, scope: str, turns: Sequence[Node]) -> list[Node]:
    """Return the statements of a project that share words with some turns, those that share most first."""
    said = frozenset[str]().union(*(meaningful_words(turn.content) for turn in turns))
    shared: list[tuple[int, Node]] = []
    for node in store.nodes.query_nodes(subtypes=STANDING_SUBTYPES, scopes=(scope,), limit=MAX_CANDIDATES):
        words = meaningful_words(node.content)
        count = len(words & said)
        if count >= min(SHARED_WORDS, len(words)) > 0 and not node.metadata.get("flags"):
            shared.append((count, node))
    return [node for _, node in sorted(shared, key=lambda item: -item[0])]
