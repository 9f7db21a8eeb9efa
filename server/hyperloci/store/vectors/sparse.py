"""Sparse spaces: weighted terms of memories, and an inverted index over them.

A term's postings lie in blobs of 8,192 node keys, three bytes each, and are added to the scores of all memories by
numpy: no row of Python is made for a posting. Weights are kept in steps of 1/64.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.kinds import NodeKey
from hyperloci.store.database.connection import is_snapshot_open
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.vectors.bits import BoolArray, FloatArray
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from hyperloci.system.values import dataclass

STEP: Final = 1 / 64
"""A weight's unit: the largest, 255 steps, is 3.98; BM25's saturate at 2.2 and SPLADE's at about 3.5."""

MAX_POSTINGS: Final = 100_000
"""Postings that a query reads, rarest terms first: some 2 ms. At 50,000 memories that is every term of nearly every
question; the commonest terms of a million say least, and E13 brings only what E1 and E6 have missed."""

_DOC: Final = np.dtype([("term", "<u4"), ("weight", "u1")])
_POSTING: Final = np.dtype([("slot", "<u2"), ("weight", "u1")])
assert _DOC.itemsize == 5 and _POSTING.itemsize == 3


KEPT_POSTINGS: Final = 2_000_000
"""Postings kept at once, five bytes each; of the terms that were asked for longest ago the first are given up."""


@dataclass(frozen=True, slots=True)
class _StoredTerm:
    """A term of a query that the memory has; `version` is another after every change of its postings."""

    key: int
    weight: float
    postings: int
    version: int


@dataclass(frozen=True, slots=True)
class _TermPostings:
    """A term's memories and their weights in steps, as they were at a version; the largest of both."""

    version: int
    places: NDArray[np.int32]
    steps: NDArray[np.uint8]
    last: int
    heaviest: int


@dataclass(frozen=True, slots=True)
class _SparseScores:
    """Scores by memory, those that aren't 0 once each among `found`."""

    scores: FloatArray
    found: NDArray[np.int32]


