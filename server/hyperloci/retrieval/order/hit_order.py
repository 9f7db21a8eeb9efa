"""Hit order: hits as they are shown: nothing twice, what is newer before what it replaced, the question itself last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from hyperloci.model.kinds import NodeKey, Origin
from hyperloci.model.node import Node
from hyperloci.model.pyramid_levels import SUBTYPES
from hyperloci.model.search import Placement
from hyperloci.retrieval.order.later_sessions import put_later_sessions_first
from hyperloci.retrieval.order.newer_first import ArrangedHits, find_steps, put_newer_first
from hyperloci.retrieval.order.twin_commits import find_twins
from hyperloci.retrieval.scoring import Scores
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query

SPARE_HITS: Final = 5
"""Hits that a search finds beyond those it shows, for those that are said twice."""

_SAME_TEXT_SHARE: Final = 0.7
"""Share of a turn's characters that a statement must hold to say all of it: the rest is a greeting or a reason."""

ASKED_SHARE: Final = 0.8
"""Share of the terms of an open prompt that a question must have for the prompt to be that question: an assistant that
looks something up names it in the user's words, and a prompt that also tells something has more words."""


def arrange_hits(
    store: Store,
    query: str,
    nodes: Sequence[Node],
    *,
    limit: int,
    may_add: bool = True,
    scores: Mapping[NodeKey, Scores] = MappingProxyType({}),
    scopes: Collection[str] = (),
) -> ArrangedHits:
    """Return hits as they are shown: nothing twice, newer before older, and the question itself last.

    Args:
        store: where they are.
        query: what was asked.
        nodes: hits, best first; some more than are shown.
        limit: how many are returned at most.
        may_add: whether what replaced a hit, or may have, comes in if it is none itself.
        scores: of the hits; none are known where they were not ranked.
        scopes: what comes in is of one of these; of any if empty.
    """
    asked = fold_twin_commits(put_question_last(store, query, nodes))
    folded = fold_said_twice(store, fold_summaries(asked))
    totals = {key: found.total for key, found in scores.items()}
    later = put_later_sessions_first(store, folded.nodes, totals)
    shown, spare = later.nodes[:limit], later.nodes[limit:]
    newer = put_newer_first(store, query, shown, limit=limit, may_add=may_add, spare=spare, scopes=scopes)
    return replace(newer, placed={**folded.placed, **later.placed, **newer.placed})


def put_question_last(store: Store, query: str, nodes: Sequence[Node]) -> list[Node]:
    """Return hits with the prompt that is being answered, if it only asks what the query asks, behind all others.

    It is stored before the assistant looks anything up for it. No text is nearer to the query, and none says less.
    """
    asked = set(analyse_query(query))
    repeating = [node.key for node in nodes if node.origin is Origin.USER_PROMPT and _only_asks(node, asked)]
    questions = store.turns.select_open_prompts(repeating) if repeating else frozenset()
    return sorted(nodes, key=lambda node: node.key in questions)


def _only_asks(prompt: Node, asked: set[str]) -> bool:
    terms = set(analyse_query(prompt.content))
    return bool(terms) and len(terms & asked) >= ASKED_SHARE * len(terms)


def fold_twin_commits(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes without the commits of which another says all: that one stands at the better of both places."""
    twins = find_twins(nodes)
    return list({one.key: one for one in (twins.get(node.key, node) for node in nodes)}.values())


def fold_summaries(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes without the summaries of turns that a better placed one sums up too, more or less closely."""
    shown: list[Node] = []
    for node in nodes:
        if _is_summary(node) and any(_is_summary(better) and _sum_up_the_same(node, better) for better in shown):
            continue
        shown.append(node)
    return shown


def _is_summary(node: Node) -> bool:
    return node.subtype in SUBTYPES.values()


def _sum_up_the_same(one: Node, other: Node) -> bool:
    """Tell whether two summaries share most of the turns of the shorter one."""
    if one.session_id != other.session_id:
        return False
    first, second = (
        range(node.metadata.get("first_seq", 0), node.metadata.get("last_seq", -1) + 1) for node in (one, other)
    )
    both = range(max(first.start, second.start), min(first.stop, second.stop))
    return 2 * len(both) > min(len(first), len(second))


def fold_said_twice(store: Store, nodes: Sequence[Node]) -> ArrangedHits:
    """Return nodes without the turns of which a hit says all: that hit stands at the better of both places."""
    places = {node.key: node for node in nodes}
    told = find_whole_statements(store, nodes)
    statements = {turn: places[statement.key] for turn, statement in told.items() if statement.key in places}
    order: dict[NodeKey, Node] = {}
    placed: dict[NodeKey, Placement] = {}
    for node in nodes:
        statement = statements.get(node.key, node)
        if statement.key not in order:
            order[statement.key] = statement
            if statement is not node:
                placed[statement.key] = Placement.SAID
    return ArrangedHits(nodes=tuple(order.values()), placed=placed)


def find_whole_statements(store: Store, nodes: Sequence[Node]) -> dict[NodeKey, Node]:
    """Return, of the turns among some nodes, the statement that says all of one, past ones too; none is withheld."""
    turns = {node.key: node for node in nodes if node.subtype == "episode"}
    steps = find_steps(store, list(turns), "derived_from", "in")
    targets = {step.target for step in steps}
    statements = store.nodes.get_by_keys(targets - store.withheld.select_withheld(targets))
    pairs = [(turns[step.source], statements.get(step.target)) for step in steps]
    return {turn.key: said for turn, said in pairs if said is not None and _holds_all(said, turn)}


def move_scores(
    scores: Mapping[NodeKey, float] | Mapping[int, float], whole: Mapping[NodeKey, Node]
) -> dict[int, float]:
    """Return scores by node, a turn's as those of the statement that says all of it, the better of two."""
    moved: dict[int, float] = {}
    for key, score in scores.items():
        statement = whole.get(NodeKey(key))
        at = key if statement is None else statement.key
        moved[at] = max(score, moved.get(at, score))
    return moved


def _holds_all(statement: Node, turn: Node) -> bool:
    quote = str(statement.metadata.get("quote") or statement.content)
    return quote in turn.content and len(quote) >= _SAME_TEXT_SHARE * len(turn.content.strip())
