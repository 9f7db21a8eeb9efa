"""Turn sentences: the sentences of a conversation, which a summary is made of (C.05)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store.keywords.analysis import analyse_text, stop_words
from hyperloci.system.values import dataclass
from hyperloci.text.language.sentences import split_sentences

MIN_TERMS: Final = 3
"""Fewer words that mean something are a greeting or a fragment."""

MAX_CHARS: Final = 320
"""A longer "sentence" is a listing or a log: its beginning stands for it."""

MAX_SENTENCES: Final = 240
"""Looked at in one chunk: the ranking compares each with each. Of more, the longest pasted texts give fewest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSentence:
    """A sentence, who said it and where.

    Attributes:
        text: the sentence.
        role, kind: whose, and whether it is words or the line of an action.
        turn: the place of its turn among those of the chunk; `place`: its own among all sentences.
        terms: what the keyword index would hold of it, without stop words.
    """

    text: str
    role: Speaker
    kind: TurnKind
    turn: int
    place: int
    terms: tuple[str, ...]


def extract_sentences(turns: Iterable[Turn]) -> list[TurnSentence]:
    """Return the sentences of turns that say something, each once, in order; code and tables are left out."""
    found: list[TurnSentence] = []
    seen: set[tuple[str, ...]] = set()
    for number, turn in enumerate(turns):
        for text in _split_turn(turn):
            words = content_terms(text)
            if len(words) >= MIN_TERMS and words not in seen:
                seen.add(words)
                found.append(
                    TurnSentence(text=text, role=turn.role, kind=turn.kind, turn=number, place=len(found), terms=words)
                )
    return _limit_sentences(found)


def content_terms(text: str) -> tuple[str, ...]:
    """Return the index terms of a text without those of stop words."""
    return tuple(term for term in analyse_text(text) if term not in stop_words() and len(term) > 1)


def _split_turn(turn: Turn) -> Iterator[str]:
    if turn.kind is TurnKind.ACTION:
        yield _tidy_text(turn.text)
        return
    for sentence in split_sentences(turn.text):
        yield _tidy_text(sentence)


def _tidy_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS].rsplit(" ", 1)[0] + " [...]"


def _limit_sentences(found: list[TurnSentence]) -> list[TurnSentence]:
    """Keep MAX_SENTENCES: of each turn the first ones, as many of each as there is room for."""
    if len(found) <= MAX_SENTENCES:
        return found
    order: dict[int, int] = {}
    ranked = []
    for sentence in found:
        order[sentence.turn] = order.get(sentence.turn, -1) + 1
        ranked.append((order[sentence.turn], sentence.place))
    kept = {place for _, place in sorted(ranked)[:MAX_SENTENCES]}
    return [sentence for sentence in found if sentence.place in kept]
