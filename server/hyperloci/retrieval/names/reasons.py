"""Reasons: why code is as it is: the commits that changed it, and what was decided or tried that names it or them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from hyperloci.knowledge.names.named_thing import NamedThing, ThingKind
from hyperloci.knowledge.names.written_names import find_use
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.store.memories.edges import StoredChange
from hyperloci.text.chunking.programming_languages import is_test_path

NAMING_CANDIDATES: Final = 30
"""Commits and facts with the right word that are looked at: of more, those in which it weighs most."""

MAX_TOLD: Final = 20
TELLING_COMMITS: Final = 3
"""Commits by whose hash decisions are looked for."""

NAMED_IN_SUBJECT: Final = 2.0
NAMED: Final = 1.0
BEGINNING: Final = 1.0
"""Of the commit with which a thing began: who asks why it is there means that one."""

SHARED: Final = 1.5
"""Of a commit that shares all the words of the question."""

FOCUS: Final = 3.0
"""Symbols changed at once by which a commit tells half as much of each."""

MIN_SHARED: Final = 0.3
"""Share of a question's words, weighed by how rare they are, that a commit must hold to be about it."""

CLOSENESS: Final = 0.3
"""What it adds that a commit changed little else."""

CHANGED: Final = "\n\nChanged: "
"""Before the names of a commit's files, which are no part of what it says (`indexing.commits.commit_reader`)."""

SHORT_HASH: Final = 7


def find_told(
    store: Store, scopes: Sequence[str], thing: NamedThing, name: str, commits: Sequence[NodeKey]
) -> list[NodeKey]:
    """Return decisions, facts and dead ends that are tied to a thing, name it, or name a commit that changed it."""
    hashes = [sha[:SHORT_HASH] for sha in store.files.get_commits(commits[:TELLING_COMMITS]).values()]
    words = [name.rpartition(".")[2], *hashes]
    told = _find_naming(store, scopes, words, TOLD_TYPES, TOLD_SUBTYPES)
    scope_keys = [key for scope in scopes if (key := store.scopes.find_key(scope)) is not None]
    symbol = thing.name if thing.kind is ThingKind.SYMBOL else None
    tied = (
        [key for scope in scope_keys for key in store.positions.list_anchored(scope, thing.path, symbol)]
        if thing.path is not None and thing.kind in (ThingKind.SYMBOL, ThingKind.FILE)
        else []
    )
    standing = store.nodes.get_by_keys(tied)
    living = [key for key in tied if standing[key].deleted_at is None and standing[key].valid_until is None]
    return list(dict.fromkeys((*living, *(node.key for node in told))))[:MAX_TOLD]


def rank_commits(
    store: Store, scopes: Sequence[str], thing: NamedThing, name: str, terms: Collection[str]
) -> list[NodeKey]:
    """Return the commits that changed a thing or name it, those first that tell most about it.

    Args:
        store: the open store.
        scopes: whose commits.
        thing: what is asked about.
        name: as the question has it.
        terms: the question's content words.
    """
    tail = name.rpartition(".")[2]
    changes = {change.commit: change for change in store.edges.list_changes(thing.keys, scopes)}
    named = _find_naming(store, scopes, [tail], ("decision",), ("commit",)) if thing.kind is not ThingKind.FILE else []
    nodes = store.nodes.get_by_keys({*changes, *(node.key for node in named)})
    began = min(changes, key=lambda key: nodes[key].event_time, default=None)
    wanted = set(terms) - set(analyse_text(name))
    scores = {
        key: _score_commit(node, changes.get(key), tail, wanted) + (BEGINNING if key == began else 0.0)
        for key, node in nodes.items()
        if node.deleted_at is None
    }
    return sorted(scores, key=lambda key: (-scores[key], -nodes[key].event_time, key))


