"""Chunk matching: pairs new chunks with old ones, so that a node keeps its id while its text, symbol or place does.

Pure functions over what identifies a chunk. Invariants (tests/indexing/test_chunk_matching.py): every index is used at
most once; chunks of equal content are always paired; equal sequences pair one to one, in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Protocol

from hyperloci.system.values import dataclass


class ChunkIdentity(Protocol):
    """What a chunk is known by: the hash of its text, its symbol, and where it stands."""

    @property
    def content_hash(self) -> bytes:
        """SHA-256 of the text."""

    @property
    def symbol(self) -> str | None:
        """Qualified name inside the file, None for plain text."""

    @property
    def title(self) -> str:
        """Its breadcrumb: where it stands, in words."""


@dataclass(frozen=True, slots=True)
class ChunkMatching:
    """Indexes into the old and new sequences: the pairs (old, new), the old ones gone, the new ones fresh."""

    pairs: tuple[tuple[int, int], ...]
    gone: tuple[int, ...]
    fresh: tuple[int, ...]


def match_file(old: Sequence[ChunkIdentity], new: Sequence[ChunkIdentity]) -> ChunkMatching:
    """Match the chunks of one file, both in their order, with those that it has now.

    Strongest evidence first: the same text (of equal texts, the one with the same symbol and breadcrumb), the same
    symbol, and for plain text the same breadcrumb between the same neighbours.
    """
    pairing = _ChunkPairing(old, new)
    pairing.pair_by(lambda chunk: (chunk.content_hash, chunk.symbol, chunk.title))
    pairing.pair_by(lambda chunk: (chunk.content_hash, chunk.symbol))
    pairing.pair_by(lambda chunk: chunk.content_hash)
    pairing.pair_by(lambda chunk: chunk.symbol and (chunk.symbol, chunk.title))
    pairing.pair_by(lambda chunk: chunk.symbol)
    pairing.pair_by_place()
    return pairing.result()


def match_moves(
    gone: Sequence[ChunkIdentity], fresh: Sequence[ChunkIdentity], alike: Callable[[int, int], bool]
) -> tuple[tuple[int, int], ...]:
    """Match chunks that left some files with chunks that are new in others: pairs of indexes (gone, fresh).

    Args:
        gone: chunks that vanished.
        fresh: chunks that appeared.
        alike: asked of a gone and a fresh chunk (by index) with the same symbol and different texts, when no other
            chunk on either side has that symbol: whether the one can be the other, changed.
    """
    pairing = _ChunkPairing(gone, fresh)
    pairing.pair_by(lambda chunk: (chunk.content_hash, chunk.symbol))
    pairing.pair_by(lambda chunk: chunk.content_hash)
    left, right = pairing.unpaired()
    by_symbol = _group_by_symbol(fresh, right)
    for symbol, places in _group_by_symbol(gone, left).items():
        others = by_symbol.get(symbol, ())
        if len(places) == len(others) == 1 and alike(places[0], others[0]):
            pairing.add(places[0], others[0])
    return pairing.result().pairs


class _ChunkPairing:
    """A growing one-to-one relation between two sequences."""

    def __init__(self, old: Sequence[ChunkIdentity], new: Sequence[ChunkIdentity]) -> None:
        self._old = old
        self._new = new
        self._partner_of_old: list[int | None] = [None] * len(old)
        self._partner_of_new: list[int | None] = [None] * len(new)

    def add(self, old: int, new: int) -> None:
        self._partner_of_old[old] = new
        self._partner_of_new[new] = old

    def unpaired(self) -> tuple[list[int], list[int]]:
        return _find_unpaired(self._partner_of_old), _find_unpaired(self._partner_of_new)

    def pair_by(self, key: Callable[[ChunkIdentity], Hashable]) -> None:
        """Pair what has the same key, in order; a key that is None or empty pairs nothing."""
        left, right = self.unpaired()
        if left and right:
            self._pair({i: key(self._old[i]) for i in left}, {j: key(self._new[j]) for j in right})

    def pair_by_place(self) -> None:
        """Pair plain text with the same breadcrumb that stands between, after or before the same chunks."""
        for sides in (slice(0, 2), slice(0, 1), slice(1, 2)):
            left = [i for i in _find_unpaired(self._partner_of_old) if self._old[i].symbol is None]
            right = [j for j in _find_unpaired(self._partner_of_new) if self._new[j].symbol is None]
            if not left or not right:
                return
            old_gaps, new_gaps = self._find_gaps()
            self._pair(
                {i: (self._old[i].title, old_gaps[i][sides]) for i in left},
                {j: (self._new[j].title, new_gaps[j][sides]) for j in right},
            )

    def result(self) -> ChunkMatching:
        left, right = self.unpaired()
        pairs = tuple((i, j) for i, j in enumerate(self._partner_of_old) if j is not None)
        return ChunkMatching(pairs, tuple(left), tuple(right))

    def _pair(self, left: Mapping[int, Hashable], right: Mapping[int, Hashable]) -> None:
        waiting: dict[Hashable, deque[int]] = {}
        for i, key in left.items():
            if key:
                waiting.setdefault(key, deque()).append(i)
        for j, key in right.items():
            if key and (queue := waiting.get(key)):
                self.add(queue.popleft(), j)

    def _find_gaps(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the gap that each chunk stands in: the nearest pairs before and after it, named by their new index."""
        end = len(self._new)
        of_old = _nearest_partners(self._partner_of_old, end)
        own = [None if partner is None else j for j, partner in enumerate(self._partner_of_new)]
        return of_old, _nearest_partners(own, end)


def _nearest_partners(names: Sequence[int | None], end: int) -> list[tuple[int, int]]:
    before = _previous_partners(names, -1)
    after = _previous_partners(list(reversed(names)), end)[::-1]
    return list(zip(before, after, strict=True))


def _previous_partners(names: Iterable[int | None], start: int) -> list[int]:
    found, last = [], start
    for name in names:
        last = last if name is None else name
        found.append(last)
    return found


def _find_unpaired(partners: Sequence[int | None]) -> list[int]:
    return [i for i, partner in enumerate(partners) if partner is None]


def _group_by_symbol(chunks: Sequence[ChunkIdentity], places: Iterable[int]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for place in places:
        if symbol := chunks[place].symbol:
            groups.setdefault(symbol, []).append(place)
    return groups
