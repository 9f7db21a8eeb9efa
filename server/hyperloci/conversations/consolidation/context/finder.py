"""Context finder: the words that a statement is told with, where it doesn't say itself what it is about (B.17).

The questions that its numbered items answer, the option that it chooses, the sentence that a scorer finds needed, of an
assent all of the proposal that it stands in, or the line that the assistant wrote for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hyperloci.conversations.consolidation.context.answer_lists import JOINT, find_answered_questions
from hyperloci.conversations.consolidation.context.assents import is_assent, quote_proposal
from hyperloci.conversations.consolidation.context.options import find_option, names_no_option
from hyperloci.conversations.consolidation.context.scorer import (
    LISTED,
    REPLY,
    Candidate,
    Statement,
    list_candidates,
    score_candidates,
)
from hyperloci.conversations.consolidation.context.written_lines import find_written_line
from hyperloci.conversations.consolidation.turn_view import Sentence, TurnView, find_actions_after, find_reply_before
from hyperloci.conversations.referents import MIN_SUBJECT_WORDS, count_subject_words, lacks_subject
from hyperloci.system.values import dataclass

NEEDED: Final = 0.3
"""Probability from which on a sentence is told with a statement. Of writers left out, the scorer finds the right words
of 863 of 1,477 statements that need some, and others for 191; of 2,322 that need none 279 get some
(docs/benchmarks/extraction.md, "Told with what it is about")."""

FEW_SUBJECT_WORDS: Final = 2
"""Only a statement of no more gets words that don't ask: what the assistant proposed, and the user turned down with a
reason, stands beside that reason as if it were meant (`SOPS would be lighter. → sops hatten wir. nie wieder`). A
question is no such thing; one that names nothing (`What is next?`) says nothing of what is told at length."""

MAX_CONTEXT_CHARS: Final = 280
"""A question or an offer in a sentence or two; more buries the answer."""


@dataclass(frozen=True, slots=True)
class Context:
    """Words that tell what a statement is about.

    Attributes:
        text: the words, as they were said or written.
        turn: the turn that they stand in.
        asks: whether they are a question that names something.
        is_written: whether they are a line that the assistant wrote afterwards.
    """

    text: str
    turn: TurnView
    asks: bool = False
    is_written: bool = False


def find_context(statement: Statement, *, with_lines: bool) -> Context | None:
    """Return the words that a statement is told with; None where it needs none, or none are found.

    Args:
        statement: what the user said.
        with_lines: whether to look also at what the assistant wrote afterwards.
    """
    reply = find_reply_before(statement.turns, statement.at)
    answered = [
        each
        for each in find_answered_questions(statement.turns, statement.at)
        if each.start < statement.end and statement.start < each.end
    ]
    if answered:
        return Context(JOINT.join(each.text for each in answered), answered[0].turn, asks=True)
    option = find_option(statement.text, reply) if reply is not None else None
    if option is not None and reply is not None:
        return Context(_put_behind_lead(option.text, reply, option.start), reply)
    context = _find_sentence(statement, reply)
    if with_lines and (context is None or not context.asks):
        written = find_written_line(statement.text, find_actions_after(statement.turns, statement.at))
        if written is not None:
            return Context(*written, is_written=True)
    if context is not None and context.turn is reply and is_assent(statement.turns, statement.at):
        return _widen(context)
    return context


def _widen(context: Context) -> Context:
    """Return the whole proposal in the place of one sentence of it: what is accepted is often told in another one."""
    proposal = quote_proposal(context.turn)
    return replace(context, text=proposal) if context.text in proposal else context


def _find_sentence(statement: Statement, reply: TurnView | None) -> Context | None:
    """Return the sentence that is likeliest needed; of what can't be understood without, the likeliest that names much.

    A number that none of the options has chooses none of them.
    """
    said = statement.text
    candidates = list_candidates(statement)
    if reply is not None and names_no_option(said, reply):
        candidates = [each for each in candidates if each.place != REPLY or each.sentence.is_question]
    scores = score_candidates(statement, candidates)
    ranked = sorted(zip(scores, candidates, strict=True), key=lambda pair: -pair[0])
    is_short = count_subject_words(said) <= FEW_SUBJECT_WORDS
    needed = [each for score, each in ranked if score >= NEEDED and (is_short or _asks_of_something(each))]
    if not lacks_subject(said):
        return _tell(needed[0], said) if needed else None
    naming = [each for _, each in ranked if count_subject_words(each.sentence.text) >= MIN_SUBJECT_WORDS]
    told = (_tell(each, said) for each in (*needed, *naming))
    return next((context for context in told if count_subject_words(context.text)), None)


def _asks_of_something(candidate: Candidate) -> bool:
    return candidate.sentence.is_question and count_subject_words(candidate.sentence.text) > 0


def _tell(candidate: Candidate, said: str) -> Context:
    sentence, turn = candidate.sentence, candidate.turn
    if LISTED.match(sentence.text):
        text = _put_behind_lead(sentence.text, turn, sentence.start)
    else:
        text = _name_subject(candidate, said) or _shorten(sentence.text)
    return Context(text, turn, asks=sentence.is_question and count_subject_words(text) > 0)


def _put_behind_lead(item: str, turn: TurnView, start: int) -> str:
    """Return an item of a list behind what introduces the list or asks about it: `Which library? … - osmdroid`."""
    others = [each for each in turn.sentences if not _is_in_list(each, turn)]
    before = [each for each in others if each.end <= start]
    asked = [each for each in others if each.start > start and each.is_question]
    for lead in (*before[-1:], *asked[:1]):
        both = f"{lead.text}{JOINT}{item}"
        is_lead = lead.text.endswith((":", "?")) and lead.text not in item and item not in lead.text
        if is_lead and count_subject_words(lead.text) >= MIN_SUBJECT_WORDS and len(both) <= MAX_CONTEXT_CHARS:
            return both
    return _shorten(item)


def _is_in_list(sentence: Sentence, turn: TurnView) -> bool:
    """Return whether the line that a sentence stands in begins as an item does: all of it is the item's."""
    return LISTED.match(turn.text, turn.text.rfind("\n", 0, sentence.start) + 1) is not None


def _name_subject(candidate: Candidate, said: str) -> str | None:
    """Return a sentence with the one before it, where it names nothing, and the statement little: `OK?`, `Keep it?`.

    None where it needs none, where none is right before it, or where both are too long. Of 902 sentences that
    statements of the labelled sessions are told with 13 get one: 9 labels have it too, 4 have the sentence alone.
    """
    sentence, turn, number = candidate.sentence, candidate.turn, candidate.number
    named = count_subject_words(sentence.text)
    if named and count_subject_words(f"{sentence.text} {said}") >= MIN_SUBJECT_WORDS:
        return None
    if number == 0 or turn.is_left_out_after(number - 1):
        return None
    before = turn.sentences[number - 1]
    both = turn.text[before.start : sentence.end]
    names_it = LISTED.match(before.text) is None and count_subject_words(before.text) >= MIN_SUBJECT_WORDS
    return both if names_it and len(both) <= MAX_CONTEXT_CHARS else None


def _shorten(text: str) -> str:
    """Return a text of a length that a memory has room for, cut at a word."""
    if len(text) <= MAX_CONTEXT_CHARS:
        return text
    return text[:MAX_CONTEXT_CHARS].rsplit(None, 1)[0]