class SparseIndex:
    """The sparse spaces of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._last: tuple[tuple[object, ...], _SparseScores] | None = None
        self._kept: OrderedDict[int, _TermPostings] = OrderedDict()
        self._size = 0

    def put_terms(self, space: str, memories: Mapping[NodeKey, Mapping[str, float]]) -> None:
        """Store the terms of memories, replacing what was there; weights below half a step are left out."""
        self._delete_terms(memories, space)
        keys = self._ensure_terms(space, {term for terms in memories.values() for term in terms})
        postings: dict[tuple[int, int], bytearray] = {}
        for node, terms in memories.items():
            records = _make_records({keys[term]: weight for term, weight in terms.items() if term in keys})
            self._connection.execute(
                "INSERT INTO sparse_docs(node_key, space, terms) VALUES (?, ?, ?)", (node, space, records.tobytes())
            )
            _add_postings(postings, int(node), records)
        self._append_postings(postings)
        self._drop_unused_terms(list(keys.values()))

    def drop_memories(self, keys: Iterable[int]) -> None:
        """Take memories out of every sparse space; terms that only they had are forgotten."""
        self._delete_terms(list(keys), None)

    def find_best(
        self, space: str, weights: Mapping[str, float], allowed: BoolArray, k: int, *, by_rarity: bool = True
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the memories whose terms answer best and their scores, best first, ties by key.

        Args:
            space: a sparse space.
            weights: the question's weight by term.
            allowed: bitmap over node keys: which may be returned.
            k: how many at most.
            by_rarity: whether a term's rarity in the memory counts as a factor more (BM25's idf).

        Returns:
            Keys and scores, 0..1: the share of what a memory would have that had every term of the question at the
            largest weight that any memory has it.
        """
        scored = self._score_all(space, weights, by_rarity=by_rarity)
        found = scored.found[scored.found < len(allowed)]
        found = found[allowed[found]]
        scores = scored.scores[found]
        if len(found) > k:
            likely = np.flatnonzero(scores >= np.partition(scores, len(found) - k)[len(found) - k])
            found, scores = found[likely], scores[likely]
        order = np.lexsort((found, -scores))[:k]
        return found[order].astype(np.int64), scores[order]

    def score_memories(
        self, space: str, weights: Mapping[str, float], keys: Sequence[int], *, by_rarity: bool = True
    ) -> FloatArray:
        """Return the scores of some memories as `find_best` gives them; 0 for one with none of the terms."""
        found = self._score_all(space, weights, by_rarity=by_rarity).scores
        wanted = np.array([int(key) for key in keys], np.int64)
        inside = wanted < len(found)
        scores = np.zeros(len(wanted), np.float32)
        scores[inside] = found[wanted[inside]]
        return scores

    def get_terms(self, space: str, key: int) -> dict[str, float]:
        """Return a memory's terms with their weights, heaviest first."""
        row = self._connection.execute(
            "SELECT terms FROM sparse_docs WHERE node_key = ? AND space = ?", (int(key), space)
        ).fetchone()
        if row is None:
            return {}
        weights = {int(term): float(weight) * STEP for term, weight in np.frombuffer(row[0], _DOC).tolist()}
        names = self._connection.execute(
            "SELECT key, term FROM sparse_terms WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(weights)),),
        )
        found = {term: weights[term_key] for term_key, term in names}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def differs_from_terms(self) -> bool:
        """Tell whether the inverted index differs from the memories' terms: by sums of hashes, one pass over each."""
        docs = self._connection.execute("SELECT node_key, terms FROM sparse_docs")
        postings = self._connection.execute("SELECT term_key, block, postings FROM sparse_postings")
        try:
            return _sum_of_docs(docs) != _sum_of_postings(postings)
        except (ValueError, TypeError):  # No blob, or one of another length than whole records have.
            return True

    def rebuild_postings(self) -> None:
        """Make the inverted index anew from the memories' terms."""
        self._connection.execute("DELETE FROM sparse_postings")
        self._connection.execute("UPDATE sparse_terms SET postings = 0")
        first, last = self._connection.execute("SELECT min(node_key), max(node_key) FROM sparse_docs").fetchone()
        for block in range((first or 0) // BLOCK_ROWS, (last or -1) // BLOCK_ROWS + 1):
            postings: dict[tuple[int, int], bytearray] = {}
            for key, terms in self._connection.execute(
                "SELECT node_key, terms FROM sparse_docs WHERE node_key >= ? AND node_key < ?",
                (block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS),
            ):
                whole = len(terms) - len(terms) % _DOC.itemsize
                _add_postings(postings, key, np.frombuffer(terms[:whole], _DOC))
            self._append_postings(postings)
        self._connection.execute("DELETE FROM sparse_terms WHERE key NOT IN (SELECT term_key FROM sparse_postings)")

    # -- reading ------------------------------------------------------------------------------------------------------

    def _score_all(self, space: str, weights: Mapping[str, float], *, by_rarity: bool) -> _SparseScores:
        """Return every memory's score. A search asks twice, who is near and how near others are: the last is kept."""
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        asked = (space, tuple(weights.items()), by_rarity, version, self._connection.total_changes)
        writing = self._connection.in_transaction and not is_snapshot_open(self._connection)
        if self._last is None or self._last[0] != asked or writing:
            scores = self._add_up_scores(space, weights, by_rarity=by_rarity)
            self._last = None if writing else (asked, scores)
            return scores
        return self._last[1]

    def _add_up_scores(self, space: str, weights: Mapping[str, float], *, by_rarity: bool) -> _SparseScores:
        read = [
            (term.weight, self._read_postings(term))
            for term in self._find_query_terms(space, weights, by_rarity=by_rarity)
        ]
        best = sum(weight * postings.heaviest for weight, postings in read) or 1.0
        last = max((postings.last for _, postings in read), default=-1)
        scores = np.zeros(last + 1, np.float32)
        found = [np.empty(0, np.int32)]
        for weight, postings in read:
            before = scores[postings.places]
            found.append(postings.places[before == 0])
            scores[postings.places] = before + postings.steps * np.float32(weight / best)
        return _SparseScores(scores, np.concatenate(found))

    def _read_postings(self, term: _StoredTerm) -> _TermPostings:
        # Only what is seen in a snapshot belongs together, a version and its postings; a write may be rolled back.
        if not is_snapshot_open(self._connection):
            return self._load_postings(term)
        kept = self._kept.pop(term.key, None)
        self._size -= 0 if kept is None else len(kept.places)
        if kept is None or kept.version != term.version:
            kept = self._load_postings(term)
        self._kept[term.key] = kept
        self._size += len(kept.places)
        while self._size > KEPT_POSTINGS:
            self._size -= len(self._kept.popitem(last=False)[1].places)
        return kept

    def _load_postings(self, term: _StoredTerm) -> _TermPostings:
        cursor = self._connection.cursor()
        cursor.row_factory = None
        rows = cursor.execute("SELECT block, postings FROM sparse_postings WHERE term_key = ?", (term.key,)).fetchall()
        # All blocks of a term at once: at a million memories they are 120, and numpy's calls would cost more than the
        # postings.
        postings = np.frombuffer(b"".join(blob for _, blob in rows), _POSTING)
        counts = [len(blob) // _POSTING.itemsize for _, blob in rows]
        starts = np.repeat(np.array([block * BLOCK_ROWS for block, _ in rows], np.int32), counts)
        places, steps = starts + postings["slot"], np.ascontiguousarray(postings["weight"])
        return _TermPostings(term.version, places, steps, int(places.max(initial=-1)), int(steps.max(initial=0)))

    def _find_query_terms(self, space: str, weights: Mapping[str, float], *, by_rarity: bool) -> list[_StoredTerm]:
        """Return the query's terms that the memory has, rarest first, as many as the budget of postings allows."""
        rows = self._connection.execute(
            "SELECT t.key, t.term, t.postings, t.version FROM json_each(?1) j"
            " CROSS JOIN sparse_terms t ON t.space = ?2 AND t.term = j.value",
            (json.dumps([term for term, weight in weights.items() if weight > 0]), space),
        ).fetchall()
        memories = int(self._connection.execute("SELECT nodes FROM keyword_totals").fetchone()[0])
        found: list[_StoredTerm] = []
        for key, term, count, version in rows:
            rarity = np.log1p((max(memories, count) - count + 0.5) / (count + 0.5)) if by_rarity else 1.0
            found.append(_StoredTerm(key, weights[term] * float(rarity), count, version))
        found.sort(key=lambda term: (term.postings, term.key))
        read = np.cumsum([term.postings for term in found])
        return [term for term, sofar in zip(found, read, strict=True) if sofar <= MAX_POSTINGS or term is found[0]]

    # -- writing ------------------------------------------------------------------------------------------------------

    def _ensure_terms(self, space: str, terms: Iterable[str]) -> dict[str, int]:
        # SQLite's JSON ends a text at a zero byte; no analysis or vocabulary makes such a term.
        wanted = sorted(term for term in terms if "\0" not in term)
        self._connection.executemany(
            "INSERT OR IGNORE INTO sparse_terms(space, term) VALUES (?, ?)", [(space, term) for term in wanted]
        )
        rows = self._connection.execute(
            # In this order: the planner takes the space's share of the index for small, and reads all of it each time.
            "SELECT t.term, t.key FROM json_each(?1) j CROSS JOIN sparse_terms t ON t.space = ?2 AND t.term = j.value",
            (json.dumps(wanted), space),
        )
        return {row[0]: int(row[1]) for row in rows}

    def _append_postings(self, postings: Mapping[tuple[int, int], bytearray]) -> None:
        self._connection.executemany(
            # `||` makes a text of two blobs, and of their zero bytes its end; the cast takes the bytes as they are.
            "INSERT INTO sparse_postings(term_key, block, postings) VALUES (?, ?, ?)"
            " ON CONFLICT(term_key, block) DO UPDATE SET postings = CAST(postings || excluded.postings AS BLOB)",
            [(term, block, bytes(records)) for (term, block), records in postings.items()],
        )

    def _delete_terms(self, keys: Iterable[int], space: str | None) -> None:
        docs = self._connection.execute(
            "SELECT node_key, terms FROM sparse_docs WHERE node_key IN (SELECT value FROM json_each(?1))"
            " AND (?2 IS NULL OR space = ?2)",
            (encode_keys(keys), space),
        ).fetchall()
        gone: dict[tuple[int, int], set[int]] = {}
        for key, terms in docs:
            block, slot = divmod(key, BLOCK_ROWS)
            for term in np.frombuffer(terms, _DOC)["term"].tolist():
                gone.setdefault((term, block), set()).add(slot)
        for (term, block), slots in gone.items():
            self._cut_postings(term, block, slots)
        self._connection.executemany(
            "DELETE FROM sparse_docs WHERE node_key = ?1 AND (?2 IS NULL OR space = ?2)",
            [(doc[0], space) for doc in docs],
        )
        self._drop_unused_terms(sorted({term for term, _ in gone}))

    def _cut_postings(self, term: int, block: int, slots: set[int]) -> None:
        place = (term, block)
        row = self._connection.execute(
            "SELECT postings FROM sparse_postings WHERE term_key = ? AND block = ?", place
        ).fetchone()
        if row is None:
            return
        found = np.frombuffer(row[0], _POSTING)
        left = found[~np.isin(found["slot"], list(slots))]
        if len(left):
            self._connection.execute(
                "UPDATE sparse_postings SET postings = ? WHERE term_key = ? AND block = ?", (left.tobytes(), *place)
            )
        else:
            self._connection.execute("DELETE FROM sparse_postings WHERE term_key = ? AND block = ?", place)

    def _drop_unused_terms(self, terms: Sequence[int]) -> None:
        self._connection.execute(
            "DELETE FROM sparse_terms WHERE key IN (SELECT value FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM sparse_postings p WHERE p.term_key = sparse_terms.key)",
            (json.dumps(list(terms)),),
        )


def _make_records(weights: Mapping[int, float]) -> NDArray[np.void]:
    """Return terms and weights as stored, by term; what rounds to nothing is left out."""
    steps = {term: min(255, round(weight / STEP)) for term, weight in sorted(weights.items())}
    return np.array([(term, step) for term, step in steps.items() if step > 0], _DOC)


def _add_postings(postings: dict[tuple[int, int], bytearray], key: int, records: NDArray[np.void]) -> None:
    block, slot = divmod(key, BLOCK_ROWS)
    for term, weight in records.tolist():
        postings.setdefault((term, block), bytearray()).extend((slot & 0xFF, slot >> 8, weight))


_MIX: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))
_SHIFT: Final = np.uint64(29)


def _sum_hashes(terms: NDArray[np.uint64], keys: NDArray[np.uint64], weights: NDArray[np.uint64]) -> int:
    """Return the sum of a hash of every (term, memory, weight), whatever their order."""
    mixed = terms * _MIX[0] + keys * _MIX[1] + weights * _MIX[2]
    mixed ^= mixed >> _SHIFT
    return int((mixed * _MIX[1]).sum(dtype=np.uint64))


def _sum_of_docs(rows: Iterable[tuple[int, bytes]]) -> int:
    total = 0
    for key, blob in rows:
        found = np.frombuffer(blob, _DOC)
        keys = np.full(len(found), key, np.uint64)
        total += _sum_hashes(found["term"].astype(np.uint64), keys, found["weight"].astype(np.uint64))
    return total % 2**64


def _sum_of_postings(rows: Iterable[tuple[int, int, bytes]]) -> int:
    total = 0
    for term, block, blob in rows:
        found = np.frombuffer(blob, _POSTING)
        keys = found["slot"].astype(np.uint64) + np.uint64(block * BLOCK_ROWS)
        terms = np.full(len(found), term, np.uint64)
        total += _sum_hashes(terms, keys, found["weight"].astype(np.uint64))
    return total % 2**64