def rank_shared_commits(
    store: Store, scopes: Sequence[str], keys: Sequence[NodeKey], terms: Collection[str]
) -> list[NodeKey]:
    """Return the commits that changed some snippets and share enough of a question's words, best first."""
    changes = {change.commit: change for change in store.edges.list_changes(keys, scopes)}
    nodes = store.nodes.get_by_keys(changes)
    weights = _weigh_terms(store, terms)
    shares = {key: _share_of(weights, node.content) for key, node in nodes.items()}
    scores = {
        key: share + CLOSENESS * changes[key].confidence * FOCUS / (FOCUS + changes[key].touched - 1)
        for key, share in shares.items()
        if share >= MIN_SHARED
    }
    return sorted(scores, key=lambda key: (-scores[key], -nodes[key].event_time, key))


def _weigh_terms(store: Store, terms: Collection[str]) -> dict[str, float]:
    """Return what each term counts: the rarer, the more."""
    total = store.keywords.count_texts()
    counts = store.keyword_search.count_frequencies(list(terms))
    return {term: math.log(1 + total / count) for term, count in counts.items()}


def _share_of(weights: Mapping[str, float], text: str) -> float:
    held = set(analyse_text(text.partition(CHANGED)[0]))
    return sum(weight for term, weight in weights.items() if term in held) / max(1e-9, sum(weights.values()))


def list_history(store: Store, scopes: Sequence[str], thing: NamedThing) -> list[NodeKey]:
    """Return the commits that changed a thing, latest first, the one with which it began among the first three."""
    changes = store.edges.list_changes(thing.keys, scopes)
    nodes = store.nodes.get_by_keys(change.commit for change in changes)
    latest = sorted(nodes, key=lambda key: (-nodes[key].event_time, key))
    return list(dict.fromkeys((*latest[:2], *latest[-1:], *latest)))


def find_text_uses(store: Store, scopes: Sequence[str], things: Sequence[NamedThing]) -> list[NodeKey]:
    """Return the code, tests left out, that has the name of one of these symbols in its text and is no part of it."""
    tails = list(dict.fromkeys(thing.name.rpartition(".")[2] for thing in things if thing.kind is ThingKind.SYMBOL))
    nodes = _find_naming(store, scopes, tails, ("snippet",), ("code",))
    places = store.positions.get_positions(node.key for node in nodes)
    owned = {(thing.path, thing.name) for thing in things}
    own = {key for thing in things for key in thing.keys}
    return [
        node.key
        for node in nodes
        if node.key not in own
        and not is_test_path(places.get(node.key, Position()).path or "")
        and not _is_member(places.get(node.key, Position()), owned)
        and any(find_use(node.content, Position(symbol=tail)) is not None for tail in tails)
    ]


def _is_member(place: Position, owned: Collection[tuple[str | None, str]]) -> bool:
    symbol = place.symbol or ""
    return any(place.path == path and f"{symbol}.".startswith(f"{name}.") for path, name in owned)


TOLD_TYPES: Final = ("fact", "decision", "experience")
TOLD_SUBTYPES: Final = (
    "semantic",
    "constraint",
    "insight",
    "opinion",
    "procedure",
    "preference",
    "decision",
    "dead_end",
    "outcome",
)


def _score_commit(node: Node, change: StoredChange | None, name: str, wanted: Collection[str]) -> float:
    subject, _, body = node.content.partition("\n")
    naming = NAMED_IN_SUBJECT if name in subject else NAMED if name in body else 0.0
    focus = 0.0 if change is None else change.confidence * FOCUS / (FOCUS + change.touched - 1)
    shared = SHARED * len(set(analyse_text(node.content)).intersection(wanted)) / max(1, len(wanted))
    return naming + focus + shared


def _find_naming(
    store: Store, scopes: Sequence[str], words: Sequence[str], types: tuple[str, ...], subtypes: tuple[str, ...]
) -> list[Node]:
    """Return the memories of some kinds that hold one of the words as it is written, those in which it weighs most."""
    terms = list(dict.fromkeys(term for word in words for term in analyse_text(word)[:1]))
    if not terms:
        return []
    allowed = store.filters.select_allowed(SearchFilter(scopes=tuple(scopes), types=types, subtypes=subtypes))
    best = store.keyword_search.rank_by_bm25(terms, allowed, NAMING_CANDIDATES)
    nodes = store.nodes.get_by_keys(NodeKey(key) for key in best)
    return [node for key in best if (node := nodes.get(NodeKey(key))) and any(word in node.content for word in words)]
