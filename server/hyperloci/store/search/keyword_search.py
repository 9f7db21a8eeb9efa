"""Keyword search (E6): candidates by the terms they contain, ranked by BM25 over fields.

FTS5's own `bm25()` costs 1.5-2 microseconds a posting whatever the limit; here the postings of the rarest terms
are fetched as row ids, summed by inverse document frequency, and only the best few hundred are scored in full. Postings
that were read once are kept, and of what was written since only the new ones are read.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperloci.store.database.connection import is_snapshot_open
from hyperloci.store.database.meta import RESTORED_AT
from hyperloci.store.vectors.bits import BoolArray, parse_keys
from hyperloci.system.values import dataclass

SATURATION: Final = 1.2
LENGTH_NORMALISATION: Final = 0.75
"""BM25's usual saturation and length normalisation (Robertson & Zaragoza 2009)."""

TITLE_WEIGHT: Final = 2.0
EXTRA_WEIGHT: Final = 0.5
"""A term in the heading counts double, one in mere context half (docs/benchmarks/ranking.md, "Fusion", on turns)."""

POSTING_BUDGET: Final = 50_000
"""Postings fetched a query, rarest terms first. At 100,000 memories twice as many change one hit of the first ten in a
hundred and no first hit, for a seventh of a search's time; 30,000 change three in a hundred."""

ENOUGH: Final = 50
"""With fewer candidates than a page of results has, the postings of frequent terms are fetched despite the budget."""

RESCORED: Final = 200
"""Candidates scored in full. 400 find nothing more on any development set, 100 lose one answer of LoCoMo's."""

FEW_ALLOWED: Final = RESCORED / POSTING_BUDGET
"""Share of the memories below which a frequent term's newest postings no longer hold as many allowed ones as are
scored: the texts of those few are looked at instead. A search at a million memories, of which none is a document, took
66 ms of processor time while the postings of three frequent words were read to their end for a heading, and takes 16
(`python -m bench viewer`)."""

WHOLE_TERMS: Final = 4
"""From so many terms on a text that holds a query word for word is what the query quotes, and a perfect answer. Fewer
are a name or a turn of phrase, which many texts share."""

KEPT_TERMS: Final = 4_096
KEPT_POSTINGS: Final = 2_000_000
"""Terms and postings kept at once, four bytes a posting; what was used longest ago is given up."""


KeyArray = NDArray[np.integer[Any]]
"""Node keys."""

_SET_BITS: Final = 62
"""Terms that a number tells apart; of a longer question, terms so far from each other are looked for together."""


@dataclass(slots=True)
class _KeptPostings:
    """What was read of a term: how many nodes with keys up to `last` it stands in, and which, ascending, once asked."""

    last: int
    count: int
    keys: NDArray[np.int32] | None = None


