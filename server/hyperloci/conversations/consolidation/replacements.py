"""Replacements: what a new statement takes the place of, or may (B.17).

Each new statement is put beside the living ones of its project. A sure replacement ends the old one and joins the two
(`supersedes`); where it is not sure, both stand, joined by `updates`: whoever shows the old one says that it may have
been replaced. That is judged by words as soon as something is said, and once more by meaning when both statements have
a vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from hyperloci.clock import Clock
from hyperloci.conversations.consolidation.contradiction_resolution import ConflictResolver, source_trust
from hyperloci.conversations.consolidation.findings import ExtractedFinding
from hyperloci.conversations.consolidation.replacement.features import ComparedStatement, read_statement
from hyperloci.conversations.consolidation.replacement.scorer import load_replacement_scorer
from hyperloci.conversations.consolidation.replacement.surroundings import NOTHING_HEARD, Surroundings
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress

SURE: Final = 0.6
"""Probability by words from which on the old statement is ended at once: of three writers nobody trained on 118 are
ended then, 54 of which are replaced or taken back and 47 changed in part; from .7 on 93, 42 and 41 (docs/benchmarks.md,
"Sessions")."""

SURE_BY_MEANING: Final = 0.5
"""The same once both statements have a vector, of what words and meaning say together (the mean of their log-odds): of
the same writers 148 are ended, of which 72 are replaced or taken back and 55 changed in part; from .6 on 122, 62 and
46."""

LEAST: Final = 1e-6
"""Probabilities nearer to 0 or 1 are as sure as this one."""

CHANGES: Final = 0.35
"""Probability from which on a statement that is otherwise not worth keeping is kept, because it changes what holds: of
the development projects four more are kept from .25 on that say nothing worth keeping, or must not be kept."""

POSSIBLE: Final = 0.25
"""Probability from which on the old statement is marked as possibly replaced: of the same writers' 163 that are
replaced or taken back 105 are ended or marked then, and half of what is only marked is changed, wholly or in part; from
.2 on 111, and fewer of the marks are right."""

MAX_LIVING: Final = 400
"""Living statements that a new one is compared with, the newest of each type: more than a year of sessions leaves."""

REVIEWED_AT_ONCE: Final = 50
"""Statements judged by meaning in one go, some milliseconds each: a long session's."""

MAX_SUCCESSORS: Final = 5
"""Later statements, the nearest in meaning, that one which came in after them is put beside."""

TURNS_OF_ANSWER: Final = 40
"""Turns after the user's among which its answer is looked for: what was done before it are turns too."""

UNCERTAIN_LABEL: Final = "updates"

_COMPARED_TYPES: Final = ((NodeType.FACT, ()), (NodeType.DECISION, ("decision",)), (NodeType.EXPERIENCE, ("dead_end",)))


