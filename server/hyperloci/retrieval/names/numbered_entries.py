"""Numbered entries: a change that is told in a changelog, and the commits that bear its number.

Who asks why something changed often asks in the words of its entry in the changelog, which name the pull request or the
issue (`#1234`); the commit's own words may be others. The entry says what the question says, its number says which
commits: those are reasons too.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query, analyse_text
from hyperloci.system.values import dataclass

DOCUMENTS: Final = 10
"""Pieces of documents looked at for entries: those in which the question's words weigh most."""

LEAST_SHARE: Final = 0.6
"""Of the weight of the question's words, what an entry must hold to tell of the same change."""

MAX_NUMBERS: Final = 3
MAX_COMMITS: Final = 5
"""Numbers followed, of the entries that hold most; commits looked at of each."""

_NUMBER: Final = re.compile(r"(?:(?<![\w&])#|\bGH-|/(?:pull|issues)/)(\d{1,6})\b")
_ENTRY_START: Final = re.compile(r"\n(?=[ \t]*(?:[-*+•]|\d+[.)])[ \t]|[ \t]*\n|#)")


@dataclass(frozen=True, slots=True)
class _NumberedEntry:
    """What an entry shares with a question, 0..1, and the numbers that it names."""

    share: float
    numbers: tuple[str, ...]


def find_numbered_commits(store: Store, scopes: Sequence[str], query: str) -> dict[NodeKey, float]:
    """Return the commits that bear the number of an entry which says what a question says, with the entry's share."""
    terms = analyse_query(query)
    weights = _weigh_terms(store, terms)
    if not weights:
        return {}
    entries = sorted(_list_entries(store, scopes, terms, weights), key=lambda entry: -entry.share)
    shares: dict[str, float] = {}
    for entry in entries:
        for number in entry.numbers:
            shares.setdefault(number, entry.share)
    found: dict[NodeKey, float] = {}
    for number in list(shares)[:MAX_NUMBERS]:
        for key in _find_bearers(store, scopes, number):
            found.setdefault(key, shares[number])
    return found


def _weigh_terms(store: Store, terms: Sequence[str]) -> Mapping[str, float]:
    """Return how rare each term is, 1 for the commonest; nothing where none stands anywhere."""
    counts = store.keyword_search.count_frequencies(terms)
    most = max(counts.values(), default=0)
    # A word that stands nowhere is as rare as one that stands once: an entry that lacks it says less of the question.
    return {term: 1 + math.log(most / counts.get(term, 1)) for term in terms} if most else {}


def _list_entries(
    store: Store, scopes: Sequence[str], terms: Sequence[str], weights: Mapping[str, float]
) -> Iterator[_NumberedEntry]:
    allowed = store.filters.select_allowed(
        SearchFilter(scopes=tuple(scopes), types=("snippet",), subtypes=("markdown", "text"))
    )
    best = store.keyword_search.rank_by_bm25(terms, allowed, DOCUMENTS)
    whole = sum(weights.values())
    for node in store.nodes.get_by_keys(NodeKey(key) for key in best).values():
        for entry in _ENTRY_START.split(node.content):
            numbers = tuple(dict.fromkeys(_NUMBER.findall(entry)))
            if not numbers:
                continue
            share = sum(weights.get(term, 0.0) for term in set(analyse_text(entry))) / whole
            if share >= LEAST_SHARE:
                yield _NumberedEntry(share, numbers)


def _find_bearers(store: Store, scopes: Sequence[str], number: str) -> list[NodeKey]:
    """Return the commits whose message names a number, those first in which it weighs most."""
    allowed = store.filters.select_allowed(
        SearchFilter(scopes=tuple(scopes), types=("decision",), subtypes=("commit",))
    )
    best = store.keyword_search.rank_by_bm25([number], allowed, 4 * MAX_COMMITS)
    nodes = store.nodes.get_by_keys(NodeKey(key) for key in best)
    bearing = (key for key in map(NodeKey, best) if key in nodes and names_number(nodes[key].content, number))
    return list(itertools.islice(bearing, MAX_COMMITS))


def names_number(text: str, number: str) -> bool:
    """Return whether a text names the number of an issue or a pull request."""
    return any(match[1] == number for match in _NUMBER.finditer(text))
