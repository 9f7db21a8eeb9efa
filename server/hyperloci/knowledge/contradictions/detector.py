"""Contradiction detector: finds what a statement contradicts among memories about the same thing (D.10).

In order of authority: relations that say so, facts that were superseded, dead ends, and what the rules
(`contradictions.rules`) and the learned judge (`contradictions.pair_judge`) say of the two texts; a language-inference
model is asked about the rest, if one is given. Documents are judged sentence by sentence, more strictly, and so is what
code says of itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from hyperloci.clock import format_day
from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.knowledge.contradictions.code_statements import list_code_statements
from hyperloci.knowledge.contradictions.pair_judge import (
    SURE_GATE,
    explain_contradiction,
    is_change,
    is_contradiction,
    score_contradiction,
    score_contradictions,
)
from hyperloci.knowledge.contradictions.rules import ContradictionJudge, Verdict, make_judge
from hyperloci.knowledge.contradictions.statement_profile import MAX_PROFILE_CHARS
from hyperloci.knowledge.contradictions.words import split_statements
from hyperloci.knowledge.cross_reading import PairScorer, read_nearest
from hyperloci.model.answers import Contradiction, ContradictionKind, ContradictionNature, ContradictionReport
from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.model.sources import make_hit_source
from hyperloci.store import Store
from hyperloci.system.values import dataclass
from hyperloci.text.cutting import cut_line

logger = logging.getLogger(__name__)

SAME_LIKENESS: Final = 0.85
"""Likeness from which on two texts say the same: the rest is an article or an inflection."""

MAX_LENGTH_RATIO: Final = 3
"""A text more than so many times longer does not say the same."""

DEAD_END_GATE: Final = 0.5
"""Half of what a statement and a dead end say must be shared: a missed dead end is tried again, which costs more than
a needless warning."""

NLI_GATE: Final = 0.5
"""Probability of a contradiction from which on the model is believed."""

NLI_SURE: Final = 0.9
"""Probability from which on what the model says is stored."""

NLI_CANDIDATES: Final = 10
"""At most so many pairs go to the model; each takes tens of milliseconds."""

MAX_HISTORY: Final = 5
"""Corrections that are followed back from a candidate."""

EXCERPT_CHARS: Final = 120

SURE_UPTAKE: Final = 0.75
"""A statement that shares so much with a dead end proposes it again."""

DOCUMENT_GATE: Final = 0.9
"""A document has many sentences, and each may be a false alarm: the judge alone must be surer than of a memory (1.7 %
false alarms among pairs of unread writers, `bench train_contradictions`)."""

DOCUMENT_SUPPORTED: Final = 0.5
"""The same where the rules find a contradiction in a sentence that shares half of its words."""

LABEL_WORDS: Final = 3
"""A heading or an entry of so few words names something and states nothing."""

DOCUMENT_SENTENCES: Final = 12
"""Sentences of one snippet that are judged: those with most of the statement's words."""

UNJUDGED_ORIGINS: Final = frozenset({Origin.CLAUDE_RESPONSE, Origin.HOOK, Origin.CODE, Origin.COMMIT})
"""Old answers, logged actions, code and history say nothing about today: on real conversations four false alarms
of five came from the assistant's own answers."""


@dataclass(frozen=True, slots=True)
class ContradictionCandidate:
    """A memory that may contradict a statement; `similarity` is the cosine of both, where vectors are there."""

    node: Node
    similarity: float | None = None


