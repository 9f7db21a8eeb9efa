"""Leading memories: what a question names stands before what only resembles it.

A name that is the whole question leads with its definition; one within a question with its definition behind what was
told of it; a question for its relations with what they lead to; one for reasons with the commits that changed it and
the decisions that name it. Nothing leads that the question's conditions leave out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.graph.neighbourhood import find_related
from hyperloci.knowledge.names.named_thing import NamedThing, Resolution, ThingKind
from hyperloci.knowledge.names.resolver import NameResolver
from hyperloci.knowledge.names.written_names import find_code_names, is_code_like
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval.intent import Intent
from hyperloci.retrieval.names.question_forms import (
    RelationQuestion,
    asks_for_commits,
    asks_for_message,
    asks_for_thing,
    find_relation_questions,
)
from hyperloci.retrieval.names.reasons import Relevance, find_text_uses, find_told, list_history, rank_commits
from hyperloci.store import Store
from hyperloci.store.vectors.bits import BoolArray
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.programming_languages import is_test_path

MAX_NAMESAKES: Final = 5
"""Symbols of one bare name whose relations are all given: `send` of the client and of its asynchronous twin."""

MAX_DEFINITIONS: Final = 3
"""Definitions that lead where a name is the whole question."""

MAX_TOLD: Final = 2
"""Decisions before the commits of a reason: both are wanted on the first page."""

SAID_LOOKED_AT: Final = 8
"""Best hits looked at for what was said of a thing: a question may have been asked, and searched for, several times."""

MAX_REASONS: Final = 8
"""Commits that lead at most."""

MAX_FOLLOWED: Final = 50
"""Related memories looked at a label: enough that code is found among the tests that call it."""

FEW_FOLLOWED: Final = 3
"""With fewer of them, code that has the name in its text stands behind: a field's type, a callback, an interface that
is met without a word are no relations that rules find."""

USING_LABELS: Final = frozenset({"calls", "inherits", "overrides", "imports"})

MAX_QUESTION_CHARS: Final = 400
"""A longer text is no question about a name, but a report that names much."""

BEST_LOOKED_AT: Final = 10
BEST_SYMBOLS: Final = 3
BEST_COMMITS: Final = 4
"""Of a question for reasons that names nothing: hits looked at for symbols, symbols followed, commits that lead. With
three of them 74 of 81 are among five, with four or five 76; the last place is left to a page."""

COMMIT_SHARE: Final = 0.6
"""Of the places, for commits, where reasons are asked for: the rest is for what was told and for the definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadingMemories:
    """What leads an answer.

    Attributes:
        keys: in their order.
        described: what the name was taken for, in words.
        after_told: whether what was told (facts, decisions, turns) and is found before code stays before it.
    """

    keys: tuple[NodeKey, ...]
    described: str
    after_told: bool

    def arrange(self, ranked: Sequence[NodeKey], nodes: Mapping[NodeKey, SearchCandidate]) -> list[NodeKey]:
        """Return ranked memories with the leading ones in their place."""
        first = [] if not self.after_told else [*itertools.takewhile(lambda key: _is_told(nodes[key]), ranked)]
        return list(dict.fromkeys((*first, *self.keys, *ranked)))


