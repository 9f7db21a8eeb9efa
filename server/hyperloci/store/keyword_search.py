"""Reading the keyword index: candidates by which terms they hold, ranked by BM25 over fields.

FTS5's own `bm25()` costs 1.5-2 microseconds a posting whatever the limit; here the postings of the rarest terms are
fetched as row ids, summed by inverse document frequency, and only the best few hundred are scored in full.
"""

from __future__ import annotations

import itertools
import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperloci.store.connection import is_reading
from hyperloci.store.filters import BoolArray, key_array

K1: Final = 1.2
B: Final = 0.75
"""BM25's usual saturation and length normalisation (Robertson & Zaragoza 2009)."""

TITLE_WEIGHT: Final = 2.0
EXTRA_WEIGHT: Final = 0.5
"""A term in the heading counts double, one in mere context half (docs/benchmarks.md, "Fusion", on turns)."""

POSTING_BUDGET: Final = 50_000
"""Postings fetched a query, rarest terms first. At 100,000 memories twice as many change one hit of the first ten in a
hundred and no first hit, for a seventh of a search's time; 30,000 change three in a hundred."""

ENOUGH: Final = 50
"""With fewer candidates than a page of results has, the postings of frequent terms are fetched despite the budget."""

RESCORED: Final = 200
"""Candidates scored in full. 400 find nothing more on any development set, 100 lose one answer of LoCoMo's."""


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """Nodes by BM25 score, best first, and the score that no document exceeds for the query."""

    scores: dict[int, float]
    ceiling: float


class KeywordSearch:
    """Keyword queries over one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # A search asks twice for the same terms.
        self._counted: tuple[tuple[object, ...], dict[str, int]] | None = None

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many nodes each term stands; terms that are nowhere are left out."""
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        asked = (tuple(terms), version, self._connection.total_changes)
        # Inside a write, what is counted may be rolled back.
        writing = self._connection.in_transaction and not is_reading(self._connection)
        if self._counted is None or self._counted[0] != asked or writing:
            rows = self._connection.execute(
                "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN keyword_vocabulary v ON v.term = j.value",
                (json.dumps(list(terms)),),
            )
            counted = {row[0]: row[1] for row in rows}
            self._counted = None if writing else (asked, counted)
            return counted
        return dict(self._counted[1])

    def search(self, terms: Sequence[str], allowed: BoolArray, limit: int, *, also: Iterable[int] = ()) -> KeywordHits:
        """Return the best nodes among the allowed ones, ties by key.

        Args:
            terms: analysed query terms (`analysis.query_terms`).
            allowed: bitmap over node keys.
            limit: how many at most.
            also: nodes to score whether or not they are among the best; what they lack scores 0.
        """
        frequencies = self.frequencies(terms)
        if not frequencies:
            return KeywordHits({}, 1.0)
        total, average = self._collection()
        weights = {term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in frequencies.items()}
        postings = self._postings_of(frequencies, allowed, max(RESCORED, limit))
        keys = _most_promising(postings, weights, len(allowed), max(RESCORED, limit))
        among = {int(key) for key in also}
        # Not np.union1d, which loads numpy.ma: a hook would wait for it.
        wanted = np.array(sorted(among.union(keys.tolist())), np.int64)
        # Of terms with too many postings only the newest were read: any node may hold them.
        whole = {term: found for term, found in postings.items() if frequencies[term] < POSTING_BUDGET}
        scored = self._scores(wanted, weights, whole, average)
        best = sorted(scored, key=lambda item: (-item[1], item[0]))
        kept = {key: score for rank, (key, score) in enumerate(best) if rank < limit or key in among}
        return KeywordHits(kept, (K1 + 1) * sum(weights.values()))

    def _collection(self) -> tuple[int, float]:
        # The vocabulary's statistics count living and forgotten nodes alike, and so do these.
        nodes, terms = self._connection.execute("SELECT nodes, terms FROM keyword_totals").fetchone()
        return nodes, max(1.0, terms / max(1, nodes))

    def _postings_of(
        self, frequencies: dict[str, int], allowed: BoolArray, enough: int
    ) -> dict[str, NDArray[np.int64]]:
        """Return the allowed nodes of each term, rarest terms first, as many terms as the budget allows."""
        postings: dict[str, NDArray[np.int64]] = {}
        found = spent = 0
        for term in sorted(frequencies, key=lambda term: (frequencies[term], term)):
            if found >= ENOUGH and spent + frequencies[term] > POSTING_BUDGET:
                break
            postings[term] = self._allowed_postings(term, allowed, enough)
            spent += frequencies[term]
            found += len(postings[term])
        return postings

    def _allowed_postings(self, term: str, allowed: BoolArray, enough: int) -> NDArray[np.int64]:
        """Return allowed nodes with a term: all of them, or the newest `enough` and more if there are very many."""
        found: list[NDArray[np.int64]] = []
        below = len(allowed)
        while True:
            keys = self._postings(term, below)
            found.append(keys[allowed[keys]])
            if len(keys) < POSTING_BUDGET or sum(map(len, found)) >= enough:
                return np.concatenate(found)
            below = int(keys.min())

    def _postings(self, term: str, below: int) -> NDArray[np.int64]:
        text = self._connection.execute(
            "SELECT group_concat(rowid) FROM (SELECT rowid FROM keyword_index WHERE keyword_index MATCH ?"
            " AND rowid < ? ORDER BY rowid DESC LIMIT ?)",
            (quote(term), below, POSTING_BUDGET),
        ).fetchone()[0]
        return key_array(text)

    def _scores(
        self,
        keys: NDArray[np.int64],
        weights: dict[str, float],
        postings: Mapping[str, NDArray[np.int64]],
        average: float,
    ) -> list[tuple[int, float]]:
        terms = [_Term(f" {term} ", weight) for term, weight in weights.items()]
        held = np.stack([_held(keys, postings.get(term)) for term in weights], axis=1)
        some = held.any(axis=1)
        present = {
            key: list(itertools.compress(terms, row)) for key, row in zip(keys[some].tolist(), held[some], strict=True)
        }
        rows = self._connection.execute(
            "SELECT k.node_key, k.title, k.body, k.extra, k.length FROM json_each(?) j"
            " JOIN keywords k ON k.node_key = j.value",
            (json.dumps(list(present)),),
        )
        return [
            *((row[0], _bm25(row, present[row[0]], average)) for row in rows),
            *((key, 0.0) for key in keys[~some].tolist()),
        ]


