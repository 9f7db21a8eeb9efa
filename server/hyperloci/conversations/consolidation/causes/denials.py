"""Denials: which cause a turn says that it was not, and what it names instead (`so not the pool. it's the DNS`).

A clause denies a cause when it says of nothing but that cause that it is not it: it is negated by a form of `be` or by
none, and all that it names is the cause, or it points to what was said last (`that wasn't it`). How clauses are
negated is read as contradictions are (`knowledge.contradictions.polarity`), so far in English.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Final

from hyperloci.conversations.consolidation.statement_features import is_asking, read_cues, split_words
from hyperloci.conversations.consolidation.turn_phrases import holds_phrase
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, TurnView
from hyperloci.knowledge.contradictions.claims import AnalysedSentence, analyse_statements
from hyperloci.knowledge.contradictions.lexicon import lexicon_words
from hyperloci.knowledge.contradictions.polarity import Clause
from hyperloci.knowledge.contradictions.words import Word
from hyperloci.system.values import dataclass
from hyperloci.text.language.word_tables import word_set

MOST_DENIED: Final = 3
"""Things that a denial names: what denies more tells a story."""

MAX_SENTENCES: Final = 12
"""Sentences of a turn that are looked at: whoever says that it was something else says so early."""

MAX_TURNS_BACK: Final = 8
"""Words of either that were said since a cause was claimed, at most: what comes later denies something else."""

SENTENCES_TO_CAUSE: Final = 2
"""Sentences after a denial among which the right cause is named; between them may stand what shows it."""

_BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "it's", "that's"})
_NOT: Final = frozenset({"not", "isn't", "aren't", "wasn't", "weren't"})
_DENYING: Final = re.compile(r"\b(?:not|(?:is|are|was|were)n['’]t)\b", re.IGNORECASE)
_POINTERS: Final = frozenset({"it", "that", "this"})
_PARTICIPLES: Final = ("ed", "ing")


@dataclass(frozen=True, slots=True)
class Denial:
    """What a sentence says that it was not.

    Attributes:
        names: the stems of what it names, as contradictions have them; none where it only points (`that wasn't it`).
        head: the last of them, the thing itself; '' where it names nothing.
        is_known: whether it speaks of it as known: `not the pool`.
    """

    names: frozenset[str] = frozenset()
    head: str = ""
    is_known: bool = False


def denies(denial: Denial, claim: str, besides: str = "") -> bool:
    """Return whether a denial is about what a claim gives as the cause.

    Args:
        denial: what is denied.
        claim: what was said to be the cause. What only points is about it, if it was said last: that the caller knows.
        besides: what the claim explains: who denies a word of that denies no cause.
    """
    if not denial.names:
        return True
    told = read_named(claim)
    shared = denial.names & told
    return denial.head in told and 2 * len(shared) >= len(denial.names) and denial.head not in read_named(besides)


@functools.lru_cache(maxsize=1_024)
def read_named(text: str) -> frozenset[str]:
    """Return the stems of what a text names and does not deny to be the cause."""
    denied = frozenset().union(*(denial.names for denial in read_denials(text)))
    return frozenset(_strip_owner(stem) for sentence in analyse_statements(text) for stem in sentence.about) - denied


@functools.lru_cache(maxsize=1_024)
def read_denials(text: str) -> tuple[Denial, ...]:
    """Return what a text says that it was not, in order; what asks denies nothing."""
    if not _DENYING.search(text) or is_asking(text):
        return ()
    found = (
        _read_denial(sentence, clause)
        for sentence in analyse_statements(text)
        for clause in sentence.clauses
        if clause.negated and clause.cue.rpartition(" ")[2] in _NOT
    )
    return tuple(denial for denial in found if denial is not None)


def names_cause(text: str) -> bool:
    """Return whether a sentence names what it was: `it's the DNS`, `turns out the reader keeps every row`."""
    if is_asking(text):
        return False
    return any(_names_cause(sentence, clause) for sentence in analyse_statements(text) for clause in sentence.clauses)


def find_denials(texts: Sequence[str]) -> list[tuple[int, Denial]]:
    """Return what the sentences of a turn deny, each with the number of its sentence."""
    return [(number, denial) for number, text in enumerate(texts[:MAX_SENTENCES]) for denial in read_denials(text)]


def find_causes_instead(turns: Sequence[TurnView], at: int) -> frozenset[int]:
    """Return the numbers of a turn's sentences that name a cause where they deny one that was claimed before.

    Args:
        turns: turns of one session, in order.
        at: which of them.
    """
    texts = [sentence.text for sentence in turns[at].sentences]
    named = (
        _find_named_cause(texts, number) for number, denial in find_denials(texts) if _was_claimed(turns, at, denial)
    )
    return frozenset(number for number in named if number is not None)


def _was_claimed(turns: Sequence[TurnView], at: int, denial: Denial) -> bool:
    """Return whether a turn denies what was held to be the cause of what somebody reports."""
    said = [turn for turn in turns[:at] if turn.speaker != ACTION and not turn.is_flagged][-MAX_TURNS_BACK:]
    own = turns[at]
    if own.speaker == ASSISTANT and said and said[-1].speaker == USER and said[-1].text.rstrip().endswith("?"):
        return False  # It answers what was asked.
    if not denial.names:
        said = said[: _last_of(said, ASSISTANT) + 1]
        return bool(said) and _is_about_failure(said, len(said) - 1, own)
    for number, claim in reversed(list(enumerate(said))):
        if denies(denial, claim.text, _find_symptom(said, number)):
            return _is_about_failure(said, number, own)
    # What nobody claimed here may have been thought of elsewhere.
    return denial.is_known and _is_about_failure(said, len(said) - 1, own)


def _is_about_failure(said: Sequence[TurnView], number: int, own: TurnView) -> bool:
    """Return whether a claim, what it explains or the turn that denies it tells of a failure."""
    claim = said[number].text if said else ""
    texts = (_find_symptom(said, number), claim, own.text)
    return "cause" in read_cues(split_words(claim)) or any(holds_phrase(text, "complaint") for text in texts)


def _find_symptom(said: Sequence[TurnView], number: int) -> str:
    """Return the user's last words before a claim."""
    return next((turn.text for turn in reversed(said[: max(0, number)]) if turn.speaker == USER), "")