class KeywordSearch:
    """Keyword queries over one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._kept: OrderedDict[str, _KeptPostings] = OrderedDict()
        self._size = 0
        self._of_state: tuple[int, int] | None = None
        self._sums = np.zeros(0, np.float32)

    def count_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many nodes each term stands; terms that are nowhere are left out."""
        counts = {term: kept.count for term, kept in self._load_terms(terms).items()}
        return {term: count for term, count in counts.items() if count}

    def prepare_query(
        self, terms: Sequence[str], allowed: BoolArray, *, quoted: Sequence[str] = ()
    ) -> KeywordQuery | None:
        """Look up a question's words; None if none of them stands anywhere.

        Args:
            terms: query terms (`analysis.analyse_search`).
            allowed: bitmap over node keys: which may be found.
            quoted: all its terms in order (`analysis.analyse_text`), if a text that holds it word for word is wanted.
        """
        frequencies = self.count_frequencies(terms)
        if not frequencies:
            return None
        total, average = self._collection_size()
        weights = {term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in frequencies.items()}
        postings = self._choose_postings(frequencies, allowed)
        if len(self._sums) < len(allowed):
            self._sums = np.zeros(len(allowed), np.float32)
        # Of terms with too many postings only the newest were read: any node may hold them.
        whole = {term: keys for term, keys in postings.items() if len(allowed) and frequencies[term] < POSTING_BUDGET}
        phrase = f" {' '.join(quoted)} " if len(terms) >= WHOLE_TERMS and quoted else ""
        return KeywordQuery(self._connection, weights, postings, whole, average, self._sums, phrase)

    def rank_by_bm25(self, terms: Sequence[str], allowed: BoolArray, limit: int) -> dict[int, float]:
        """Return the best of the allowed nodes for analysed terms with their BM25, best first, ties by key."""
        query = self.prepare_query(terms, allowed)
        return {} if query is None else query.rank_best(limit)

    def score_among(self, terms: Sequence[str], allowed: BoolArray, limit: int) -> dict[int, float]:
        """Return the BM25 of the newest allowed nodes, `limit` of them, that hold any of the terms, best first.

        For a small part of a large memory: nothing is read of the postings, which `rank_by_bm25` would go through to
        their end in search of what is allowed.
        """
        query = self.prepare_query(terms, np.zeros(0, np.bool_))
        scores = {} if query is None else query.score_bm25(np.flatnonzero(allowed)[-limit:].tolist())
        return {key: scores[key] for key in sorted(scores, key=lambda key: (-scores[key], key)) if scores[key] > 0}

    def _collection_size(self) -> tuple[int, float]:
        # The vocabulary's statistics count living and forgotten nodes alike, and so do these.
        nodes, terms = self._connection.execute("SELECT nodes, terms FROM keyword_totals").fetchone()
        return nodes, max(1.0, terms / max(1, nodes))

    # -- what is kept -------------------------------------------------------------------------------------------------

    def _load_terms(self, terms: Iterable[str]) -> Mapping[str, _KeptPostings]:
        """Return what is known of terms, brought up to date."""
        rewritten, restored, last = self._connection.execute(
            "SELECT rewritten, coalesce((SELECT value FROM meta WHERE name = ?), 0),"
            " coalesce((SELECT max(node_key) FROM keywords), 0) FROM keyword_totals",
            (RESTORED_AT,),
        ).fetchone()
        # Only what is seen in a snapshot belongs together; a write may be rolled back, and nothing would tell.
        if not is_snapshot_open(self._connection):
            return self._count_postings(dict.fromkeys(terms), last)
        state = (rewritten, int(restored))
        if state != self._of_state:
            self._kept.clear()
            self._size = 0
            self._of_state = state
        known = {term: self._kept[term] for term in terms if term in self._kept}
        for term, kept in known.items():
            self._kept.move_to_end(term)
            if kept.last < last:
                new = self._between(term, kept.last, last)
                kept.last, kept.count = last, kept.count + len(new)
                if kept.keys is not None:
                    kept.keys = np.concatenate([kept.keys, new])
                    self._size += len(new)
        found = self._count_postings([term for term in dict.fromkeys(terms) if term not in known], last)
        self._kept.update(found)
        self._evict_least_used()
        return {term: known.get(term) or found[term] for term in dict.fromkeys(terms)}

    def _count_postings(self, terms: Iterable[str], last: int) -> dict[str, _KeptPostings]:
        found = {term: _KeptPostings(last, 0) for term in terms}
        if not found:
            return {}
        rows = self._connection.execute(
            "SELECT v.term, v.doc FROM json_each(?) j CROSS JOIN keyword_vocabulary v ON v.term = j.value",
            (json.dumps(list(found)),),
        )
        for term, count in rows:
            found[term].count = count
        return found

    def _evict_least_used(self) -> None:
        while len(self._kept) > KEPT_TERMS or self._size > KEPT_POSTINGS:
            _, kept = self._kept.popitem(last=False)
            self._size -= 0 if kept.keys is None else len(kept.keys)

    def _between(self, term: str, after: int, last: int) -> NDArray[np.int32]:
        text = self._connection.execute(
            "SELECT group_concat(rowid) FROM keyword_index WHERE keyword_index MATCH ? AND rowid > ? AND rowid <= ?",
            (quote_term(term), after, last),
        ).fetchone()[0]
        return parse_keys(text).astype(np.int32)

    # -- candidates ---------------------------------------------------------------------------------------------------

    def _choose_postings(self, frequencies: Mapping[str, int], allowed: BoolArray) -> dict[str, KeyArray]:
        """Return the allowed nodes of each term, rarest terms first, as many terms as the budget allows."""
        postings: dict[str, KeyArray] = {}
        found = spent = 0
        few = np.flatnonzero(allowed) if np.count_nonzero(allowed) <= FEW_ALLOWED * len(allowed) else None
        texts: dict[int, str] | None = None
        for term in sorted(frequencies, key=lambda term: (frequencies[term], term)):
            if found >= ENOUGH and spent + frequencies[term] > POSTING_BUDGET:
                break
            if frequencies[term] < POSTING_BUDGET:
                keys = self._all_postings(term, len(allowed) - 1)
                postings[term] = keys[allowed[keys]]
            elif few is not None:
                texts = self._load_texts(few) if texts is None else texts
                holders = [key for key, text in texts.items() if f" {term} " in text]
                postings[term] = np.array(holders, np.int64)
            else:
                postings[term] = self._newest_postings(term, allowed)
            spent += frequencies[term]
            found += len(postings[term])
        return postings

    def _all_postings(self, term: str, last: int) -> NDArray[np.int32]:
        """Return the nodes with a term and keys up to `last`, ascending."""
        kept = self._kept.get(term)
        if kept is None or not is_snapshot_open(self._connection):
            return self._between(term, 0, last)
        if kept.keys is None:
            kept.keys = self._between(term, 0, kept.last)
            self._size += len(kept.keys)
        return kept.keys[: np.searchsorted(kept.keys, last, side="right")]

    def _load_texts(self, keys: KeyArray) -> dict[int, str]:
        """Return the terms of nodes, all fields in one, with a space on both sides of each."""
        rows = self._connection.execute(
            "SELECT k.node_key, ' ' || k.title || ' ' || k.body || ' ' || k.extra || ' ' FROM json_each(?) j"
            " CROSS JOIN keywords k ON k.node_key = j.value",
            (json.dumps(keys.tolist()),),
        )
        return {int(key): text for key, text in rows}

    def _newest_postings(self, term: str, allowed: BoolArray) -> NDArray[np.int64]:
        """Return the newest allowed nodes with a frequent term, as many as are scored if there are."""
        found: list[NDArray[np.int64]] = []
        below = len(allowed)
        while True:
            text = self._connection.execute(
                "SELECT group_concat(rowid) FROM (SELECT rowid FROM keyword_index WHERE keyword_index MATCH ?"
                " AND rowid < ? ORDER BY rowid DESC LIMIT ?)",
                (quote_term(term), below, POSTING_BUDGET),
            ).fetchone()[0]
            keys = parse_keys(text)
            found.append(keys[allowed[keys]])
            if len(keys) < POSTING_BUDGET or sum(map(len, found)) >= RESCORED:
                return np.concatenate(found)
            below = int(keys.min())


