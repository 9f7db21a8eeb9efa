"""Affected memories: the living ones on a statement's subject, which whoever told it may have to replace.

Whether or not they are judged contradictory: the assistant that told the statement is the best judge at hand. A dead
end puts in question only what proposes its approach.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from hyperloci.knowledge.contradictions.detector import DEAD_END_GATE, ContradictionCandidate
from hyperloci.knowledge.contradictions.pair_features import find_leftovers
from hyperloci.knowledge.contradictions.rules import make_judge
from hyperloci.knowledge.contradictions.statement_profile import profile_statement
from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import Node

MAX_AFFECTED: Final = 3

WORDS_SHARE: Final = 0.2
"""What the best match in words adds to a cosine: the old statement is among the first three of 560 for .96 of the
contradictions of one writer, for .95 by the cosine alone, for .88 by words alone."""

CONTRADICTED: Final = 0.1
"""What being judged contradictory adds: it decides between memories that are about as near. Before all others, five
false alarms pushed the nearest memory out of the three: the old one was offered for .958 of the contradictions."""

SIMILAR: Final = 0.35
"""Cosine below which two statements are on different subjects, unless they share words."""

NEAR_BEST: Final = 0.7
"""Share of the best cosine from which on another is as near: at the same recall (.99 of 120 contradictions among 223
old statements) it lists 0.4 other memories a statement instead of 1.3."""

COVERED: Final = 0.5
"""Share of the shorter one's words from which on two statements are on one subject."""

SHORT: Final = 2
"""One shared word is enough for a statement of so few."""

_EVENTS: Final = ("episode", "action", "outcome", "commit")
_TALK: Final = frozenset({Origin.CLAUDE_RESPONSE, Origin.HOOK})


def select_affected(
    statement: str,
    candidates: Sequence[ContradictionCandidate],
    by_words: Mapping[int, float],
    contradicted: Collection[str] = (),
) -> list[Node]:
    """Return the memories on a statement's subject, three at most; none where it has no neighbour.

    The nearest come first; those it contradicts count as a little nearer.

    Args:
        statement: what was told.
        candidates: memories near it, with the cosine where vectors are there.
        by_words: the score in words of those found by words.
        contradicted: ids of memories that contradict it.
    """
    near = [c for c in candidates if _may_be_affected(c.node)]
    floor = max(SIMILAR, NEAR_BEST * max((c.similarity or 0.0 for c in near), default=0.0))
    near = [c for c in near if c.node.id in contradicted or _is_on_subject(statement, c, floor)]
    return _take_nearest(near, by_words, contradicted)


def select_proposing(
    approach: str, candidates: Sequence[ContradictionCandidate], by_words: Mapping[int, float]
) -> list[Node]:
    """Return the memories that propose an approach which is now a dead end, three at most, the nearest first.

    Just those that the dead end would be held against if they were told after it. Another dead end proposes nothing.

    Args:
        approach: what was tried.
        candidates: memories near it, with the cosine where vectors are there.
        by_words: the score in words of those found by words.
    """
    near = [c for c in candidates if _may_be_affected(c.node) and c.node.subtype != "dead_end"]
    return _take_nearest(
        [c for c in near if make_judge(c.node.content).score_uptake(approach) >= DEAD_END_GATE], by_words
    )


def _take_nearest(
    near: Sequence[ContradictionCandidate], by_words: Mapping[int, float], contradicted: Collection[str] = ()
) -> list[Node]:
    """Return the nearest few in meaning and in words; those contradicted count as a little nearer."""
    best = max(by_words.values(), default=0.0) or 1.0

    def rank(candidate: ContradictionCandidate) -> tuple[float, NodeKey]:
        words, node = by_words.get(candidate.node.key, 0.0) / best, candidate.node
        bonus = CONTRADICTED if node.id in contradicted else 0.0
        return (-(candidate.similarity or 0.0) - WORDS_SHARE * words - bonus, node.key)

    return [candidate.node for candidate in sorted(near, key=rank)[:MAX_AFFECTED]]


def _may_be_affected(node: Node) -> bool:
    return (
        node.valid_until is None
        and node.deleted_at is None
        and node.type in (NodeType.FACT, NodeType.DECISION, NodeType.EXPERIENCE)
        and node.subtype not in _EVENTS
        and node.origin not in _TALK
    )


def _is_on_subject(statement: str, candidate: ContradictionCandidate, floor: float) -> bool:
    if (candidate.similarity or 0.0) >= floor:
        return True
    profiles = profile_statement(statement), profile_statement(candidate.node.content)
    shorter, longer = sorted(profiles, key=lambda profile: len(profile.stems))
    said = len(shorter.stems)
    shared = said - len(find_leftovers(shorter.stems, longer))
    return shared >= COVERED * said > 0 and (shared > 1 or said <= SHORT)
