"""Who denies what: sentences cut into clauses, each asserted or denied.

A negation reaches over its clause (`feature flags are not used`); `without`, `instead of`, `rather than` and their
like reach over the noun phrase after them only, which becomes a clause of its own. Two negations cancel out.
"""

# ruff: noqa: SIM905 - lists of dozens of literals read worse

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from hyperloci.graph.lexicon import word_set
from hyperloci.graph.words import Word

NEGATORS: Final = frozenset(
    """not never no cannot nobody nothing none neither nor hardly barely can't don't doesn't didn't isn't aren't wasn't
    weren't won't wouldn't shouldn't couldn't haven't hasn't hadn't mustn't needn't unable rarely seldom uncommon
    unusual unlikely impossible unnecessary infrequent""".split()
)
"""Words that deny their clause."""

_NEGATING_VERBS: Final = frozenset({"avoid", "refrain", "lack"})
_NEGATING_BEFORE_VERB: Final = frozenset({"stop", "fail", "refus", "ceas"})
"""They deny what follows, as in `stop using`, `fails to retry`; alone they are plain verbs (`the job failed`)."""

_TAKE_FORCE: Final = frozenset(
    "only just necessarily merely matter sure certain clear know understand forget hesitate worry mind".split()
)
"""After a negation they take its force away: `not only`, `no matter`; `not sure whether` denies nothing."""

_CONDITIONS: Final = frozenset({"if", "unless", "whether"})
"""What follows is supposed, neither asserted nor denied."""

_PHRASENEGATORS: Final = (
    ("without",),
    ("instead", "of"),
    ("rather", "than"),
    ("in", "place", "of"),
    ("as", "opposed", "to"),
    ("away", "from"),
    (",", "not"),
    ("with", "no"),
)
_PERFECT: Final = frozenset("have has had having i've we've you've they've it's he's she's".split())
_PREFERRING: Final = frozenset("prefer prefers preferred choose chose chosen favor favour pick picked".split())
_SWITCHING: Final = frozenset("switch switched migrate migrated move moved change changed port ported".split())

_PUNCTUATION: Final = frozenset(",:;()—–")
_JOINTS: Final = frozenset("but however although though because since whereas so except which who".split())
_SOFT_JOINTS: Final = frozenset({"and", "or", "that"})
"""They part clauses only where a subject or a verb follows: `hats and gloves` stay together."""

