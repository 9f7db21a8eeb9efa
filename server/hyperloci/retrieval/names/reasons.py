"""Reasons: why code is as it is: the commits that changed it, and what was decided or tried that names it or them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from hyperloci.knowledge.names.named_thing import NamedThing, ThingKind
from hyperloci.knowledge.names.written_names import find_use
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.model.search import SearchFilter
from hyperloci.retrieval.names.change_words import find_change_terms, tells_of_change
from hyperloci.retrieval.names.numbered_entries import find_numbered_commits
from hyperloci.spaces.code_view import split_identifier
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query, analyse_text
from hyperloci.store.memories.edges import StoredChange
from hyperloci.text.chunking.programming_languages import is_test_path
from hyperloci.text.commit_text import message_of

NAMING_CANDIDATES: Final = 30
"""Commits and facts with the right word that are looked at: of more, those in which it weighs most."""

MAX_TOLD: Final = 20
TELLING_COMMITS: Final = 3
"""Commits by whose hash decisions are looked for."""

NAMED_IN_SUBJECT: Final = 0.1
NAMED: Final = 0.05
BEGINNING: Final = 0.1
CHANGED_IT: Final = 0.1
"""What is added to a commit's score (0..1): that it names what is asked about, that this began with it, that it changed
this and little else. Who asks why something is there means the first commit, but twice as much for it takes the first
place from 8 of 143 others; without ties to the name, or with twice as much for one of them, 1 to 3 fewer lead
(docs/benchmarks/questions.md, "Questions")."""

NUMBERED: Final = 0.4
"""What it adds that a commit bears the number of an entry that says all of what is asked; of one that says a part, as
much of it. A little more than all ties together: the entry says what the question says (docs/benchmarks/questions.md,
"Questions": 120 entries)."""

SAME_CHANGE: Final = 0.1
"""What it adds that the subject tells of such a change as is asked about, by whatever word (`change_words`): as much as
a name in the subject."""

EXPLAINED: Final = 0.05
EXPLAINED_CHARS: Final = 300
"""What it adds that a commit says more than its subject, all of it from so many characters on: who asks why wants an
explanation, and by words and meaning the shortest message on a thing comes first. Of 81 questions on nine repositories
twice as much takes five first places and one among five from others (docs/benchmarks/questions.md, "Questions")."""

FOCUS: Final = 3.0
"""Symbols changed at once by which a commit tells half as much of each."""

Relevance = Callable[[Sequence[NodeKey]], Mapping[NodeKey, float]]
"""What memories score by a question's meaning and words, 0..1."""

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
    store: Store,
    scopes: Sequence[str],
    things: Sequence[NamedThing],
    name: str | None,
    found: Collection[NodeKey],
    measure: Relevance,
    query: str,
) -> list[NodeKey]:
    """Return the commits that changed some things, name them or were found, those first that tell most of the question.

    Args:
        store: the open store.
        scopes: whose commits.
        things: what is asked about.
        name: as the question has it; None where it names nothing.
        found: what the search has found.
        measure: says what memories score by the question's meaning and words.
        query: the question.
    """
    numbered, change_terms = find_numbered_commits(store, scopes, query), find_change_terms(query)
    changes = _list_changes(store, scopes, things)
    tail = None if name is None else name.rpartition(".")[2]
    named = [] if tail is None else _find_naming(store, scopes, [tail], ("decision",), ("commit",))
    worded = _find_worded(store, scopes, query)
    nodes = {
        key: node
        for key, node in store.nodes.get_by_keys(
            {*changes, *(node.key for node in named), *found, *numbered, *worded}
        ).items()
        if node.subtype == "commit" and node.deleted_at is None
    }
    began = min(changes.keys() & nodes.keys(), key=lambda key: nodes[key].event_time, default=None)
    scores = {key: value + _tell_tie(nodes[key], changes.get(key), tail) for key, value in measure(list(nodes)).items()}
    if began in scores:
        scores[began] += BEGINNING
    for key in scores:
        scores[key] += NUMBERED * numbered.get(key, 0.0)
        subject, _, body = message_of(nodes[key].content).partition("\n")
        scores[key] += SAME_CHANGE * tells_of_change(subject, change_terms)
        scores[key] += EXPLAINED * min(1.0, len(body) / EXPLAINED_CHARS)
    return sorted(scores, key=lambda key: (-scores[key], -nodes[key].event_time, key))


def _find_worded(store: Store, scopes: Sequence[str], query: str) -> list[NodeKey]:
    """Return the commits in which the question's words weigh most: elsewhere files crowd them out."""
    allowed = store.filters.select_allowed(
        SearchFilter(scopes=tuple(scopes), types=("decision",), subtypes=("commit",))
    )
    return [NodeKey(key) for key in store.keyword_search.rank_by_bm25(analyse_query(query), allowed, NAMING_CANDIDATES)]


def _list_changes(store: Store, scopes: Sequence[str], things: Sequence[NamedThing]) -> dict[NodeKey, StoredChange]:
    """Return of each commit that changed one of several things the change that tells most of it."""
    changes: dict[NodeKey, StoredChange] = {}
    for thing in things:
        for change in store.edges.list_changes(thing.keys, scopes):
            known = changes.get(change.commit)
            if known is None or _tell_focus(change) > _tell_focus(known):
                changes[change.commit] = change
    return changes


def _tell_focus(change: StoredChange) -> float:
    return change.confidence * FOCUS / (FOCUS + change.touched - 1)


def _tell_tie(node: Node, change: StoredChange | None, name: str | None) -> float:
    """Return what it adds to a commit's score that it changed what is asked about, or names it."""
    subject, _, body = node.content.partition("\n")
    naming = (
        0.0 if name is None else NAMED_IN_SUBJECT if has_name(subject, name) else NAMED if has_name(body, name) else 0.0
    )
    return naming + (0.0 if change is None else CHANGED_IT * _tell_focus(change))


def has_name(text: str, name: str) -> bool:
    """Return whether a text has a name as it is written, or one of several words with other case and joints.

    Who writes of `ansi_term` in a commit says "ansi-term" as often.
    """
    if name in text:
        return True
    words = split_identifier(name).split()
    joined = r"[-_ ]?".join(map(re.escape, words))
    return len(words) > 1 and re.search(rf"(?<![^\W_]){joined}(?![^\W_])", text, re.IGNORECASE) is not None


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
