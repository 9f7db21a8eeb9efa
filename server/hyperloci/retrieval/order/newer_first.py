"""Newer first: what replaced a hit, or may have, right before it.

A turn stands for what was made of it, and an answer of the assistant's for what the user said right before or after
and it says as well: who asks finds what holds before the words that no longer do. A prompt of which nothing was made
asked or proposed something: what the user settled next stands before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from hyperloci.knowledge.reverts import REVERTS_LABEL, find_reverting
from hyperloci.knowledge.successors import OUTDATED_LABEL, POSSIBLE_SUCCESSOR
from hyperloci.model.kinds import NodeKey, Origin
from hyperloci.model.node import Node
from hyperloci.model.search import Placement
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query, analyse_text
from hyperloci.store.memories.traversal import RelationStep
from hyperloci.system.values import dataclass

MAX_CHANGES: Final = 20
"""Replacements followed one after the other, to what holds now: who changes a mind more often asks for its history."""

ECHO_SHARE: Final = 0.25
"""Share of a statement's terms that an answer beside its turn must say to say it too."""

_LABELS: Final = ("supersedes", "updates", OUTDATED_LABEL, REVERTS_LABEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrangedHits:
    """Hits as they are shown, why some of them stand before better ones, and those that have no room behind them."""

    nodes: tuple[Node, ...]
    placed: Mapping[NodeKey, Placement]
    behind: tuple[Node, ...] = ()


def put_newer_first(
    store: Store,
    query: str,
    nodes: Sequence[Node],
    *,
    limit: int,
    may_add: bool = True,
    spare: Sequence[Node] = (),
    scopes: Collection[str] = (),
) -> ArrangedHits:
    """Return nodes in their order, but what replaced one of them, or may have, right before that one.

    Args:
        store: where they are.
        query: what was asked.
        nodes: hits, best first.
        limit: how many are returned at most.
        may_add: whether what replaced a hit comes in if it is none itself; what only may have does if it shares a word
            with the query.
        spare: hits that are not shown by themselves.
        scopes: what comes in is of one of these; of any if empty.
    """
    settled = _find_settled(store, nodes, spare)
    newer = _find_newer(store, query, nodes, scopes, may_add=may_add) if _has_changes(store) else {}
    order: dict[NodeKey, Node] = {}
    placed: dict[NodeKey, Placement] = {}
    for node in nodes:
        for successor in (*newer.get(node.key, ()), *settled.get(node.key, ())):
            if successor.key not in order:
                order[successor.key] = successor
                placed[successor.key] = Placement.NEWER
        order.setdefault(node.key, node)
    arranged = tuple(order.values())
    return ArrangedHits(nodes=arranged[:limit], placed=placed, behind=arranged[limit:])


def _has_changes(store: Store) -> bool:
    return any(store.traversal.has_label(label) for label in _LABELS)


def _find_newer(
    store: Store, query: str, nodes: Sequence[Node], scopes: Collection[str], *, may_add: bool
) -> dict[NodeKey, list[Node]]:
    """Return what replaced each node, or may have, and lives; the hit that says so, if there is one."""
    statements, asked = _list_statements(store, nodes), set(analyse_query(query))

    def may_come_in(other: Node, label: str) -> bool:
        # Who asks for the older alone is not answered by what may have replaced it, and is told of it there: of 264
        # questions two have their answer higher so, none lower
        # (docs/benchmarks/changed-minds.md, "What may replace a hit").
        is_about = label != "updates" or not asked or not asked.isdisjoint(analyse_query(other.content))
        # One project may have replaced for itself what held in all.
        is_here = not scopes or other.scope in scopes
        return may_add and is_about and is_here

    return _follow_changes(store, statements, _list_saying(statements, nodes), may_come_in)


def _follow_changes(
    store: Store,
    statements: Mapping[NodeKey, Sequence[NodeKey]],
    saying: Mapping[NodeKey, Sequence[Node]],
    may_come_in: Callable[[Node, str], bool],
) -> dict[NodeKey, list[Node]]:
    """Return what replaced statements, or may have, and lives, by the hits that stand for them.

    Args:
        store: where they are.
        statements: with the hits that stand for them.
        saying: the hits by the statements that each is, or says.
        may_come_in: whether what no hit says comes in, by the label with which it replaces a statement.
    """
    found: dict[NodeKey, list[Node]] = {}
    # By what is reached and from which hit, whether surely: a way is as sure as its unsurest step.
    reached: dict[tuple[NodeKey, NodeKey], bool] = {}
    ended = {statement: dict.fromkeys(origins, True) for statement, origins in statements.items()}
    for _ in range(MAX_CHANGES):
        between: dict[NodeKey, dict[NodeKey, bool]] = {}
        for label in _LABELS if ended else ():
            steps = find_steps(store, list(ended), label, "in")
            targets = {step.target for step in steps}
            others = store.nodes.get_by_keys(targets - store.withheld.select_withheld(targets))
            taken_back = find_reverting(store, targets) if label == REVERTS_LABEL else {}
            for step in steps:
                other = others.get(step.target)
                if other is None or other.deleted_at is not None or step.target in taken_back:
                    continue
                shown = _find_saying(other, saying.get(other.key, ()))
                for origin, was_sure in ended[step.source].items():
                    is_sure = was_sure and step.confidence >= POSSIBLE_SUCCESSOR
                    if reached.get((other.key, origin)) in (True, is_sure):
                        continue
                    reached[other.key, origin] = is_sure
                    if other.valid_until is not None:
                        between.setdefault(other.key, {})[origin] = is_sure
                    elif shown is not None or (is_sure and may_come_in(other, label)):
                        found.setdefault(origin, []).append(shown or other)
        ended = between
    return found


def _list_saying(statements: Mapping[NodeKey, Sequence[NodeKey]], nodes: Sequence[Node]) -> dict[NodeKey, list[Node]]:
    hits = {node.key: node for node in nodes}
    return {statement: [hits[key] for key in keys] for statement, keys in statements.items()}


def _find_saying(statement: Node, hits: Sequence[Node]) -> Node | None:
    """Return the hit that is a statement, or the turn that said it: not one that only asked, or repeats it."""
    turn = statement.metadata.get("turn")
    return next((hit for hit in hits if hit.key == statement.key or (hit.seq == turn and turn is not None)), None)


def _list_statements(store: Store, nodes: Sequence[Node]) -> dict[NodeKey, list[NodeKey]]:
    """Return the statements that nodes are, that were made of them or that they say too, with those they stand for."""
    found: dict[NodeKey, list[NodeKey]] = {node.key: [node.key] for node in nodes}
    turns = [node.key for node in nodes if node.subtype == "episode"]
    for step in find_steps(store, turns, "derived_from", "in"):
        found.setdefault(step.target, []).append(step.source)
    for statement, echo in _list_echoes(store, nodes):
        found.setdefault(statement, []).append(echo)
    return found


def _list_echoes(store: Store, nodes: Sequence[Node]) -> Iterator[tuple[NodeKey, NodeKey]]:
    """Yield what the user said right before or after an answer of the assistant's that says it too, with the answer."""
    answers = {n.key: n for n in nodes if n.subtype == "episode" and n.origin is Origin.CLAUDE_RESPONSE}
    beside = store.turns.list_prompts_beside(answers) if answers else []
    if not beside:
        return
    steps = find_steps(store, sorted({prompt for _, prompt in beside}), "derived_from", "in")
    said = {prompt: [prompt, *(step.target for step in steps if step.source == prompt)] for _, prompt in beside}
    texts = store.nodes.get_by_keys({key for keys in said.values() for key in keys})
    for answer, prompt in beside:
        terms = set(analyse_text(answers[answer].content))
        yield from ((key, answer) for key in said[prompt] if key in texts and _says_too(terms, texts[key]))


def _find_settled(store: Store, nodes: Sequence[Node], spare: Sequence[Node]) -> dict[NodeKey, list[Node]]:
    """Return what the user settled right after each prompt of which nothing was made, as it holds now.

    Only what the search found too is about the same.
    """
    later = _list_told_next(store, nodes)
    if not later:
        return {}
    found = (*nodes, *spare)
    prompts = {node.key: node.content for node in nodes if node.key in later}
    saying = _list_saying(_list_statements(store, found), found)
    settled: dict[NodeKey, list[Node]] = {}
    origins: dict[NodeKey, list[NodeKey]] = {}
    for prompt, statements in later.items():
        for statement in statements:
            shown = _find_saying(statement, saying.get(statement.key, ()))
            if shown is None or not _settles(statement, prompts[prompt]):
                continue
            origins.setdefault(statement.key, []).append(prompt)
            if statement.holds:
                settled.setdefault(prompt, []).append(shown)
    for prompt, newer in _follow_changes(store, origins, saying, lambda *_: False).items():
        settled.setdefault(prompt, []).extend(newer)
    return settled


def _list_told_next(store: Store, nodes: Sequence[Node]) -> dict[NodeKey, list[Node]]:
    """Return the prompts among nodes of which nothing was made, with what was made of the next one of the session."""
    prompts = [n.key for n in nodes if n.subtype == "episode" and n.origin is Origin.USER_PROMPT]
    if not prompts or not store.traversal.has_label("derived_from"):
        return {}
    kept = {step.source for step in find_steps(store, prompts, "derived_from", "in")}
    later = store.turns.list_next_prompts(key for key in prompts if key not in kept)
    steps = find_steps(store, sorted({turn for _, turn in later}), "derived_from", "in")
    targets = {step.target for step in steps}
    statements = store.nodes.get_by_keys(targets - store.withheld.select_withheld(targets))
    return {
        prompt: [statements[step.target] for step in steps if step.source == turn and step.target in statements]
        for prompt, turn in later
    }


def _settles(statement: Node, prompt: str) -> bool:
    """Tell whether what was said next is about the same as a prompt, and tells as much.

    It shares a word, or something else was settled; a longer prompt told what nobody kept.
    """
    told, proposed = set(analyse_query(_read_words(statement))), set(analyse_query(prompt))
    return len(told) >= len(proposed) and not told.isdisjoint(proposed)


def _says_too(terms: set[str], statement: Node) -> bool:
    wanted = set(analyse_query(_read_words(statement)))
    return bool(wanted) and len(wanted & terms) >= ECHO_SHARE * len(wanted)


def _read_words(statement: Node) -> str:
    """Return the words that a statement was made of."""
    return str(statement.metadata.get("quote") or statement.content)


def find_steps(store: Store, keys: Sequence[NodeKey], label: str, direction: str) -> list[RelationStep]:
    """Return the steps from each memory: hits that contradict each other are in one relation."""
    if not keys or not store.traversal.has_label(label):
        return []
    return store.traversal.find_steps(keys, label=label, direction=direction, from_each=True)
