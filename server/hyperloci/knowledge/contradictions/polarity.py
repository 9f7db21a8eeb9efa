"""Polarity: sentences cut into clauses, each asserted or denied.

A negation reaches over its clause (`feature flags are not used`); `without`, `instead of`, `rather than` and their
like reach over the noun phrase after them only, which becomes a clause of its own. Two negations cancel out. The words
are a table of each language (`[clauses]`); so far only English has it, as the contradiction rules read only English.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Final

from hyperloci.knowledge.contradictions.lexicon import lexicon_words
from hyperloci.knowledge.contradictions.words import Word
from hyperloci.system.values import dataclass
from hyperloci.text.language.word_tables import read_table, word_set

_PUNCTUATION: Final = frozenset(",:;()—–")


class Region(Enum):
    """Where a word stands: before the verb, at or after it, or in a circumstance (where, when, for what)."""

    SUBJECT = 0
    CORE = 1
    PLACE = 2


@dataclass(slots=True)
class Clause:
    """A part of a sentence that is asserted or denied as a whole.

    Attributes:
        negated: whether an odd number of negations reaches over it.
        cue: the word that denies it.
        sweeping: it denies every instance: `have never used`, `never having tested`, not a rule (`never push`).
        phrase: it is a noun phrase denied alone (`without X`).
        places: indexes of its words in the sentence.
    """

    negated: bool = False
    cue: str = ""
    sweeping: bool = False
    phrase: bool = False
    places: list[int] = field(default_factory=list)


class ClauseReader:
    """Reads the words of one sentence into clauses and regions.

    Attributes:
        clauses: the clauses in order, none of them empty once `read` is done.
        regions: the region of each word.
        verbs: indexes of words that act as verbs.
    """

    def __init__(self, words: Sequence[Word]) -> None:
        self.clauses = [Clause()]
        self.regions = [Region.SUBJECT] * len(words)
        self.verbs: set[int] = set()
        self._words = words
        self._lower = [word.lower for word in words]
        self._region = Region.SUBJECT
        self._supposed = False

    def read_clauses(self) -> None:
        """Read the whole sentence."""
        at = 0
        while at < len(self._words):
            at += self._deny_phrase(at) or self._read_word(at)
        self.clauses = [clause for clause in self.clauses if clause.places]

    def _deny_phrase(self, at: int) -> int:
        """Open a denied noun phrase where one begins; return how many words introduce it."""
        length = self._phrase_negator_length(at)
        if length:
            negated = not self.clauses[-1].negated
            cue = " ".join(self._lower[at : at + length]).lstrip(", ")
            self.clauses.append(Clause(negated=negated, cue=cue, phrase=True))
            self._region = Region.CORE
        return length

    def _phrase_negator_length(self, at: int) -> int:
        lower = self._lower[at]
        for phrase in _phrase_negators().get(lower, ()):
            if tuple(self._lower[at : at + len(phrase)]) == phrase:
                return len(phrase)
        preferred = lower in ("over", "to") and self._denies_unpreferred(at)
        left = lower == "from" and not _words("switching").isdisjoint(self._lower[:at])
        return 1 if preferred or left else 0

    def _denies_unpreferred(self, at: int) -> bool:
        """Return whether what follows is what is not preferred: `prefer a to b`, but not `prefer to write`."""
        before = self._lower[:at]
        if _words("preferring").isdisjoint(before):
            return False
        near = self._lower[max(0, at - _NEAR) : max(0, at - 1)]
        return self._lower[at] == "over" or (
            any(word.startswith("prefer") for word in near) and not self._is_plain_verb(at + 1)
        )

    def _read_word(self, at: int) -> int:
        if self._starts_clause(at):
            self._open_clause()
        elif self.clauses[-1].phrase and self.clauses[-1].places and self._is_phrase_end(at):
            self._resume_clause()
        if self._lower[at] not in _PUNCTUATION:
            self._take_word(at)
        return 1

    def _take_word(self, at: int) -> None:
        lower, clause = self._lower[at], self.clauses[-1]
        self._supposed = self._supposed or lower in _words("conditions")
        if not self._supposed and self._is_negation(at):
            clause.negated = not clause.negated
            clause.cue = lower
            clause.sweeping = lower == "never" and (
                self._lower[max(0, at - 1)] in _words("perfect") or self._word_after(at).endswith("ing")
            )
        if lower in lexicon_words("place_prepositions") and not self._is_state(at):
            self._region = Region.PLACE
        elif lower in _words("pronouns") and self._region is Region.PLACE:
            self._region = Region.SUBJECT
        elif self._is_verb(at):
            self._region = Region.CORE
            self.verbs.add(at)
        self.regions[at] = self._region
        clause.places.append(at)

    def _is_state(self, at: int) -> bool:
        return self._lower[at] in _words("states") and is_state_before(self._word_after(at))

    def _is_verb(self, at: int) -> bool:
        lower = self._lower[at]
        if lower in lexicon_words("auxiliaries") or lower in _words("negators"):
            return True
        if self._region is not Region.SUBJECT:
            return False
        if not self._words[at].verb:
            return not self.clauses[-1].places and lower.endswith("ed")  # "achieved 80 % coverage"
        # "the build", "the front end is", "tests run": after an article or before the finite verb it is a noun.
        return not (
            (at and self._lower[at - 1] in _words("articles"))
            or not lexicon_words("auxiliaries").isdisjoint(self._lower[at + 1 : at + 1 + _NEAR])
            or (lower.endswith("s") and self._is_plain_verb(at + 1))
        )

    def _is_plain_verb(self, at: int) -> bool:
        """Return whether a word is a verb in its base form (a stem may lack its last letter)."""
        return at < len(self._words) and self._words[at].verb and len(self._lower[at]) <= len(self._words[at].stem) + 1

    def _is_negation(self, at: int) -> bool:
        lower, stem, after = self._lower[at], self._words[at].stem, self._word_after(at)
        if lower in _words("negators"):
            return after not in _words("force_takers")
        if stem in _words("negating_before_verbs"):
            return after.endswith("ing") or (after == "to" and stem != "stop")
        return stem in _words("negating_verbs")

    def _word_after(self, at: int) -> str:
        return self._lower[at + 1] if at + 1 < len(self._lower) else ""

    def _starts_clause(self, at: int) -> bool:
        lower = self._lower[at]
        if lower in _words("soft_joints"):
            return _starts_clause(self._word_after(at))
        return lower in _PUNCTUATION or lower in _words("joints")

    def _is_phrase_end(self, at: int) -> bool:
        lower = self._lower[at]
        return lower in lexicon_words("auxiliaries") or lower in lexicon_words("place_prepositions") or lower == "to"

    def _open_clause(self) -> None:
        if self.clauses[-1].places:
            self.clauses.append(Clause())
            self._region = Region.SUBJECT
            self._supposed = False

    def _resume_clause(self) -> None:
        """Go on with the clause that a denied noun phrase interrupted."""
        parent = next((clause for clause in reversed(self.clauses) if not clause.phrase), Clause())
        self.clauses.append(Clause(negated=parent.negated, cue=parent.cue))


_NEAR: Final = 4
"""A finite verb follows its subject's last noun, `to` what is preferred, within so many words."""


@functools.cache
def _words(table: str) -> frozenset[str]:
    return word_set(f"clauses.{table}")


@functools.cache
def _phrase_negators() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """Return by its first word what denies the noun phrase after it only, each as its words."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in read_table("clauses.phrase_negators"):
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append(words)
    return found


def _starts_clause(word: str) -> bool:
    starts = ("pronouns", "negators", "negating_verbs")
    return word == "this" or word in lexicon_words("auxiliaries") or any(word in _words(table) for table in starts)


def is_state_before(after: str) -> bool:
    """Return whether a word like `on` before `after` is a state and not a preposition."""
    return not after or after in _PUNCTUATION or after in _words("after_states")
