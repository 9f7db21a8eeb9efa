"""Summary: summaries, key facts and themes of chunks (C.05): the heuristic strategy, and the interface for others.

The heuristic strategy only quotes sentences: it can miss the point, but it cannot invent anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from hyperloci.conversations.pyramid.sentence_features import estimate_worth, find_cues
from hyperloci.conversations.pyramid.sentence_ranking import (
    Embed,
    choose_sentences,
    rank_sentences,
)
from hyperloci.conversations.pyramid.themes import Rarity, extract_themes
from hyperloci.conversations.pyramid.turn_sentences import TurnSentence, extract_sentences
from hyperloci.model.pyramid import Digest
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.system.values import dataclass
from hyperloci.text.language.questions import is_question
from hyperloci.text.tokens import count_tokens

SUMMARY_TOKENS: Final = {PyramidLevel.MICRO: 90, PyramidLevel.MINI: 150, PyramidLevel.MACRO: 260}
"""What a summary may cost: the pyramid of 100 turns (ten, four, one) comes to 1,760 tokens at most, and a macro's
alone is the three or four sentences that RFC-013 asks for."""

SUMMARY_SHARE: Final = 0.3
"""And how much of what it summarises: short talk must not be repeated."""

MAX_FACTS: Final = {PyramidLevel.MICRO: 4, PyramidLevel.MINI: 6, PyramidLevel.MACRO: 10}
"""RFC-013 caps them at ten; what a macro keeps, its micros needn't hold once more."""


class Summariser(Protocol):
    """Makes a chunk's digest: the heuristic one, or one that asks a model (B.17's strategies)."""

    def __call__(self, level: PyramidLevel, turns: Sequence[Turn], parts: Sequence[Digest]) -> Digest:
        """Return the digest of a chunk.

        Args:
            level: what is summarised.
            turns: its turns as they were said.
            parts: the digests of the chunks in it, in order; none for a micro-chunk.

        Raises:
            HyperlociError: it can't be done now; the heuristic stands in.
        """
        ...


@dataclass(frozen=True, slots=True)
class ExtractiveSummariser:
    """The heuristic strategy: no model but, where it is warm, the embedder's.

    Attributes:
        rarity: how rare a term is in the whole memory, for themes.
        embed: vectors of sentences; None does without.
    """

    rarity: Rarity
    embed: Embed | None = None

    def __call__(self, level: PyramidLevel, turns: Sequence[Turn], parts: Sequence[Digest]) -> Digest:
        """Return the digest of a chunk; a macro-chunk's is made of its minis' (the executive summary)."""
        told = _digests_as_turns(parts) if level is PyramidLevel.MACRO and parts else turns
        found = extract_sentences(told)
        budget = min(SUMMARY_TOKENS[level], int(SUMMARY_SHARE * sum(count_tokens(turn.text) for turn in turns)))
        if not found:
            return Digest(_first_words(turns, max(budget, 1)), (), extract_themes(turns, self.rarity))
        ranks, alike = rank_sentences(found, self.embed)
        chosen = choose_sentences(found, ranks, alike, _TokenBudget(budget), limit=len(found)) or [
            found[int(ranks.argmax())]
        ]
        return Digest(
            render_sentences(chosen), _select_facts(level, found, ranks, alike), extract_themes(turns, self.rarity)
        )


class _TokenBudget:
    """Takes sentences as long as their tokens fit."""

    def __init__(self, tokens: int) -> None:
        self._left = tokens

    def __call__(self, sentence: TurnSentence) -> bool:
        cost = count_tokens(sentence.text) + 1
        if cost > self._left:
            return False
        self._left -= cost
        return True


def render_sentences(chosen: Sequence[TurnSentence]) -> str:
    """Return sentences as text: one line a speaker's turn."""
    lines: list[str] = []
    last: tuple[int, Speaker] | None = None
    for sentence in chosen:
        speaker = "" if sentence.kind is TurnKind.ACTION else f"{sentence.role.value}: "
        if last == (sentence.turn, sentence.role) and speaker:
            lines[-1] += f" {sentence.text}"
        else:
            lines.append(f"{speaker}{sentence.text}")
        last = (sentence.turn, sentence.role)
    return "\n".join(lines)


def _select_facts(level: PyramidLevel, found: Sequence[TurnSentence], ranks: object, alike: object) -> tuple[str, ...]:
    """Return the sentences that state something to be kept: a decision, a preference, a limit, an outcome, a date."""
    import numpy as np

    stated = [sentence for sentence in found if _states_something(sentence)]
    if not stated:
        return ()
    places = [number for number, sentence in enumerate(found) if _states_something(sentence)]
    weights = np.asarray(ranks)[places] * np.array([estimate_worth(sentence) for sentence in stated])
    nearness = np.asarray(alike)[np.ix_(places, places)]
    return tuple(
        f"{sentence.role.value}: {sentence.text}"
        for sentence in choose_sentences(stated, weights, nearness, lambda _: True, MAX_FACTS[level])
    )


def _states_something(sentence: TurnSentence) -> bool:
    said = sentence.kind is TurnKind.TEXT and not is_question(sentence.text)
    return said and bool(find_cues(sentence.text))


def _digests_as_turns(parts: Sequence[Digest]) -> list[Turn]:
    """Return digests as turns: each line of a summary, and each fact, by its speaker."""
    turns: list[Turn] = []
    for line in (line for part in parts for line in (*part.summary.splitlines(), *part.key_facts)):
        head, colon, rest = line.partition(": ")
        known = colon and head in set(Speaker)
        turns.append(_make_turn(rest if known else line, Speaker(head) if known else Speaker.ASSISTANT))
    return turns


def _make_turn(text: str, role: Speaker) -> Turn:
    return Turn(uuid="", role=role, text=text, timestamp_ms=None)


def _first_words(turns: Sequence[Turn], budget: int) -> str:
    """Return something of turns that hold no sentence ("ok", a paste of code): their first words."""
    words = " / ".join(" ".join(turn.text.split())[:60] for turn in turns).split()
    kept = " ".join(words[: max(3, budget)])
    return kept[:300] or "(no words)"