_PRONOUNS: Final = frozenset("i we you he she it they there".split())
_CLAUSE_STARTS: Final = _PRONOUNS | {"this"} | NEGATORS | _NEGATING_VERBS
_ARTICLES: Final = frozenset("the a an our my your its his her their".split())
STATES: Final = frozenset("on off in out up down".split())
"""Prepositions that may stand for a state: `is on by default`, `turned off`."""


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

    def read(self) -> None:
        """Read the whole sentence."""
        at = 0
        while at < len(self._words):
            at += self._deny_phrase(at) or self._read_word(at)
        self.clauses = [clause for clause in self.clauses if clause.places]

    def _deny_phrase(self, at: int) -> int:
        """Open a denied noun phrase where one begins; return how many words introduce it."""
        length = self._phrase_negator(at)
        if length:
            negated = not self.clauses[-1].negated
            cue = " ".join(self._lower[at : at + length]).lstrip(", ")
            self.clauses.append(Clause(negated=negated, cue=cue, phrase=True))
            self._region = Region.CORE
        return length

    def _phrase_negator(self, at: int) -> int:
        lower = self._lower[at]
        for phrase in _PHRASENEGATORS:
            if lower == phrase[0] and tuple(self._lower[at : at + len(phrase)]) == phrase:
                return len(phrase)
        preferred = lower in ("over", "to") and self._prefers(at)
        left = lower == "from" and not _SWITCHING.isdisjoint(self._lower[:at])
        return 1 if preferred or left else 0

    def _prefers(self, at: int) -> bool:
        """Return whether what follows is what is not preferred: `prefer a to b`, but not `prefer to write`."""
        before = self._lower[:at]
        if _PREFERRING.isdisjoint(before):
            return False
        near = self._lower[max(0, at - _NEAR) : max(0, at - 1)]
        return self._lower[at] == "over" or (
            any(word.startswith("prefer") for word in near) and not self._is_plain_verb(at + 1)
        )

    def _read_word(self, at: int) -> int:
        if self._parts(at):
            self._open()
        elif self.clauses[-1].phrase and self.clauses[-1].places and self._ends_phrase(at):
            self._resume()
        if self._lower[at] not in _PUNCTUATION:
            self._take(at)
        return 1

    def _take(self, at: int) -> None:
        lower, clause = self._lower[at], self.clauses[-1]
        self._supposed = self._supposed or lower in _CONDITIONS
        if not self._supposed and self._negates(at):
            clause.negated = not clause.negated
            clause.cue = lower
            clause.sweeping = lower == "never" and (
                self._lower[max(0, at - 1)] in _PERFECT or self._after(at).endswith("ing")
            )
        if lower in word_set("place_prepositions") and not self._is_state(at):
            self._region = Region.PLACE
        elif lower in _PRONOUNS and self._region is Region.PLACE:
            self._region = Region.SUBJECT
        elif self._is_verb(at):
            self._region = Region.CORE
            self.verbs.add(at)
        self.regions[at] = self._region
        clause.places.append(at)

    def _is_state(self, at: int) -> bool:
        return self._lower[at] in STATES and stands_as_state(self._after(at))

    def _is_verb(self, at: int) -> bool:
        lower = self._lower[at]
        if lower in word_set("auxiliaries") or lower in NEGATORS:
            return True
        if self._region is not Region.SUBJECT:
            return False
        if not self._words[at].verb:
            return not self.clauses[-1].places and lower.endswith("ed")  # "achieved 80 % coverage"
        # "the build", "the front end is", "tests run": after an article or before the finite verb it is a noun.
        return not (
            (at and self._lower[at - 1] in _ARTICLES)
            or not word_set("auxiliaries").isdisjoint(self._lower[at + 1 : at + 1 + _NEAR])
            or (lower.endswith("s") and self._is_plain_verb(at + 1))
        )

    def _is_plain_verb(self, at: int) -> bool:
        """Return whether a word is a verb in its base form (a stem may lack its last letter)."""
        return at < len(self._words) and self._words[at].verb and len(self._lower[at]) <= len(self._words[at].stem) + 1

    def _negates(self, at: int) -> bool:
        lower, stem, after = self._lower[at], self._words[at].stem, self._after(at)
        if lower in NEGATORS:
            return after not in _TAKE_FORCE
        if stem in _NEGATING_BEFORE_VERB:
            return after.endswith("ing") or (after == "to" and stem != "stop")
        return stem in _NEGATING_VERBS

    def _after(self, at: int) -> str:
        return self._lower[at + 1] if at + 1 < len(self._lower) else ""

    def _parts(self, at: int) -> bool:
        lower = self._lower[at]
        if lower in _SOFT_JOINTS:
            return self._after(at) in _CLAUSE_STARTS or self._after(at) in word_set("auxiliaries")
        return lower in _PUNCTUATION or lower in _JOINTS

    def _ends_phrase(self, at: int) -> bool:
        lower = self._lower[at]
        return lower in word_set("auxiliaries") or lower in word_set("place_prepositions") or lower == "to"

    def _open(self) -> None:
        if self.clauses[-1].places:
            self.clauses.append(Clause())
            self._region = Region.SUBJECT
            self._supposed = False

    def _resume(self) -> None:
        """Go on with the clause that a denied noun phrase interrupted."""
        parent = next((clause for clause in reversed(self.clauses) if not clause.phrase), Clause())
        self.clauses.append(Clause(negated=parent.negated, cue=parent.cue))


_NEAR: Final = 4
"""A finite verb follows its subject's last noun, `to` what is preferred, within so many words."""

_FOLLOW_STATE: Final = frozenset("by in for when while during and or at unless until".split())
"""What may follow a state but not a preposition."""


def stands_as_state(after: str) -> bool:
    """Return whether a word like `on` before `after` is a state and not a preposition."""
    return not after or after in _PUNCTUATION or after in _FOLLOW_STATE
