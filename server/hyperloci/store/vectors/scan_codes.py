"""Vector codes: a few bits per dimension, in memory; a scan of all finds the few worth scoring exactly.

A dense vector's code is its components' signs and, for E1, a second bit for each: whether it is large. The scan
compares signs with signs; what comes near is ranked by the query's numbers against both bits, as the levels of an
optimal 2-bit quantiser of a normal distribution (Max 1960). For that the query is quantised too, and a sum over the
bits that are set is a few counts of bits (as in RaBitQ, Gao & Long 2024).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.store.database.connection import is_snapshot_open
from hyperloci.store.vectors.bits import BoolArray, FloatArray
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS

COARSE: Final = 8
COARSE_SHARE: Final = 128
"""What the scan of signs hands on: so many for each that is wanted, and of a large set a share of it, for what is near
in truth lies deeper among more. Of the ten nearest of 600,000 it hands on 0.99 with 3,200 and 0.997 with 6,400."""

SAMPLE_STEP: Final = 64
"""Every 64th distance is looked at to guess the cut-off of a large scan."""

LOOKED_UP: Final = 8
"""Where one row in so many is allowed, to look those up costs no more than to scan all."""

WORD_BITS: Final = 64
"""Codes are compared a 64-bit word at a time; the last word is filled up with zeros."""

LARGE_COMPONENT: Final = 0.98
_SMALL_LEVEL: Final = 0.453
_LARGE_LEVEL: Final = 1.51
"""Where a component is large, in root mean squares of its vector, and what small and large ones stand for."""

_QUERY_BITS: Final = 5
_ZERO: Final = 1 << (_QUERY_BITS - 1)
"""Bits of a query's component, its sign among them: a step is an eighth of what a code rounds by."""

_BIT: Final = np.arange(_QUERY_BITS)
_WORTH: Final = np.float32(2) ** _BIT.astype(np.float32)

Words = NDArray[np.uint64]


