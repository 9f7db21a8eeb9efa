"""Symbol steps: walks from symbol to symbol rather than from snippet to snippet (D.02, E.13).

What is related to one piece of a symbol is related to the symbol: it goes by its first piece and is left by all of
them. A whole file may count as one in the same way. Forgotten and withheld memories are never stepped on
(`store.memories.traversal`).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from hyperloci.store.memories.traversal import BOTH_WAYS, INWARD, OUTWARD, Crossing
from hyperloci.system.values import dataclass

BATCH: Final = 2_000
"""Nodes of one statement, and crossings whose targets are looked up at once."""

SOON: Final = 250
"""Crossings looked up at once by a walk that may have enough soon: of 2,000 it would read three quarters for nothing
(two hops among 100,000 memories at p95: 14.7 ms, by 250 6.6, by 100 6.7, by 500 7.4)."""

_REVERSED: Final = {OUTWARD: INWARD, INWARD: OUTWARD, BOTH_WAYS: BOTH_WAYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How to walk: over which hyperedges, in which direction, in which scopes."""

    label: str | None = None
    direction: str = OUTWARD
    scopes: tuple[str, ...] = ()

    def reversed(self) -> Walk:
        """Return the same walk against its direction."""
        return Walk(label=self.label, direction=_REVERSED[self.direction], scopes=self.scopes)


class SymbolSteps:
    """Steps of walks over one store; what was learnt of a node's pieces is kept for the walk.

    Args:
        store: the open store.
        wholes: groups of nodes, each of which counts as one and goes by its first: a symbol or the snippets of a file
            that a walk begins or ends at. What is in several belongs to the smallest.
    """

    def __init__(self, store: Store, wholes: Iterable[Sequence[NodeKey]] = ()) -> None:
        self._store = store
        self._first_of: dict[NodeKey, NodeKey] = {}
        self._pieces_of: dict[NodeKey, tuple[NodeKey, ...]] = {}
        for keys in sorted(wholes, key=len):
            cut = store.symbols.find_pieces(keys)
            pieces = dict.fromkeys(piece for key in keys for piece in (key, *cut.get(key, ())))
            self._join_pieces([piece for piece in pieces if piece not in self._first_of])

    def find_first(self, key: NodeKey) -> NodeKey:
        """Return the node that a node goes by: the first piece of its symbol, or itself."""
        self._learn_pieces((key,))
        return self._first_of[key]

    def cross_edges(self, sources: Collection[NodeKey], walk: Walk, *, limit: int) -> Iterator[Crossing]:
        """Yield the steps that lead from some symbols to others, each as its first piece; at most `limit` are read."""
        for batch in self._read_crossings(list(sources), walk, limit, BATCH):
            self._learn_pieces({crossing.target for crossing in batch})
            for source, target, edge in batch:
                first, last = self._first_of[source], self._first_of[target]
                if first != last:
                    yield Crossing(first, last, edge)

    def reach_symbols(self, sources: Collection[NodeKey], walk: Walk, *, limit: int) -> Iterator[list[NodeKey]]:
        """Yield the symbols that steps from some symbols reach, in batches, without the hyperedges: in half the time.

        A symbol may come in several batches, and so may a source that a step leads back to.
        """
        for batch in self._read_crossings(list(sources), walk, limit, SOON):
            targets = dict.fromkeys([crossing[1] for crossing in batch])
            self._learn_pieces(targets)
            yield [self._first_of[target] for target in targets]

    def _read_crossings(self, sources: list[NodeKey], walk: Walk, limit: int, size: int) -> Iterator[list[Crossing]]:
        self._learn_pieces(sources)
        pieces = [piece for key in sources for piece in self._pieces_of.get(key, (key,))]
        read = (
            crossing
            for first in range(0, len(pieces), BATCH)
            for crossing in self._store.traversal.iterate_crossings(
                pieces[first : first + BATCH],
                label=walk.label,
                direction=walk.direction,
                scopes=walk.scopes,
                limit=limit,
            )
        )
        crossings = itertools.islice(read, limit)
        while batch := list(itertools.islice(crossings, size)):
            yield batch

    def _learn_pieces(self, keys: Iterable[NodeKey]) -> None:
        fresh = [key for key in keys if key not in self._first_of]
        if not fresh:
            return
        self._first_of.update((key, key) for key in fresh)
        for pieces in set(self._store.symbols.find_pieces(fresh).values()):
            self._join_pieces([piece for piece in pieces if self._first_of.get(piece, piece) == piece])

    def _join_pieces(self, pieces: Sequence[NodeKey]) -> None:
        if pieces:
            self._first_of.update(dict.fromkeys(pieces, pieces[0]))
            self._pieces_of[pieces[0]] = tuple(pieces)