class EntailmentModel(Protocol):
    """A natural-language-inference model."""

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return for each pair (premise, hypothesis) the probability that they contradict each other, 0..1."""
        ...


@dataclass(frozen=True, slots=True)
class _FoundContradiction:
    node: Node
    kind: ContradictionKind
    score: float
    reason: str
    nature: ContradictionNature = ContradictionNature.CONTRADICTION
    sure: bool = False


class ContradictionFinder:
    """Compares statements with the memories of one store."""

    def __init__(self, store: Store, nli: EntailmentModel | None = None, scorer: PairScorer | None = None) -> None:
        """Create it.

        Args:
            store: whose memories.
            nli: the user's own model, which is asked about what nothing else finds.
            scorer: reads a memory and the statement together, beside the learned judge.
        """
        self._store = store
        self._scorer = scorer
        self._traversal = store.traversal
        self._nli = nli

    def find(
        self,
        statement: str,
        candidates: Sequence[ContradictionCandidate],
        *,
        scopes: Sequence[str] = (),
        limit: int = 5,
    ) -> ContradictionReport:
        """Return the memories that contradict a statement, by falling confidence, each once.

        Args:
            statement: a claim, or a fact about to be stored.
            candidates: memories about the same, as a search found them; superseded ones may be among them.
            scopes: only memories of these scopes; empty is every scope.
            limit: how many to return at most.
        """
        judge = make_judge(statement)
        near = [c for c in candidates if c.node.deleted_at is None and (not scopes or c.node.scope in scopes)]
        found: dict[NodeKey, _FoundContradiction] = {}
        # The first reason found for a memory stays: the order is that of authority.
        for item in (
            *self._find_linked(judge, near, scopes),
            *self._find_superseded(judge, near, scopes),
            *_find_dead_ends(judge, near),
            *self._judge_candidates(judge, near),
            *self._judge_files(judge, near),
        ):
            found.setdefault(item.node.key, item)
        for item in self._infer_contradictions(statement, [c for c in near if c.node.key not in found]):
            found.setdefault(item.node.key, item)
        best = sorted(found.values(), key=lambda item: (-item.score, item.node.id))[:limit]
        return ContradictionReport(
            statement=statement, checked=len(near), contradictions=tuple(self._to_contradictions(best))
        )

    def _find_linked(
        self, judge: ContradictionJudge, near: Sequence[ContradictionCandidate], scopes: Sequence[str]
    ) -> list[_FoundContradiction]:
        """Find what a relation says to contradict a memory that says the same as the statement."""
        # Which have one at all: few do, and where many do, a memory may be disputed by hundreds.
        linked = self._traversal.find_linked([c.node.key for c in near], "contradicts")
        same = {c.node.key: c.node for c in near if c.node.key in linked and _says_the_same(judge, c.node)}
        steps = self._traversal.find_steps(same, label="contradicts", scopes=scopes) if same else []
        others = self._get_shown(step.target for step in steps)
        return [
            _FoundContradiction(
                others[step.target],
                ContradictionKind.EXPLICIT,
                step.confidence,
                f'it is marked as contradicting "{_make_excerpt(same[step.source].content)}", which says the same',
            )
            for step in steps
            if step.target in others and others[step.target].valid_until is None and step.target not in same
        ]

    def _find_superseded(
        self, judge: ContradictionJudge, near: Sequence[ContradictionCandidate], scopes: Sequence[str]
    ) -> list[_FoundContradiction]:
        """Find superseded facts that the statement restates, among the candidates and behind them.

        Where the successor says the same too, only the wording was corrected.
        """
        pairs = self._supersession_history(near, scopes)
        nodes = self._get_shown(key for pair in pairs.items() for key in pair)
        return [
            _FoundContradiction(
                nodes[old],
                ContradictionKind.SUPERSEDED,
                min(1.0, judge.compute_likeness(nodes[old].content)),
                _explain_supersession(nodes[old], nodes[new]),
                ContradictionNature.SUPERSEDED,
            )
            for old, new in pairs.items()
            if old in nodes and new in nodes
            if _says_the_same(judge, nodes[old]) and not _says_the_same(judge, nodes[new])
        ]

    def _get_shown(self, keys: Iterable[NodeKey]) -> dict[NodeKey, Node]:
        """Return the memories that relations lead to, without those that are withheld."""
        reached = frozenset(keys)
        return self._store.nodes.get_by_keys(reached - self._store.withheld.select_withheld(reached))

    def _supersession_history(
        self, near: Sequence[ContradictionCandidate], scopes: Sequence[str]
    ) -> dict[NodeKey, NodeKey]:
        """Return what is superseded by what: behind each candidate, and what came after each."""
        pairs = {
            step.source: step.target
            for c in near
            if c.node.valid_until is not None
            for step in self._traversal.find_steps([c.node.key], label="supersedes", direction="in", scopes=scopes)
        }
        frontier: set[NodeKey] = {c.node.key for c in near}
        for _ in range(MAX_HISTORY):
            steps = self._traversal.find_steps(frontier, label="supersedes", direction="out", scopes=scopes)
            frontier = {step.target for step in steps} - pairs.keys()
            for step in steps:
                pairs.setdefault(step.target, step.source)
            if not frontier:
                break
        return pairs

    def _judge_candidates(
        self, judge: ContradictionJudge, near: Sequence[ContradictionCandidate]
    ) -> Iterable[_FoundContradiction]:
        claims = [candidate for candidate in near if is_current_claim(candidate.node)]
        # Of texts longer than a statement the rules alone speak, which compare sentence with sentence.
        short = [c for c in claims if max(len(c.node.content), len(judge.statement)) <= MAX_PROFILE_CHARS]
        texts = [c.node.content for c in short]
        scores = dict(zip(texts, score_contradictions(texts, judge.statement), strict=True))
        scores |= read_nearest(self._scorer, judge.statement, scores, {c.node.content: c.similarity for c in short})
        for candidate in claims:
            found = _weigh_verdict(judge, candidate, scores.get(candidate.node.content))
            if found is not None:
                yield found

    def _judge_files(
        self, judge: ContradictionJudge, near: Sequence[ContradictionCandidate]
    ) -> Iterable[_FoundContradiction]:
        """Judge what documents say, and what code says of itself: its documentation and its default values."""
        facts = self._store.positions.get_code_facts(c.node.key for c in near if c.node.origin is Origin.CODE)
        told: set[str] = set()
        for candidate in near:
            node = candidate.node
            if node.valid_until is not None:
                continue
            if node.origin is Origin.MARKDOWN:
                sentences: Sequence[str] = split_statements(node.content)
            elif node.key in facts:
                sentences = list_code_statements(node.content, facts[node.key])
            else:
                continue
            found = _judge_sentences(judge, node, sentences, told)
            if found is not None:
                yield found

    def _infer_contradictions(
        self, statement: str, rest: Sequence[ContradictionCandidate]
    ) -> list[_FoundContradiction]:
        if self._nli is None:
            return []
        rest = [c for c in rest if is_current_claim(c.node)]
        nearest = sorted(rest, key=lambda c: (-(c.similarity or 0.0), c.node.key))[:NLI_CANDIDATES]
        try:
            scores = self._nli.contradiction([(c.node.content, statement) for c in nearest])
        except (NotReadyError, EmbedderError, BadRequestError) as error:
            logger.info("judging by rules alone: %s", error)
            return []
        return [
            _FoundContradiction(
                c.node,
                ContradictionKind.NLI,
                float(score),
                "the inference model says that they contradict each other",
                sure=float(score) >= NLI_SURE,
            )
            for c, score in zip(nearest, scores, strict=True)
            if score >= NLI_GATE
        ]

    def _to_contradictions(self, found: Sequence[_FoundContradiction]) -> Iterable[Contradiction]:
        keys = [item.node.key for item in found]
        positions, commits = self._store.positions.get_positions(keys), self._store.files.get_commits(keys)
        asker = self._store.nodes.signature.asker
        for item in found:
            yield Contradiction(
                id=item.node.id,
                content=item.node.content,
                kind=item.kind,
                nature=item.nature,
                score=round(item.score, 4),
                reason=item.reason,
                sure=item.sure,
                source=make_hit_source(
                    item.node, positions.get(item.node.key), commits.get(item.node.key), asker=asker
                ),
            )


def _find_dead_ends(judge: ContradictionJudge, near: Sequence[ContradictionCandidate]) -> Iterable[_FoundContradiction]:
    """Find dead ends whose approach the statement repeats."""
    for candidate in near:
        node = candidate.node
        if node.subtype != "dead_end" or node.valid_until is not None:
            continue
        approach = str(node.metadata.get("approach") or node.content)
        likeness = judge.score_uptake(approach)
        if likeness >= DEAD_END_GATE:
            why = node.metadata.get("reason")
            reason = f"this was tried and marked a dead end: {_make_excerpt(str(why or node.content))}"
            sure = likeness >= SURE_UPTAKE
            yield _FoundContradiction(node, ContradictionKind.DEAD_END, min(1.0, likeness), reason, sure=sure)


def _weigh_verdict(
    judge: ContradictionJudge, candidate: ContradictionCandidate, score: float | None
) -> _FoundContradiction | None:
    """Return what rules and judge together say of a statement and a memory, or None (no score: the rules)."""
    node, old, statement = candidate.node, candidate.node.content, judge.statement
    if score is not None and not is_contradiction(score):
        return None
    verdict: Verdict | None = judge.compare_memory(old, candidate.similarity)
    if score is None:
        return None if verdict is None else _make_found(node, verdict, verdict.score, sure=False)
    nature = ContradictionNature.UPDATE if is_change(old, statement) else ContradictionNature.CONTRADICTION
    judged = Verdict(ContradictionKind.JUDGED, score, explain_contradiction(old, statement), nature)
    return _make_found(node, verdict or judged, score, sure=score >= SURE_GATE)


def _make_found(node: Node, verdict: Verdict, score: float, *, sure: bool) -> _FoundContradiction:
    return _FoundContradiction(node, verdict.kind, score, verdict.reason, verdict.nature, sure)


def _judge_sentences(
    judge: ContradictionJudge, node: Node, sentences: Sequence[str], told_before: set[str]
) -> _FoundContradiction | None:
    """Return what the sentences of a file say against a statement, by the one that says it most; nothing twice."""
    what, least = ("code", DOCUMENT_GATE) if node.origin is Origin.CODE else ("document", 0.0)
    near = _nearest_sentences(judge, sentences)
    scores = {sentence: _score_document_sentence(judge, sentence) for sentence in near}
    told = max(scores, key=lambda sentence: scores[sentence], default="")
    if not told or not scores[told] or scores[told] < least or told in told_before:
        return None
    told_before.add(told)
    reason = f'the {what} says "{_make_excerpt(told)}"; {explain_contradiction(told, judge.statement)}'
    return _FoundContradiction(node, ContradictionKind.JUDGED, scores[told], reason)


def _score_document_sentence(judge: ContradictionJudge, sentence: str) -> float:
    """Return the probability that a sentence contradicts a statement; 0 below the gate for documents."""
    score = score_contradiction(sentence, judge.statement)
    supported = score >= DOCUMENT_SUPPORTED and judge.compare_memory(sentence) is not None
    return score if supported or score >= DOCUMENT_GATE else 0.0


def _nearest_sentences(judge: ContradictionJudge, sentences: Sequence[str]) -> list[str]:
    """Return the sentences that share most with a statement, those that share half of it at least; no mere labels."""
    stating = [sentence for sentence in sentences if len(sentence.split()) > LABEL_WORDS and sentence[-1] != ":"]
    likeness = {sentence: judge.compute_likeness(sentence) for sentence in stating}
    near = [sentence for sentence, share in likeness.items() if share >= DEAD_END_GATE]
    return sorted(near, key=lambda sentence: -likeness[sentence])[:DOCUMENT_SENTENCES]


def is_current_claim(node: Node) -> bool:
    """Return whether a memory claims something that holds today."""
    return (
        node.valid_until is None
        and node.subtype not in ("dead_end", "action")
        and node.type not in (NodeType.ENTITY, NodeType.SNIPPET)
        and node.origin not in UNJUDGED_ORIGINS
    )


def _explain_supersession(old: Node, new: Node) -> str:
    held = "held once" if old.valid_until is None else f"held until {format_day(old.valid_until)}"
    return f'this was {held}, then superseded by "{_make_excerpt(new.content)}" ({new.id})'


def _says_the_same(judge: ContradictionJudge, node: Node) -> bool:
    # A much longer text says more, whatever it shares: it is not worth its analysis.
    if len(node.content) > MAX_LENGTH_RATIO * len(judge.statement) + EXCERPT_CHARS:
        return False
    return judge.compute_likeness(node.content) >= SAME_LIKENESS and judge.compare_memory(node.content) is None


def _make_excerpt(text: str) -> str:
    return cut_line(text, EXCERPT_CHARS)
