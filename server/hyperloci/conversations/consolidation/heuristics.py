"""Heuristics: find what is worth keeping in a conversation by a small scorer: deterministic, no network (B.17).

What is kept is a span of a turn, word for word, with the words that it answers where it is not understood without them.
A trained scorer decides (`statement_scorer`); what is asked, pasted, quoted or meant for the moment scores low.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.conversations.consolidation.answer_context import find_answer_context
from hyperloci.conversations.consolidation.due_dates import read_due_date
from hyperloci.conversations.consolidation.findings import (
    MAX_CONTENT_CHARS,
    ConsolidationPayload,
    ExtractedFinding,
    FindingKind,
)
from hyperloci.conversations.consolidation.statement_features import read_features, read_kind_features
from hyperloci.conversations.consolidation.statement_scorer import StatementScore, load_weights
from hyperloci.conversations.consolidation.text_similarity import says_same
from hyperloci.conversations.consolidation.turn_view import (
    ACTION,
    ASSISTANT,
    USER,
    TurnView,
    find_answer_after,
    find_reply_before,
    view_turn,
)
from hyperloci.model.node import Node

KEEP: Final = 0.39
"""Probability from which on a sentence of the user's is kept. In cross-validation over the projects of
`python -m bench train_extraction` one look-alike in seven passes it, at .3 one in five; three statements in five pass
it, and of long talk with an assistant many more (docs/benchmarks.md, "Sessions")."""

KEEP_ANSWER: Final = 0.17
"""The same for a word or two that answer a question: they say nothing else."""

ANSWER_WORDS: Final = 2

KEEP_ASSISTANT: Final = 0.5
"""The same for the assistant's: what it found out and did, which the user did not say. In cross-validation two in three
that pass are labelled."""

EXTEND: Final = 0.06
"""Probability from which on a sentence is kept together with a surer neighbour: a statement, and what belongs to it."""

LEAST_CONFIDENCE: Final = 0.5
"""Confidence of the least sure statement that is kept: what passes is more likely worth keeping than not."""

CHOSEN: Final = 0.9
"""Confidence of an answer that a tool asked for: it was asked because it decides."""

_ASKED: Final = re.compile(r"^Asked: (?P<pairs>.+ -> .+)$", re.DOTALL)
_NO_ANSWERS: Final = frozenset({"none", "n/a", "skip", "other", "-"})

PER_TURN: Final = 6
"""Statements kept of one turn, the surest: a longer list is a specification, which stands in a file."""


def extract(turns: Sequence[Node], earlier: Sequence[Node] = ()) -> ConsolidationPayload:
    """Return what is worth keeping of some turns.

    Args:
        turns: turns of one session, in order.
        earlier: what was said right before them, in order.
    """
    found: list[ExtractedFinding] = []
    for finding in extract_findings(_view_turns(turns), _view_turns(earlier)):
        _add_finding(found, finding)
    return ConsolidationPayload(findings=tuple(replace(item, place=f"found[{n}]") for n, item in enumerate(found)))


def _view_turns(turns: Iterable[Node]) -> list[TurnView]:
    return [view for node in turns if (view := view_turn(node)) is not None]


def extract_findings(views: Sequence[TurnView], earlier: Sequence[TurnView] = ()) -> Iterator[ExtractedFinding]:
    """Yield what is worth keeping of some turns, in order; see `extract`.

    What the assistant said last before them is looked at again: only now is there an answer to it.
    """
    turns = [*earlier, *views]
    for at, turn in enumerate(turns):
        is_old = at < len(earlier)
        if turn.is_flagged or (is_old and (turn.speaker != ASSISTANT or find_answer_after(turns, at) not in views)):
            continue
        yield from _find_answers(turn) if turn.speaker == ACTION else _find_in_turn(turns, at)


def _add_finding(found: list[ExtractedFinding], finding: ExtractedFinding) -> None:
    """Add a finding, or its source to the one that says the same."""
    for number, other in enumerate(found):
        if says_same(finding.content, other.content):
            sources = tuple(dict.fromkeys((*other.sources, *finding.sources)))
            found[number] = replace(other, sources=sources, confidence=max(other.confidence, finding.confidence))
            return
    found.append(finding)


def _find_in_turn(turns: Sequence[TurnView], at: int) -> Iterator[ExtractedFinding]:
    turn, weights = turns[at], load_weights()
    scores = [weights.score(read_features(turns, at, number)) for number in range(len(turn.sentences))]
    runs = list(_find_runs(turn, scores, _choose_gate(turns, at)))
    surest = sorted(runs, key=lambda run: -max(scores[number].probability for number in run))[:PER_TURN]
    yield from (_make_finding(turns, at, run, scores) for run in runs if run in surest)


def _find_answers(turn: TurnView) -> Iterator[ExtractedFinding]:
    """Yield what the user chose of what a tool asked."""
    asked = _ASKED.match(turn.text)
    for pair in asked["pairs"].split("; ") if asked else ():
        question, _, answer = (part.strip() for part in pair.partition(" -> "))
        if question and answer and answer.casefold() not in _NO_ANSWERS:
            yield ExtractedFinding(
                kind=FindingKind.DECISION, content=answer, about=question, sources=(turn.seq,), confidence=CHOSEN
            )


def _choose_gate(turns: Sequence[TurnView], at: int) -> float:
    """Return the probability from which on something of a turn is kept."""
    if turns[at].speaker != USER:
        return KEEP_ASSISTANT
    reply = find_reply_before(turns, at)
    was_asked = reply is not None and reply.text.rstrip().endswith("?")
    return KEEP_ANSWER if was_asked and len(turns[at].text.split()) <= ANSWER_WORDS else KEEP


def _find_runs(turn: TurnView, scores: Sequence[StatementScore], least: float) -> Iterator[list[int]]:
    """Yield the sentences that make one statement: neighbours, of which at least one is sure enough by itself."""
    run: list[int] = []
    for number, score in enumerate(scores):
        if run and (score.probability < EXTEND or turn.is_left_out_after(number - 1)):
            if max(scores[other].probability for other in run) >= least:
                yield run
            run = []
        if score.probability >= EXTEND:
            run.append(number)
    if run and max(scores[number].probability for number in run) >= least:
        yield run


def _make_finding(
    turns: Sequence[TurnView], at: int, run: Sequence[int], scores: Sequence[StatementScore]
) -> ExtractedFinding:
    turn = turns[at]
    best = max((scores[number] for number in run), key=lambda score: score.probability)
    quote = turn.text[turn.sentences[run[0]].start : turn.sentences[run[-1]].end][:MAX_CONTENT_CHARS]
    reply = find_reply_before(turns, at) if turn.speaker == USER and best.needs_context else None
    about = find_answer_context(quote, reply) if reply is not None else None
    kind = load_weights().choose_kind(read_kind_features(quote))
    return ExtractedFinding(
        kind=kind,
        content=quote,
        about=about,
        sources=(turn.seq,) if reply is None or about is None else (reply.seq, turn.seq),
        due=read_due_date(quote, turn.at) if kind is FindingKind.DEADLINE else None,
        confidence=LEAST_CONFIDENCE + (1.0 - LEAST_CONFIDENCE) * best.probability,
    )
