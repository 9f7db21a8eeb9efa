"""Brief answers: a turn of the user's that takes or refuses what the assistant proposed: `Yes, do that.` (B.17).

Most of what is decided with an assistant is decided so. The turn says nothing by itself: what it accepts, and whether
that lasts, is in the proposal and in what the assistant said then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.conversations.consolidation.context.options import find_option
from hyperloci.conversations.consolidation.turn_view import USER, TurnView, find_reply_before
from hyperloci.conversations.referents import find_subject_words, has_identifier
from hyperloci.text.language.figures import read_figures

MAX_WORDS: Final = 6
"""Of a brief answer: of the 1,400 that four writers wrote none has more."""

FEW_WORDS: Final = 3
"""Of an answer that is brief whatever it names: `sold`, `klar`, `sqlite, simplest`."""

MAX_PROPOSAL_CHARS: Final = 280
"""Of the assistant's turn, its last sentences up to so many characters: they hold what was accepted by all 245 answers
of two writers that are to be kept (`bench/data/assents.jsonl`), by 242 with 200. A scorer that picks one sentence picks
another for 77."""


def is_brief_answer(turns: Sequence[TurnView], at: int) -> bool:
    """Return whether a turn answers the assistant in so few words that only both together tell anything.

    One that names an option is no such turn: which one it takes is told by its mark.
    """
    turn, reply = turns[at], find_reply_before(turns, at)
    if turn.speaker != USER or not turn.sentences or reply is None or not reply.sentences:
        return False
    text, words = turn.text, len(turn.text.split())
    if words > MAX_WORDS or "?" in text or read_figures(text) or has_identifier(text):
        return False
    if find_option(text, reply) is not None:
        return False
    return words <= FEW_WORDS or find_subject_words(text) == _name_again(turn, reply)


def names_nothing(turns: Sequence[TurnView], at: int) -> bool:
    """Return whether a brief answer has no word that can tell what it is about: `Yes, do that`, `no`."""
    return is_brief_answer(turns, at) and not find_subject_words(turns[at].text)


def is_assent(turns: Sequence[TurnView], at: int) -> bool:
    """Return whether a brief answer names nothing of what it answers: `Yes, do that`, `sold`, also `no`.

    Whether it takes what is proposed, or refuses it, is for a reader to tell.
    """
    reply = find_reply_before(turns, at)
    return reply is not None and is_brief_answer(turns, at) and not _name_again(turns[at], reply)


def _name_again(turn: TurnView, reply: TurnView) -> frozenset[str]:
    return find_subject_words(turn.text) & find_subject_words(reply.text)


def quote_proposal(reply: TurnView) -> str:
    """Return the end of what the assistant said, in whole sentences, word for word."""
    sentences = reply.sentences
    first = len(sentences) - 1
    while (
        first > 0
        and sentences[-1].end - sentences[first - 1].start <= MAX_PROPOSAL_CHARS
        and not reply.is_left_out_after(first - 1)
    ):
        first -= 1
    quote = reply.text[sentences[first].start : sentences[-1].end]
    return quote if len(quote) <= MAX_PROPOSAL_CHARS else quote[-MAX_PROPOSAL_CHARS:].partition(" ")[2]
