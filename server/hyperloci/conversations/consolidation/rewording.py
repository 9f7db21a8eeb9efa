"""Rewording: what a model found in a turn beside what rules made of the same turn at its end, so that nothing is
remembered twice (B.17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hyperloci.conversations.consolidation.text_similarity import Said, find_numbers, meaningful_words, repeats
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.store import Store

OVERLAP: Final = 0.5
"""Share of the words of the shorter of two statements of one turn from which on one words the other anew: a finding
must have half of its words from its turns, and other statements of the same turn share a name or two."""

Reading = tuple[str, Sequence[Node]]
"""A statement, and the turns that it was found in."""


class TurnMemories:
    """The memories that were made of turns, past and forgotten ones too; read once for each turn."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._made: dict[NodeKey, list[Node]] = {}

    def list_made(self, turns: Iterable[Node]) -> list[Node]:
        """Return what was made of any of some turns, each memory once."""
        found = {node.key: node for turn in turns for node in self._list_of_turn(turn)}
        return list(found.values())

    def find_said(self, said: Said, turns: Iterable[Node]) -> Node | None:
        """Return a memory of the same turns that says the same; one that holds before a past one."""
        alike = [node for node in self.list_made(turns) if repeats(said, read_said(node))]
        return min(alike, key=lambda node: not node.holds, default=None)

    def _list_of_turn(self, turn: Node) -> list[Node]:
        if turn.key not in self._made:
            # Not by steps: none leads to what was forgotten.
            edges = self._store.edges.list_of_node(turn.key, "derived_from")
            nodes = self._store.nodes.get_by_keys({edge.members[0].node for edge in edges} - {turn.key})
            self._made[turn.key] = [node for node in nodes.values() if node.type is not NodeType.SNIPPET]
        return self._made[turn.key]


def read_said(node: Node) -> Said:
    """Return what a memory says, and which of its words answer."""
    return Said(node.content, str(node.metadata.get("quote") or ""))


def find_reworded(
    readings: Sequence[Reading], memories: TurnMemories, *, made_by: str
) -> Mapping[int, tuple[Node, ...]]:
    """Return which of the readings words which memories anew, by its place among them; past ones too.

    A memory goes to the reading of one of its turns that has most of its words, if all readings of that turn together
    have its numbers: what one statement of rules says, a model may say in two.

    Args:
        readings: what was found now.
        memories: what was made of the same turns before.
        made_by: the strategy whose memories are meant.
    """
    found: dict[int, list[Node]] = {}
    for node in memories.list_made([turn for _, turns in readings for turn in turns]):
        if node.metadata.get("strategy") != made_by:
            continue
        places = [place for place, (_, turns) in enumerate(readings) if node in memories.list_made(turns)]
        best = max(places, key=lambda place: _overlap(node.content, readings[place][0]))
        told = frozenset[str]().union(*(find_numbers(readings[place][0]) for place in places))
        if _overlap(node.content, readings[best][0]) >= OVERLAP and find_numbers(node.content) <= told:
            found.setdefault(best, []).append(node)
    return {place: tuple(nodes) for place, nodes in found.items()}


def is_told_by(text: str, other: str) -> bool:
    """Tell whether the other text has half of the words of this one: what has fewer tells more of the same turn."""
    mine = meaningful_words(text)
    return len(mine & meaningful_words(other)) >= OVERLAP * len(mine)


def _overlap(text: str, other: str) -> float:
    """Return how many of the words of the shorter text the other one has, 0..1."""
    mine, theirs = meaningful_words(text), meaningful_words(other)
    return len(mine & theirs) / min(len(mine), len(theirs)) if mine and theirs else 0.0