def _last_of(said: Sequence[TurnView], speaker: str) -> int:
    """Return the place of a speaker's last words; -1 where there are none."""
    return next((number for number, turn in reversed(list(enumerate(said))) if turn.speaker == speaker), -1)


def _find_named_cause(texts: Sequence[str], denying: int) -> int | None:
    """Return the number of the sentence that names the right cause after one that denies another; None if none does."""
    ahead = range(denying, min(len(texts), denying + 1 + SENTENCES_TO_CAUSE))
    return next((number for number in ahead if names_cause(texts[number])), None)


def _read_denial(sentence: AnalysedSentence, clause: Clause) -> Denial | None:
    words = [sentence.words[place] for place in clause.places]
    lower = [word.lower for word in words]
    verbs = [sentence.words[place].lower for place in sorted(sentence.verbs)]
    if clause.phrase and not (verbs and verbs[0] in _BE):
        return None  # `use json, not plain text`
    if any(word in lexicon_words("auxiliaries") and word not in _BE | _NOT for word in lower):
        return None  # `do not close it`
    behind = lower.index(clause.cue) + 1 if clause.cue in lower else 0
    told, subject = words[behind:], _list_things(words[:behind])
    told = told[: next((at for at, word in enumerate(told) if _ends_phrase(word)), len(told))]
    if not told or told[0].lower.endswith(_PARTICIPLES):
        return None  # `it isn't`, `not in tests`, `it isn't signed yet`
    is_definite, denied = told[0].lower in word_set("clauses.articles"), _list_things(told)
    if denied and subject and not is_definite:
        return None  # `the name is not found`
    is_fault = told[0].lower == "the" and any(word.stem in _fault_stems() for word in told)
    is_pointing = told[0].lower in _POINTERS and not denied
    if not denied and not is_fault and not is_pointing:
        return None  # `the extension isn't there yet`
    things = denied or subject
    if len(things) > MOST_DENIED:
        return None
    return Denial(frozenset(things), things[-1] if things else "", is_known=not clause.phrase and is_definite)


def _ends_phrase(word: Word) -> bool:
    """Return whether what is denied ends before a word: `not easy | to find`, `not the pool | of the api`."""
    return word.lower == "to" or word.lower in lexicon_words("place_prepositions")


def _list_things(words: Sequence[Word]) -> list[str]:
    """Return the stems of what some words name, besides what a fault is called."""
    return [_strip_owner(word.stem) for word in words if word.topical and word.stem not in _fault_stems()]


def _strip_owner(stem: str) -> str:
    return stem.removesuffix("'s")


@functools.cache
def _fault_stems() -> frozenset[str]:
    """Return the stems of what a fault is called, and what brings it about."""
    words = "cause reason root culprit problem issue bug fault"
    return frozenset(word.stem for sentence in analyse_statements(words) for word in sentence.words)


def _names_cause(sentence: AnalysedSentence, clause: Clause) -> bool:
    if clause.negated or not any(sentence.words[place].topical for place in clause.places):
        return False
    lower = [sentence.words[place].lower for place in clause.places]
    if "cause" in read_cues(lower) or holds_phrase(" ".join(lower), "restated"):
        return True
    return any(
        one == "it's" or (one == "it" and other in _BE)
        for one, other in zip(lower[:3], [*lower[1:3], ""], strict=False)
    )