class ReplacementResolver:
    """Finds what new statements replace, in one store."""

    def __init__(self, store: Store, conflicts: ConflictResolver, clock: Clock) -> None:
        self._store = store
        self._conflicts = conflicts
        self._clock = clock

    def detect_conflicts(
        self, new: Node, finding: ExtractedFinding, progress: ConsolidationProgress
    ) -> list[tuple[Node, float]]:
        """Return the living statements that a new one replaces, or may, with the probability by words (B.19)."""
        living = self._list_living(new, progress.scope)
        around = self._find_surroundings(new.session_id, new.metadata.get("turn"))
        return _choose_likely(living, _score_finding(finding, living, around))

    def changes_what_holds(self, finding: ExtractedFinding, sources: Sequence[Node], scope: str) -> bool:
        """Tell whether what some turns say likely replaces a statement of earlier ones, or takes it back."""
        said = max(sources, key=lambda node: node.seq or 0)
        turn = (said.session_id, said.seq)
        standing = self._list_standing(scope)
        living = [node for node in standing if node.event_time <= said.event_time and _place_of(node) != turn]
        around = self._find_surroundings(*turn) if living else NOTHING_HEARD
        return any(score >= CHANGES for score in _score_finding(finding, living, around))

    def review_statements(self, scope: str | None = None, limit: int = REVIEWED_AT_ONCE) -> int:
        """Judge by meaning what has a vector by now; return how many old statements ended.

        A statement that comes in late, of a transcript that is imported, may itself be ended by later ones.

        Args:
            scope: only statements of sessions of this project.
            limit: how many statements.
        """
        ended = 0
        for new in self._store.consolidations.list_reviews(scope, limit):
            holds = new.valid_until is None
            likely = self._detect_by_meaning(new) if holds else []
            successors = self._find_successors(new) if holds else []
            with self._store.transaction():
                if self._store.consolidations.finish_review(new.key):
                    self._store.edges.delete_automatic(new.key, [UNCERTAIN_LABEL])
                    ended += sum(self._resolve_by_meaning(new, old, score) for old, score in likely)
                    ended += any(self._resolve_by_meaning(later, new, score) for later, score in successors)
        return ended

    def _find_successors(self, new: Node) -> list[tuple[Node, float]]:
        """Return the later statements that replace one that came in after them, or may."""
        later = [node for node in self._list_standing(self._scope_of(new)) if node.event_time > new.event_time]
        cosines = self._store.vectors.compare_with(new.key, [node.key for node in later])
        nearest = sorted((node for node in later if node.key in cosines), key=lambda node: -cosines[node.key])
        return [
            (node, probability)
            for node in nearest[:MAX_SUCCESSORS]
            for old, probability in self._detect_by_meaning(node)
            if old.key == new.key
        ]

    def _scope_of(self, statement: Node) -> str:
        """Return the project of the session that a statement is from."""
        progress = self._store.consolidations.get_progress(statement.session_id) if statement.session_id else None
        return progress.scope if progress else statement.scope

    def _detect_by_meaning(self, new: Node) -> list[tuple[Node, float]]:
        living = self._list_living(new, self._scope_of(new))
        cosines = self._store.vectors.compare_with(new.key, [node.key for node in living])
        living = [node for node in living if node.key in cosines]
        told = _compared(new), [_compared(node) for node in living]
        around = self._find_surroundings(new.session_id, new.metadata.get("turn"))
        by_words = load_replacement_scorer().score(*told, around=around)
        by_meaning = load_replacement_scorer().score(*told, [cosines[node.key] for node in living], around)
        scores = [_weigh_both(*pair) for pair in zip(by_words, by_meaning, strict=True)]
        return _choose_likely(living, scores)

    def _find_surroundings(self, session_id: str | None, seq: object) -> Surroundings:
        """Return what the assistant said right before a turn of the user's, and what it answered."""
        progress = self._store.consolidations.get_progress(session_id) if session_id else None
        if progress is None or not isinstance(seq, int):
            return NOTHING_HEARD
        before = self._store.consolidations.list_said_before(progress.session_key, seq, 1)
        after = (
            node
            for node in self._store.consolidations.list_turns(progress.session_key, seq + 1, TURNS_OF_ANSWER)
            if node.origin in (Origin.CLAUDE_RESPONSE, Origin.USER_PROMPT)
        )
        return Surroundings(_read_assistant(next(iter(before), None)), _read_assistant(next(after, None)))

    def _resolve_by_meaning(self, new: Node, old: Node, probability: float) -> bool:
        return self.resolve_conflict(new, old, probability, sure_from=SURE_BY_MEANING)

    def resolve_conflict(self, new: Node, old: Node, probability: float, *, sure_from: float = SURE) -> bool:
        """End a statement in favour of a new one if that is sure, else mark it; True if it ended. In a transaction."""
        if probability >= sure_from and may_replace(new, old):
            self._conflicts.supersede(old, new, f"a later statement replaces it ({probability:.2f})")
            return True
        self._mark_uncertain(old, new, probability)
        return False

    def _list_living(self, new: Node, scope: str) -> list[Node]:
        """Return the statements of earlier turns that hold, in the order in which they were made."""
        standing = self._list_standing(scope)
        return [node for node in standing if node.event_time <= new.event_time and not _are_of_one_turn(node, new)]

    def _list_standing(self, scope: str) -> list[Node]:
        """Return the statements that hold, in the order in which they were made."""
        found = [
            node
            for kind, subtypes in _COMPARED_TYPES
            for node in self._store.nodes.query_nodes(
                kind, subtypes=subtypes, scopes=(scope, GLOBAL_SCOPE), limit=MAX_LIVING
            )
        ]
        return sorted(found, key=lambda node: (node.event_time, node.key))

    def _mark_uncertain(self, old: Node, new: Node, probability: float) -> None:
        self._store.edges.link_nodes(
            UNCERTAIN_LABEL,
            new.key,
            [old.key],
            now=self._clock(),
            confidence=probability,
            automatic=True,
            evidence="a later statement may replace it",
        )


def _are_of_one_turn(node: Node, other: Node) -> bool:
    """Tell whether two statements were said in one breath: who says two things in one means both."""
    return node.key == other.key or (
        node.session_id is not None and _place_of(node) == _place_of(other) and node.origin is Origin.EXTRACTION
    )


def _place_of(node: Node) -> tuple[str | None, object]:
    return node.session_id, node.metadata.get("turn")


def _read_assistant(turn: Node | None) -> str:
    return turn.content if turn is not None and turn.origin is Origin.CLAUDE_RESPONSE else ""


def _score_finding(finding: ExtractedFinding, living: Sequence[Node], around: Surroundings) -> list[float]:
    statement = ComparedStatement(finding.content, about=finding.about or "")
    return load_replacement_scorer().score(statement, [_compared(node) for node in living], around=around)


def _weigh_both(by_words: float, by_meaning: float) -> float:
    """Return what words and meaning say together; what one of them alone finds likely is marked, unless words are sure.

    Each errs on its own: what both find is right more often.
    """
    if by_words >= SURE:
        return max(by_words, by_meaning)
    together = 1.0 / (1.0 + math.exp(-(_to_odds(by_words) + _to_odds(by_meaning)) / 2))
    return max(together, min(max(by_words, by_meaning), SURE_BY_MEANING - 0.01))


def _to_odds(probability: float) -> float:
    """Return the log-odds of a probability, which is never quite 0 or 1 (`replacement.scorer`)."""
    kept = min(max(probability, LEAST), 1.0 - LEAST)
    return math.log(kept / (1.0 - kept))


def _choose_likely(living: Sequence[Node], scores: Sequence[float]) -> list[tuple[Node, float]]:
    return [(old, probability) for old, probability in zip(living, scores, strict=True) if probability >= POSSIBLE]


def _compared(node: Node) -> ComparedStatement:
    quote, about = node.metadata.get("quote"), node.metadata.get("about")
    return read_statement(str(quote or node.content), str(about or ""))


def may_replace(new: Node, old: Node) -> bool:
    """Return whether rules may end the old one: never what was told on purpose or confirmed, or is better supported."""
    return old.origin is Origin.EXTRACTION and old.decay_rate > 0.0 and source_trust(old) <= source_trust(new)