def words_per_code(dimensions: int) -> int:
    """Return how many 64-bit words hold one bit a dimension."""
    return -(-dimensions // WORD_BITS)


def dot_products(rows: FloatArray, query: FloatArray) -> FloatArray:
    """Return each row's dot product with a vector."""
    # Not `@`: the threads of BLAS wait for each other on a busy machine, 12 ms for what takes 0.2 ms alone.
    products: FloatArray = np.einsum("ij,j->i", rows, query)
    return products


def make_sign_code(vector: FloatArray | NDArray[np.int8]) -> bytes:
    """Return one bit a dimension, whether it is positive, filled up with zeros to whole words."""
    return _pack_bits(vector > 0)


def make_size_code(vector: FloatArray) -> bytes:
    """Return one bit a dimension, whether the component is large, filled up with zeros to whole words."""
    return _pack_bits(np.abs(vector) > LARGE_COMPONENT * np.sqrt(np.mean(np.square(vector))))


def _pack_bits(bits: BoolArray) -> bytes:
    packed = np.packbits(bits, bitorder="little").tobytes()
    return packed.ljust(words_per_code(len(bits)) * WORD_BITS // 8, b"\0")


class Codes:
    """The codes of one space in memory, a column of 64-bit words at a time.

    Args:
        words: words of the signs of a vector.
        planes: bits a dimension: 1, signs alone, or 2, sizes too.
    """

    def __init__(self, words: int, planes: int = 1) -> None:
        self.words = words
        self.planes = planes
        self.rows = 0
        self._columns = np.zeros((words * planes, 0), np.uint64)
        self._present = np.zeros(0, np.bool_)
        self._versions: dict[int, int] = {}
        self._state: tuple[int, int] | None = None

    def reload_changed(self, connection: sqlite3.Connection, space: str) -> None:
        """Load the blocks whose version moved since the last look."""
        state = (connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes)
        if state == self._state:
            return
        found = connection.execute("SELECT block, version, key FROM code_blocks WHERE space = ?", (space,)).fetchall()
        for block in self._versions.keys() - {row[0] for row in found}:
            self._present[block * BLOCK_ROWS : (block + 1) * BLOCK_ROWS] = False
            del self._versions[block]
        stale = [row for row in found if self._versions.get(row[0]) != row[1]]
        if stale:
            self._grow_to((max(row["block"] for row in found) + 1) * BLOCK_ROWS)
        for row in stale:
            self._load(connection, row)
        # Inside a write, what is seen may be rolled back, and the state would not tell.
        self._state = state if is_snapshot_open(connection) else None

    def count_allowed(self, allowed: BoolArray) -> int:
        """Return how many of the allowed node keys have a code."""
        size = min(self.rows, len(allowed))
        return int(np.count_nonzero(self._present[:size] & allowed[:size]))

    def _grow_to(self, rows: int) -> None:
        if rows > self.rows:
            extra = rows - self.rows
            self._columns = np.concatenate([self._columns, np.zeros((len(self._columns), extra), np.uint64)], axis=1)
            self._present = np.concatenate([self._present, np.zeros(extra, np.bool_)])
            self.rows = rows

    def _load(self, connection: sqlite3.Connection, row: sqlite3.Row) -> None:
        blob = connection.execute("SELECT codes FROM code_blocks WHERE key = ?", (row["key"],)).fetchone()[0]
        start = row["block"] * BLOCK_ROWS
        if len(blob) == BLOCK_ROWS * len(self._columns) * 8:
            codes = np.frombuffer(blob, np.uint64).reshape(BLOCK_ROWS, len(self._columns))
            self._columns[:, start : start + BLOCK_ROWS] = codes.T
            self._present[start : start + BLOCK_ROWS] = codes.any(axis=1)
        else:  # another model's width: nothing to compare with
            self._present[start : start + BLOCK_ROWS] = False
        self._versions[row["block"]] = row["version"]

    def find_candidates(
        self, query: FloatArray, allowed: BoolArray, count: int, *, hastily: bool = False
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return up to `count` node keys worth scoring exactly and their estimated cosines, best first, ties by key.

        Args:
            query: shape (dimensions,).
            allowed: bitmap over node keys: which may be returned.
            count: how many at most.
            hastily: scan every other word only and look closer at twice as many.
        """
        size = min(self.rows, len(allowed))
        possible = self._present[:size] & allowed[:size]
        few = int(np.count_nonzero(possible))
        wanted = max(COARSE * count * (2 if hastily else 1), few // COARSE_SHARE)
        words = slice(0, self.words, 2 if hastily else 1)
        if few > max(wanted, size // LOOKED_UP):
            keys = _nearest(self._distances(query, size, words), possible, wanted)
        else:
            keys = np.flatnonzero(possible)
            if few > wanted:
                near = _hamming_distances(self._columns[words].take(keys, axis=1), self._code_of_query(query)[words])
                keys = keys[_find_smallest(near, wanted)]
        estimated = self._estimate_from_codes(query, self._columns.take(keys, axis=1))
        if len(keys) > count > 0:
            best = np.flatnonzero(estimated >= np.partition(estimated, len(keys) - count)[len(keys) - count])
            keys, estimated = keys[best], estimated[best]
        order = np.lexsort((keys, -estimated))[:count]
        return keys[order], estimated[order]

    def estimate_cosines(self, query: FloatArray, keys: NDArray[np.int64]) -> FloatArray:
        """Return the estimated cosines of nodes, nan for one without a code."""
        found = np.full(len(keys), np.nan, np.float32)
        inside = np.flatnonzero(keys < self.rows)
        inside = inside[self._present[keys[inside]]]
        found[inside] = self._estimate_from_codes(query, self._columns.take(keys[inside], axis=1))
        return found

    def _code_of_query(self, query: FloatArray) -> Words:
        return np.frombuffer(make_sign_code(query), np.uint64)

    def _distances(self, query: FloatArray, size: int, words: slice) -> NDArray[np.uint16]:
        code = self._code_of_query(query)[words]
        distances = np.empty(size, np.uint16)
        # Blocks of 16k words stay in the cache: 4.5 ms a million rows.
        step = 16_384
        for start in range(0, size, step):
            distances[start : start + step] = _hamming_distances(
                self._columns[words, start : min(size, start + step)], code
            )
        return distances

    def _estimate_from_codes(self, query: FloatArray, codes: Words) -> FloatArray:
        """Return the cosines of a query with coded vectors, words by rows."""
        step = float(np.abs(query).max(initial=0.0)) / (_ZERO - 1) or 1.0
        levels = np.rint(query / step).astype(np.int16)
        bits = np.zeros((_QUERY_BITS, self.words * WORD_BITS), np.uint8)
        bits[:, : len(query)] = (levels + _ZERO) >> _BIT[:, np.newaxis] & 1
        masks = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
        unit = step / (float(np.linalg.norm(query)) or 1.0)
        signs = codes[: self.words]
        # A bit stands for 1 or -1: q . (2b - 1) = 2 q . b - sum(q).
        whole = float(levels.sum())
        small = 2 * _weigh_bits(signs, masks)[0] - whole
        if self.planes == 1:
            return np.asarray(small * np.float32(unit / np.sqrt(len(query))), np.float32)
        sizes = codes[self.words :]
        large, count = _weigh_bits(sizes, masks)
        more = 2 * _weigh_bits(signs & sizes, masks)[0] - large
        products = _SMALL_LEVEL * small + (_LARGE_LEVEL - _SMALL_LEVEL) * more
        squares = len(query) * _SMALL_LEVEL**2 + count * (_LARGE_LEVEL**2 - _SMALL_LEVEL**2)
        return np.asarray(products * unit / np.sqrt(squares), np.float32)


def _weigh_bits(codes: Words, masks: Words) -> tuple[FloatArray, FloatArray]:
    """Return what the query's steps add up to over the bits set in each row, and how many are set."""
    count = _count_ones(codes)
    of_bits = _count_ones(codes & masks[:, :, np.newaxis])
    return np.einsum("bn,b->n", of_bits, _WORTH) - _ZERO * count, count


def _count_ones(codes: Words) -> FloatArray:
    """Return how many bits of each row are set, of words by rows or of several such."""
    return np.asarray(np.bitwise_count(codes).sum(axis=-2, dtype=np.uint16), np.float32)


def _hamming_distances(codes: Words, code: Words) -> NDArray[np.uint16]:
    """Return in how many bits each row of words by rows differs from a code."""
    distances: NDArray[np.uint16] = np.bitwise_count(codes[0] ^ code[0]).astype(np.uint16)
    for word in range(1, len(code)):
        distances += np.bitwise_count(codes[word] ^ code[word])
    return distances


def _nearest(distances: NDArray[np.uint16], possible: BoolArray, count: int) -> NDArray[np.int64]:
    """Return the possible positions of about the `count` smallest distances: no fewer, and at most twice as many."""
    sampled = distances[::SAMPLE_STEP][possible[::SAMPLE_STEP]]
    place = int(1.2 * count / SAMPLE_STEP) + 2
    if place < len(sampled):
        found = np.flatnonzero(distances <= np.partition(sampled, place)[place])
        found = found[possible[found]]
        if count <= len(found):
            return found if len(found) <= 2 * count else found[_find_smallest(distances[found], count)]
    keys = np.flatnonzero(possible)
    return keys[_find_smallest(distances[keys], count)]


def _find_smallest(distances: NDArray[np.uint16], count: int) -> NDArray[np.int64]:
    """Return the positions of the `count` smallest values."""
    if count >= len(distances):
        return np.arange(len(distances))
    return np.argpartition(distances, count - 1)[:count]