class KeywordQuery:
    """A question's words in one state of the database.

    Attributes:
        weights: inverse document frequency of the words that stand anywhere.
        ceiling: the score that no document exceeds.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        weights: Mapping[str, float],
        postings: Mapping[str, KeyArray],
        whole: Mapping[str, KeyArray],
        average: float,
        sums: NDArray[np.float32],
        phrase: str = "",
    ) -> None:
        self.ceiling = (SATURATION + 1) * sum(weights.values())
        self._connection = connection
        self.weights = weights
        self._postings = postings
        self._whole = whole
        self._average = average
        self._sums = sums
        self._phrase = phrase
        self._scored: dict[int, float] = {}

    def find_likely(self, limit: int) -> KeyArray:
        """Return the nodes whose terms weigh most together; ties go to the newest, the largest key."""
        # One number a node, all zeros between two searches: to look for what isn't zero would cost more than to add up.
        sums = self._sums
        parts = []
        try:
            for term, keys in self._postings.items():
                before = sums[keys]
                parts.append(keys[before == 0.0])
                sums[keys] = before + np.float32(self.weights[term])
            found = np.concatenate(parts)
            values = sums[found]
        finally:
            for keys in self._postings.values():
                sums[keys] = 0.0
        if len(found) <= limit:
            return found
        likely = np.flatnonzero(values >= np.partition(values, len(values) - limit)[len(values) - limit])
        return found[likely[np.lexsort((-found[likely], -values[likely]))[:limit]]]

    def rank_best(self, limit: int, *, also: Iterable[int] = ()) -> dict[int, float]:
        """Return the BM25 of the best nodes, best first, ties by key.

        Args:
            limit: how many at most.
            also: nodes to score whether or not they are among the best; what they lack scores 0.
        """
        among = {int(key) for key in also}
        scored = self.score_bm25(among.union(self.find_likely(max(RESCORED, limit)).tolist()))
        best = sorted(scored.items(), key=lambda item: (-item[1], item[0]))
        return {key: score for rank, (key, score) in enumerate(best) if rank < limit or key in among}

    def rank_nodes(self, keys: Iterable[int]) -> list[int]:
        """Return nodes by their BM25, best first, ties by key."""
        scored = self.score_bm25(keys)
        return sorted(scored, key=lambda key: (-scored[key], key))

    def upper_bounds(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a score that a node does not exceed, as if it said its terms and nothing else, for keys ascending."""
        bounds = np.zeros(len(keys))
        for term, weight in self.weights.items():
            bounds += self._holds_term(keys, term) * ((SATURATION + 1) * weight)
        return bounds

    def score_bm25(self, keys: Iterable[int]) -> dict[int, float]:
        """Return the BM25 of nodes; of one that holds the whole query word for word, the score that none exceeds."""
        asked = frozenset(keys)  # What has no vector yet is asked for twice: to be chosen, and once it is.
        # Not np.union1d and the like, which load numpy.ma: a hook would wait for it.
        wanted = np.array(sorted(asked - self._scored.keys()), np.int64)
        terms = [_SpacedTerm.from_term(term, weight) for term, weight in self.weights.items()]
        # A number a set of terms: many nodes hold the same few.
        sets = np.zeros(len(wanted), np.int64)
        for place, term in enumerate(self.weights):
            sets |= self._holds_term(wanted, term).astype(np.int64) << (place % _SET_BITS)
        of_set = {
            number: [term for place, term in enumerate(terms) if number >> (place % _SET_BITS) & 1]
            for number in set(sets.tolist())
        }
        set_of = dict(zip(wanted.tolist(), sets.tolist(), strict=True))
        cursor = self._connection.cursor()
        cursor.row_factory = None
        rows = cursor.execute(
            "SELECT k.node_key, k.title, k.body, k.extra, k.length FROM json_each(?) j"
            " CROSS JOIN keywords k ON k.node_key = j.value",
            (json.dumps([key for key, number in set_of.items() if number]),),
        )
        short, slope = SATURATION * (1 - LENGTH_NORMALISATION), SATURATION * LENGTH_NORMALISATION / self._average
        scores = {key: 0.0 for key, number in set_of.items() if not number}
        for key, title, body, extra, length in rows:
            if self._phrase and (self._phrase in f" {body} " or self._phrase in f" {title} "):
                scores[key] = self.ceiling
            else:
                scores[key] = _bm25(title, body, extra, of_set[set_of[key]], short + slope * length)
        self._scored |= scores
        return {key: self._scored[key] for key in sorted(asked) if key in self._scored}

    def _holds_term(self, keys: NDArray[np.int64], term: str) -> BoolArray:
        """Return which keys, ascending, are among a term's nodes, all of them if that isn't known."""
        holders = self._whole.get(term)
        if holders is None:
            return np.ones(len(keys), np.bool_)
        if not len(holders):
            return np.zeros(len(keys), np.bool_)
        places = np.searchsorted(holders, keys)
        places[places == len(holders)] = 0
        return np.asarray(holders[places] == keys)


