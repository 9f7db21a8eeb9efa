"""Heuristics: find what is worth keeping in a conversation by a small scorer, without any network (B.17).

What is kept is a span of a turn, word for word, with the words that tell what it is about where it doesn't say so.
A trained scorer decides (`statement_scorer`), where the embedder runs together with a small model
(`statement_reading`); what is asked, pasted, quoted or meant for the moment scores low.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from hyperloci.conversations.asked_questions import read_answers
from hyperloci.conversations.consolidation.actions import read_actions
from hyperloci.conversations.consolidation.context.assents import names_nothing
from hyperloci.conversations.consolidation.context.finder import find_context
from hyperloci.conversations.consolidation.context.options import find_choice
from hyperloci.conversations.consolidation.context.scorer import Statement
from hyperloci.conversations.consolidation.findings import (
    MAX_CONTENT_CHARS,
    ConsolidationPayload,
    ExtractedFinding,
    FindingKind,
)
from hyperloci.conversations.consolidation.statement_features import (
    is_asking,
    read_cues,
    read_features,
    read_kind_features,
    split_words,
)
from hyperloci.conversations.consolidation.statement_reading import (
    CHOSEN_READING,
    SURE_READING,
    ReadingSession,
    read_statements,
)
from hyperloci.conversations.consolidation.statement_scorer import choose_kind, load_weights
from hyperloci.conversations.consolidation.text_similarity import repeats
from hyperloci.conversations.consolidation.turn_view import (
    ACTION,
    ASSISTANT,
    USER,
    TurnView,
    find_actions_after,
    find_answer_after,
    find_reply_after,
    find_reply_before,
    view_turn,
)
from hyperloci.conversations.referents import lacks_subject, read_words
from hyperloci.model.node import Node
from hyperloci.text.language.figures import read_figures

KEEP: Final = 0.5
"""Probability from which on a sentence of the user's is kept. Chosen on six writers of twelve projects each, each
judged by a model that learned from the others: from .45 on .81 of what matters is kept and .09 of what must not be,
from .5 on .79 and .08, from .55 on .76 and .07 (docs/benchmarks/extraction.md, "Six more writers, and each left out in
turn"). A wrong memory does more harm than a missing one."""

KEEP_UNANSWERED: Final = 0.32
"""The same where the assistant has not answered: how it takes what is said tells, and all are less sure without it."""

KEEP_FACT: Final = 0.5
"""The same for what only states how things are, or tells of the user: people say much of that in passing."""

_FACTS: Final = frozenset({FindingKind.SEMANTIC, FindingKind.USER_INFO})

KEEP_ANSWER: Final = 0.17
"""The same for a word or two that answer a question, and for a sentence that names one of several options by its mark:
they say nothing else."""

ANSWER_WORDS: Final = 2

KEEP_ASSISTANT: Final = 0.4
"""The same for the assistant's: what it found out and did, which the user did not say. With the writer left out, from
.5 to .4 more causes are kept and no more look-alikes."""

KEEP_REPORTED: Final = 0.8
REPORT_SENTENCES: Final = 4
"""The same where the assistant says so many sentences or more at once: an agent's report tells much that is soon over.
Of 77 sentences of published sessions' reports between .4 and .8, judged by readers of the sessions, 8 are worth
keeping, 19 weak and 50 noise or wrong; from .8 on 4 of 11. What is to be kept of the assistant's in the chats that were
written stands in shorter turns (docs/benchmarks/extraction.md, "An agent's reports")."""

KEEP_WRITTEN: Final = 0.1
"""The same for a sentence that names a figure which the assistant then wrote into a file in the place of another: of 20
such sentences between .1 and .5 in twenty projects of five writers 18 are to be kept, one is not and one must not be
(`send every 10 s until lunch`); of two below .1 neither is."""

KEEP_USER: Final = 0.1
SURE_USER: Final = 0.8
"""The same for a sentence that is surely about who the user is, told from its kind's share on: people say that once,
on the way to a request (`i run a bakery, two years of php. why is it slow`). Of eighteen projects by six new writers
the five sentences between .1 and .5 that are so sure are all to be kept, and one of the next three (`python -m bench
train_extraction` learns kinds from 240 introductions written for it)."""

KEEP_BINDING: Final = MappingProxyType({FindingKind.DEADLINE: 0.25, FindingKind.CONSTRAINT: 0.4})
"""The same for what is likeliest of these kinds: who forgets them does harm. Of sentences of the user's in twenty
projects of five writers, beside no surer one, five of five deadlines from .25 on are to be kept, and of constraints ten
of 14 from .4 on, two of which must not be (rules of another place); from .33 on four of six, and two; of decisions half
(docs/benchmarks/extraction.md, "Kept from less on")."""

EXTEND: Final = 0.06
"""Probability from which on a sentence is kept together with a surer neighbour: a statement, and what belongs to it."""

TENTATIVE: Final = 0.2
"""Probability from which on a sentence of the user's is kept if it changes what holds (`replacements.CHANGES`): who
changes their mind says it in passing, and names little. Half as sure as what is kept by itself; below are tasks."""

PASSING: Final = TENTATIVE / 2
"""Probability from which on a sentence of the user's is noted as said in passing: nothing is made of it, but a later
statement may replace it. In cross-validation over projects 41 of 65 such changes are told then, besides 124 others in
112 projects; of those from `TENTATIVE` on 34 of 49, besides 84 (docs/benchmarks/changed-minds.md, "A past answer
first")."""

TENTATIVE_PER_TURN: Final = 3
"""Each is put beside all that holds, some milliseconds each."""

READ_AT_ENDS: Final = 500
"""Sentences that are read at each end of a turn: of more, those between are a pasted document."""

LEAST_CONFIDENCE: Final = 0.5
"""Confidence of the least sure statement that is kept: what passes is more likely worth keeping than not."""

CHOSEN: Final = 0.9
"""Confidence of an answer that a tool asked for: it was asked because it decides."""

_NO_ANSWERS: Final = frozenset({"none", "n/a", "skip", "other", "-"})

FRAMING_WORDS: Final = 3
"""Words within which a sentence that only thanks says so."""

PER_TURN: Final = 6
"""Statements kept of one turn, the surest: a longer list is a specification, which stands in a file."""


def extract(
    turns: Sequence[Node],
    earlier: Sequence[Node] = (),
    *,
    tentative: bool = False,
    reading: ReadingSession | None = None,
) -> ConsolidationPayload:
    """Return what is worth keeping of some turns.

    Args:
        turns: turns of one session, in order.
        earlier: what was said right before them, in order.
        tentative: whether to return also what is worth keeping only if it changes what holds, and what is said in
            passing.
        reading: has sentences read with what was said around them; without one words alone tell.
    """
    found: list[ExtractedFinding] = []
    for finding in extract_findings(_view_turns(turns), _view_turns(earlier), tentative=tentative, reading=reading):
        _add_finding(found, finding)
    return ConsolidationPayload(findings=tuple(replace(item, place=f"found[{n}]") for n, item in enumerate(found)))


def _view_turns(turns: Iterable[Node]) -> list[TurnView]:
    return [view for node in turns if (view := view_turn(node)) is not None]


def extract_findings(
    views: Sequence[TurnView],
    earlier: Sequence[TurnView] = (),
    *,
    tentative: bool = False,
    reading: ReadingSession | None = None,
) -> Iterator[ExtractedFinding]:
    """Yield what is worth keeping of some turns, in order; see `extract`.

    What the assistant said last before them is looked at again: only now is there an answer to it.

    Args:
        views: the turns.
        earlier: what was said right before them.
        tentative: whether to yield also what is worth keeping only if it changes what holds.
        reading: has sentences read with what was said around them.
    """
    turns = [*earlier, *views]
    for at, turn in enumerate(turns):
        is_old = at < len(earlier)
        if turn.is_flagged or (is_old and (turn.speaker != ASSISTANT or find_answer_after(turns, at) not in views)):
            continue
        found = _find_answers(turn) if turn.speaker == ACTION else _find_in_turn(turns, at, reading)
        yield from (finding for finding in found if tentative or not finding.is_tentative)


def _add_finding(found: list[ExtractedFinding], finding: ExtractedFinding) -> None:
    """Add a finding, or its source to the one that says the same as surely.

    What is less sure joins nothing surer: a memory would move to the turn, and to the time, of what nobody keeps.
    """
    for number, other in enumerate(found):
        if other.sureness is finding.sureness and repeats(finding.said, other.said):
            sources = tuple(dict.fromkeys((*other.sources, *finding.sources)))
            found[number] = replace(other, sources=sources, confidence=max(other.confidence, finding.confidence))
            return
    found.append(finding)


def _find_in_turn(turns: Sequence[TurnView], at: int, reading: ReadingSession | None) -> Iterator[ExtractedFinding]:
    turn, weights = turns[at], load_weights()
    unread = range(READ_AT_ENDS, len(turn.sentences) - READ_AT_ENDS)
    scores = [
        0.0 if number in unread or _only_points(sentence.text) else weights.score(read_features(turns, at, number))
        for number, sentence in enumerate(turn.sentences)
    ]
    gate = _choose_gate(turns, at)
    if turn.speaker == USER:
        by_words, scores = scores, read_statements(reading, turns, at, scores)
        is_chosen = find_choice(turns, at) is not None
        is_read_alone = scores != by_words and (is_chosen or names_nothing(turns, at))
        if is_read_alone:
            gate = CHOSEN_READING if is_chosen else SURE_READING
        scores = _raise_by_kind(turn, _raise_written(turn, by_words, scores, find_actions_after(turns, at)))
    runs = list(_find_runs(turn, scores, gate))
    surest = sorted(runs, key=lambda run: -max(scores[number] for number in run))[:PER_TURN]
    found = {run: _make_finding(turns, at, run, scores) for run in runs if run in surest}
    if turn.speaker == USER:
        # What passes and is refused, as a fact that is not sure enough, may change what holds all the same.
        kept = [run for run, finding in found.items() if finding is not None]
        for run in _find_tentative_runs(turn, scores, kept):
            finding = _make_finding(turns, at, run, scores, facts_from=PASSING)
            # A refusal that is read as half an assent must not end what it defends.
            is_passing = is_read_alone or max(scores[number] for number in run) < TENTATIVE
            found[run] = None if finding is None else replace(finding, is_tentative=True, is_passing=is_passing)
    yield from (finding for finding in found.values() if finding is not None)


def _raise_written(
    turn: TurnView, by_words: Sequence[float], scores: list[float], actions: Sequence[TurnView]
) -> list[float]:
    """Return the scores of sentences, as sure as what is kept where the assistant then wrote a figure of theirs.

    That was measured by words alone, and is a witness of its own: a reading that doubts a sentence takes nothing back.
    """
    lines = tuple(action.text for action in actions)
    written = frozenset().union(*(change.came for change in read_actions(lines).changes))
    if not written:
        return scores
    return [
        max(score, KEEP)
        if max(score, words) >= KEEP_WRITTEN and not written.isdisjoint(read_figures(sentence.text))
        else score
        for sentence, words, score in zip(turn.sentences, by_words, scores, strict=True)
    ]


def _raise_by_kind(turn: TurnView, scores: list[float]) -> list[float]:
    """Return the scores of sentences, as sure as what is kept where their kind is kept from less on."""
    return [
        KEEP if _is_kept_by_kind(sentence.text, score) else score
        for sentence, score in zip(turn.sentences, scores, strict=True)
    ]


def _is_kept_by_kind(text: str, probability: float) -> bool:
    if not KEEP_USER <= probability < KEEP:
        return False
    shares = load_weights().weigh_kinds(tuple(read_kind_features(text)))
    likeliest = max(shares, key=lambda kind: shares[kind])
    if probability >= KEEP_BINDING.get(likeliest, KEEP):
        return True
    # Behind a colon somebody else speaks: `the customer wrote: I am a teacher`.
    return shares[FindingKind.USER_INFO] >= SURE_USER and ":" not in text


def _find_answers(turn: TurnView) -> Iterator[ExtractedFinding]:
    """Yield what the user chose of what a tool asked."""
    for question, answer in read_answers(turn.text):
        if question and answer.strip() and answer.strip().casefold() not in _NO_ANSWERS:
            yield ExtractedFinding(
                kind=FindingKind.DECISION,
                content=answer.strip()[:MAX_CONTENT_CHARS],
                about=question,
                sources=(turn.seq,),
                confidence=CHOSEN,
            )


def _choose_gate(turns: Sequence[TurnView], at: int) -> float:
    """Return the probability from which on something of a turn is kept."""
    if turns[at].speaker != USER:
        return KEEP_ASSISTANT if len(turns[at].sentences) < REPORT_SENTENCES else KEEP_REPORTED
    keep = KEEP_UNANSWERED if find_reply_after(turns, at) is None else KEEP
    reply = find_reply_before(turns, at)
    if reply is None:
        return keep
    if len(turns[at].text.split()) <= ANSWER_WORDS and reply.text.rstrip().endswith("?"):
        return KEEP_ANSWER
    return keep if find_choice(turns, at) is None else KEEP_ANSWER


def _find_runs(turn: TurnView, scores: Sequence[float], least: float) -> Iterator[tuple[int, ...]]:
    """Yield the sentences that make one statement: neighbours, of which at least one is sure enough by itself."""
    run: list[int] = []
    for number, score in enumerate(scores):
        if run and (score < EXTEND or turn.is_left_out_after(number - 1)):
            if max(scores[other] for other in run) >= least:
                yield tuple(run)
            run = []
        if score >= EXTEND:
            run.append(number)
    if run and max(scores[number] for number in run) >= least:
        yield tuple(run)


def _find_tentative_runs(
    turn: TurnView, scores: Sequence[float], kept: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Return the surest statements that are not kept and do not only ask."""
    taken = {number for run in kept for number in run}
    runs = [
        run
        for run in _find_runs(turn, scores, PASSING)
        if taken.isdisjoint(run) and not all(turn.sentences[number].is_question for number in run)
    ]
    return sorted(runs, key=lambda run: -max(scores[number] for number in run))[:TENTATIVE_PER_TURN]


def _make_finding(
    turns: Sequence[TurnView],
    at: int,
    run: Sequence[int],
    scores: Sequence[float],
    *,
    facts_from: float | None = None,
) -> ExtractedFinding | None:
    """Return what a run of sentences says; None where it leans on what nobody said, or states a fact too unsurely."""
    turn = turns[at]
    best = max(scores[number] for number in run)
    first, last = _trim_run(turn, run, scores)
    if first == last and _introduces_what_is_left_out(turn, first):
        return None
    start = turn.sentences[first].start
    quote = turn.text[start : turn.sentences[last].end][:MAX_CONTENT_CHARS]
    if lacks_subject(quote) and first > 0 and not turn.is_left_out_after(first - 1):
        start = turn.sentences[first - 1].start
        quote = turn.text[start : turn.sentences[last].end][:MAX_CONTENT_CHARS]
    kind, due = choose_kind(quote, turn.at)
    context = None
    if turn.speaker == USER:
        statement = Statement(turns, at, start, start + len(quote))
        context = find_context(statement, with_lines=kind is not FindingKind.DEADLINE)
    if context is None and (lacks_subject(quote) or (kind in _FACTS and best < (facts_from or KEEP_FACT))):
        return None
    finding = ExtractedFinding(
        kind=kind,
        content=quote,
        sources=(turn.seq,),
        due=due,
        confidence=LEAST_CONFIDENCE + (1.0 - LEAST_CONFIDENCE) * best,
    )
    if context is None:
        return finding
    if context.is_written:
        return replace(finding, about=context.text, explained_by=(context.turn.seq,))
    return replace(finding, about=context.text, sources=tuple(dict.fromkeys((context.turn.seq, turn.seq))))


def _trim_run(turn: TurnView, run: Sequence[int], scores: Sequence[float]) -> tuple[int, int]:
    """Return the first and the last sentence of a run without questions, thanks and a `Yes.` around what is sure."""
    first, last = run[0], run[-1]
    surest = max(run, key=lambda number: scores[number])
    while first < surest and _is_framing(turn, first):
        first += 1
    while last > surest and _is_framing(turn, last):
        last -= 1
    return first, last


def _introduces_what_is_left_out(turn: TurnView, number: int) -> bool:
    """Return whether a sentence ends in a colon, and what it is about is code or a log: alone it says nothing."""
    return turn.sentences[number].text.endswith(":") and turn.is_left_out_after(number)


def _is_framing(turn: TurnView, number: int) -> bool:
    text = turn.sentences[number].text
    words = split_words(text)
    return is_asking(text) or "thanks" in read_cues(words[:FRAMING_WORDS]) or _only_joins(words)


def _only_points(text: str) -> bool:
    """Return whether a sentence says nothing but which files to look at: `@src/app.py:10-20`, `@a.md and @b.md`."""
    said = [word for word in text.split() if not word.startswith("@")]
    return _only_joins(split_words(" ".join(said))) if said else True


def _only_joins(words: Sequence[str]) -> bool:
    """Return whether words only join what follows to what was said: `Yes.`, `Oh well.`"""
    return bool(words) and all(word in read_words("connectives") for word in words)