class _Term(NamedTuple):
    """A term with a space on both sides, and its inverse document frequency."""

    spaced: str
    weight: float


def _most_promising(
    postings: Mapping[str, NDArray[np.int64]], weights: Mapping[str, float], size: int, limit: int
) -> NDArray[np.int64]:
    """Return the nodes whose terms weigh most together; ties go to the newest, the largest key."""
    # One number a node: at a million nodes a tenth of the time that sorting the postings takes.
    presence = np.zeros(size)
    for term, keys in postings.items():
        presence[keys] += weights[term]
    found = np.flatnonzero(presence)
    if len(found) <= limit:
        return found
    values = presence[found]
    cut = np.partition(values, len(values) - limit)[len(values) - limit]
    found = found[values >= cut]
    best: NDArray[np.int64] = found[np.lexsort((-found, -presence[found]))[:limit]]
    return best


def _held(keys: NDArray[np.int64], holders: NDArray[np.int64] | None) -> BoolArray:
    """Return which keys are among a term's, all of them if that isn't known."""
    if holders is None or not len(keys):
        return np.ones(len(keys), np.bool_)
    marked = np.zeros(int(max(keys.max(), holders.max(initial=0))) + 1, np.bool_)
    marked[holders] = True
    return marked[keys]


def _bm25(row: sqlite3.Row, terms: Iterable[_Term], average: float) -> float:
    norm = K1 * (1 - B + B * float(row[4]) / average)
    title, body, extra = (f" {text} " if text else "" for text in (row[1], row[2], row[3]))
    score = 0.0
    for term, rarity in terms:
        count: float = _count(body, term)
        # Headings and context are short or empty: to look costs less than to count.
        if term in title:
            count += TITLE_WEIGHT * _count(title, term)
        if term in extra:
            count += EXTRA_WEIGHT * _count(extra, term)
        if count:
            score += rarity * count * (K1 + 1) / (count + norm)
    return score


def _count(text: str, spaced: str) -> int:
    """Return how often a term stands in a text, both with spaces on either side."""
    found = text.count(spaced)
    # Side by side they share a space, and the second one isn't seen.
    return text.replace(" ", "  ").count(spaced) if found and spaced + spaced[1:] in text else found


def quote(term: str) -> str:
    """Return an FTS5 string that matches exactly this term, whatever is in it."""
    return '"' + term.replace('"', '""') + '"'