class _SpacedTerm(NamedTuple):
    """A term with a space on both sides, two of it side by side, and its inverse document frequency."""

    spaced: str
    twice: str
    weight: float

    @classmethod
    def from_term(cls, term: str, weight: float) -> _SpacedTerm:
        return cls(f" {term} ", f" {term} {term} ", weight)


def _bm25(title: str, body: str, extra: str, terms: Iterable[_SpacedTerm], norm: float) -> float:
    spaced_body, spaced_title, spaced_extra = f" {body} ", title and f" {title} ", extra and f" {extra} "
    score = 0.0
    for term, twice, rarity in terms:
        count: float = spaced_body.count(term)
        # Side by side two share a space, and the second one isn't counted.
        if count and twice in spaced_body:
            count = _count_occurrences(spaced_body, term)
        # Headings and context are short or empty: to look costs less than to count.
        if term in spaced_title:
            count += TITLE_WEIGHT * _count_occurrences(spaced_title, term)
        if term in spaced_extra:
            count += EXTRA_WEIGHT * _count_occurrences(spaced_extra, term)
        if count:
            score += rarity * count * (SATURATION + 1) / (count + norm)
    return score


def _count_occurrences(text: str, spaced: str) -> int:
    """Return how often a term stands in a text, both with spaces on either side."""
    return text.replace(" ", "  ").count(spaced)


def quote_term(term: str) -> str:
    """Return an FTS5 string that matches exactly this term, whatever is in it."""
    return '"' + term.replace('"', '""') + '"'