def find_leading(
    store: Store,
    query: str,
    intent: Intent,
    ranked: Sequence[NodeKey],
    measure: Relevance,
    allowed: BoolArray,
    scopes: Sequence[str],
    limit: int,
) -> LeadingMemories | None:
    """Return what leads the answer to a question; None where it names nothing that there is.

    A question for reasons that names nothing is about what was found best: the commits that changed that and share the
    question's words lead. Who asks for the last commits gets the latest that may be found.

    Args:
        store: the open store.
        query: the question.
        intent: what it wants to know.
        ranked: what was found, best first.
        measure: says what memories score by the question's meaning and words.
        allowed: bitmap over node keys: which may be found.
        scopes: whose names.
        limit: how many hits are wanted.
    """
    if len(query) > MAX_QUESTION_CHARS:
        return None
    named = _read_question(NameResolver(store, scopes), query, intent)
    if named is not None:
        named = named.order_sections(ranked)
        keys = named.list_keys(store, query, intent, scopes, ranked, measure, limit)
    elif intent is Intent.WHY:
        keys = _explain_best(store, query, ranked, scopes, measure)
    elif asks_for_commits(query):
        keys = iter(store.history.list_latest(scopes))
    else:
        return None
    kept = tuple(dict.fromkeys(key for key in keys if int(key) < len(allowed) and allowed[int(key)]))[:limit]
    if not kept:
        return None
    return LeadingMemories(
        keys=kept,
        described="" if named is None else named.resolution.describe(),
        after_told=named is None or named.is_inner(intent),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _NamedQuestion:
    """A question, what the name in it means, and what of it is asked."""

    resolution: Resolution
    relation: RelationQuestion | None = None
    is_whole: bool = False

    def order_sections(self, ranked: Sequence[NodeKey]) -> _NamedQuestion:
        """Return the same with sections of one heading in the order in which the search has them."""
        if self.resolution.taken.kind is not ThingKind.SECTION:
            return self
        places = {key: place for place, key in enumerate(ranked)}
        things = sorted(
            self.resolution.things,
            key=lambda thing: (thing.kind is not ThingKind.SECTION, places.get(thing.keys[0], len(places))),
        )
        return replace(self, resolution=replace(self.resolution, things=tuple(things)))

    def is_inner(self, intent: Intent) -> bool:
        return self.relation is None and not self.is_whole and intent is not Intent.WHY

    def list_keys(
        self,
        store: Store,
        query: str,
        intent: Intent,
        scopes: Sequence[str],
        ranked: Sequence[NodeKey],
        measure: Relevance,
        limit: int,
    ) -> Iterator[NodeKey]:
        things, taken = _list_namesakes(self.resolution), self.resolution.taken
        if self.relation is not None and self.relation.labels == ("changed",):
            yield from list_history(store, scopes, taken)
        elif self.relation is not None:
            yield from _follow(store, things, self.relation, scopes, limit)
        elif intent is Intent.WHY:
            name = None if taken.kind is ThingKind.FILE else self.resolution.name
            commits = rank_commits(store, scopes, things, name, ranked, measure, query)
            yield from _explain(store, things[0], self.resolution.name, scopes, commits, ranked, limit)
        yield from (thing.keys[0] for thing in things[: self._count_definitions()])

    def _count_definitions(self) -> int | None:
        """Return how many definitions lead at most; None: all, as any section of a heading may be the one meant."""
        if not self.is_whole:
            return 1
        return None if self.resolution.taken.kind is ThingKind.SECTION else MAX_DEFINITIONS


def _read_question(resolver: NameResolver, query: str, intent: Intent) -> _NamedQuestion | None:
    for asked in find_relation_questions(query):
        if (resolution := resolver.resolve_name(asked.name)) is not None and _has_relations(resolution.taken):
            return _NamedQuestion(resolution=resolution, relation=asked)
    whole = resolver.resolve_whole(query, may_begin=is_code_like(query))
    if whole is not None and whole.taken.kind is not ThingKind.ENTITY:
        return _NamedQuestion(resolution=whole, is_whole=True)
    inner = _find_inner(resolver, query, intent)
    return None if inner is None else _NamedQuestion(resolution=inner)


def _find_inner(resolver: NameResolver, query: str, intent: Intent) -> Resolution | None:
    """Return what is meant by a name within a question, where the question is after it."""
    found = None
    if intent is Intent.WHY or asks_for_thing(query):
        found = resolver.resolve_inner(query)
    if found is None and asks_for_message(query):
        found = resolver.resolve_message(query)
    if found is None and intent is Intent.WHY:
        # Elsewhere such words are as often a subject: `add a file type` is not after `file_type`.
        found = resolver.resolve_joined(query)
    return found


def _has_relations(thing: NamedThing) -> bool:
    return thing.kind in (ThingKind.SYMBOL, ThingKind.FILE, ThingKind.SETTING)


def _list_namesakes(resolution: Resolution) -> list[NamedThing]:
    """Return what was taken and what has the same bare name and is as good a guess."""
    taken = resolution.taken
    namesakes = [
        thing
        for thing in resolution.things
        if thing.kind is taken.kind and thing.match is taken.match and thing.is_test == taken.is_test
    ]
    return namesakes if taken.kind is ThingKind.SECTION else namesakes[:MAX_NAMESAKES]


def _follow(
    store: Store, things: Sequence[NamedThing], asked: RelationQuestion, scopes: Sequence[str], limit: int
) -> Iterator[NodeKey]:
    """Yield what the relations that are asked for lead to, code before tests unless those are wanted."""
    found: dict[NodeKey, None] = {}
    for label in asked.labels:
        for thing in things:
            also = thing.keys[1:] if thing.kind is ThingKind.FILE else ()
            reached = find_related(
                store, thing.keys[0], label, asked.direction, 1, MAX_FOLLOWED, scopes=scopes, also=also
            )
            found.update(dict.fromkeys(item.node_key for item in reached))
    if len(found) < FEW_FOLLOWED and asked.direction == "in" and asked.labels[0] in USING_LABELS:
        found.update(dict.fromkeys(find_text_uses(store, scopes, things)))
    places = {} if asked.labels[0] == "tests" else store.positions.get_positions(found)
    tests = {key for key, place in places.items() if place.path is not None and is_test_path(place.path)}
    yield from itertools.islice(sorted(found, key=lambda key: key in tests), limit)


def _explain(
    store: Store,
    thing: NamedThing,
    name: str,
    scopes: Sequence[str],
    commits: Sequence[NodeKey],
    ranked: Sequence[NodeKey],
    limit: int,
) -> Iterator[NodeKey]:
    """Yield what was told of a thing, and the commits that tell why; each kind leaves room for the others.

    Where nothing told is tied to it, what was said and is found before any code and commit is all that a session knows.
    """
    told = find_told(store, scopes, thing, name, commits) or _list_said(store, ranked[:SAID_LOOKED_AT])
    yield from told[: max(1, min(MAX_TOLD, limit // 2))]
    yield from commits[: max(1, min(MAX_REASONS, round(COMMIT_SHARE * limit)))]


def _list_said(store: Store, ranked: Sequence[NodeKey]) -> list[NodeKey]:
    """Return what was said and is found before any code and commit; nothing twice, and nothing that only was done."""
    nodes, said = store.nodes.get_candidates(ranked), dict[str, NodeKey]()
    for key in itertools.takewhile(lambda key: _is_told(nodes[key]), ranked):
        if nodes[key].subtype != "action":
            said.setdefault(nodes[key].content, key)
    return list(said.values())


def _explain_best(
    store: Store, query: str, ranked: Sequence[NodeKey], scopes: Sequence[str], measure: Relevance
) -> Iterator[NodeKey]:
    """Yield the commits that tell most of the question, of those found and those that changed what was found best.

    A name of code that means nothing there is what is gone: commits name it still.
    """
    gone = next(iter(find_code_names(query)), None)
    things = list(itertools.islice(_list_best_symbols(store, ranked[:BEST_LOOKED_AT]), BEST_SYMBOLS))
    yield from rank_commits(store, scopes, things, gone, ranked, measure, query)[:BEST_COMMITS]


def _list_best_symbols(store: Store, keys: Sequence[NodeKey]) -> Iterator[NamedThing]:
    places, cut = store.positions.get_positions(keys), store.symbols.find_pieces(keys)
    for key in keys:
        place = places.get(key)
        if place is not None and place.symbol is not None and place.path is not None and not is_test_path(place.path):
            yield NamedThing(kind=ThingKind.SYMBOL, name=place.symbol, keys=cut.get(key, (key,)), path=place.path)


def _is_told(node: SearchCandidate) -> bool:
    return node.type != NodeType.SNIPPET and node.subtype != "commit"
