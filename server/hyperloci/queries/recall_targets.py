"""Recall targets: what a question asks of the memory itself: an account of sessions, or everything of a kind.

"What happened in the last session?" shares no word with any turn of it, and "what should I not try again?" none with a
dead end. A linear scorer over groups of words (`data/recall_targets.toml`) tells such questions from those that are
about a subject; what is left of the words is the subject.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from hyperloci.retrieval.relevance import is_smalltalk
from hyperloci.store.keywords.analysis import stop_words
from hyperloci.system.values import dataclass

_FILE: Final = Path(__file__).parent / "data" / "recall_targets.toml"
_WORD: Final = re.compile(r"[\w'-]+(?>(?:[./]\w+)*)|\?")

_PUNCTUATION: Final = ".,;:?!()'\""

MAX_PHRASE_WORDS: Final = 4
MAX_WORDS: Final = 24
"""A longer text tells something, or asks for work: it is no question about the memory."""

MIN_WORD_CHARS: Final = 3

MAX_SUBJECT_COST: Final = 3
"""Words beyond these add nothing to what a subject costs."""


class RecallTarget(StrEnum):
    """What of the memory is asked for."""

    SESSIONS = "sessions"
    DEAD_END = "dead_end"
    DECISION = "decision"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DEADLINE = "deadline"
    COMMIT = "commit"


KINDS: Final = {
    RecallTarget.DEAD_END: ("Dead ends: tried, and failed", ("dead_end",)),
    RecallTarget.DECISION: ("Decisions", ("decision",)),
    RecallTarget.CONSTRAINT: ("Constraints", ("constraint",)),
    RecallTarget.PREFERENCE: ("About the user", ("user_info", "preference")),
    RecallTarget.DEADLINE: ("Deadlines", ("deadline",)),
    RecallTarget.COMMIT: ("Commits", ("commit",)),
}
"""The heading and the subtypes of each kind that is asked for."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question about the memory itself.

    Attributes:
        target: what it asks for.
        subject: the words that it is narrowed by, '' for none.
        is_about_several: whether it asks for more than one session.
        is_account_too: whether as many of its words ask for sessions, which tell it where nothing of the kind does.
    """

    target: RecallTarget
    subject: str
    is_about_several: bool = False
    is_account_too: bool = False


@dataclass(frozen=True, slots=True)
class _TargetScorer:
    threshold: float
    groups: Mapping[str, frozenset[str]]
    beginnings: tuple[tuple[str, str], ...]
    weights: Mapping[RecallTarget, Mapping[str, float]]

    def find_group(self, phrase: str) -> frozenset[str]:
        """Return the groups that a phrase belongs to."""
        words = phrase.count(" ")
        begun = (
            group
            for beginning, group in self.beginnings
            if phrase.startswith(beginning) and beginning.count(" ") == words
        )
        return self.groups.get(phrase, frozenset()).union(begun)


@functools.cache
def _load_scorer() -> _TargetScorer:
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    groups: dict[str, frozenset[str]] = {}
    beginnings = []
    for group, phrases in told["groups"].items():
        for phrase in phrases:
            if phrase.endswith("*"):
                beginnings.append((phrase[:-1], group))
            else:
                groups[phrase] = groups.get(phrase, frozenset()) | {group}
    weights = {RecallTarget(name): table for name, table in told["targets"].items()}
    return _TargetScorer(told["threshold"], groups, tuple(beginnings), weights)


def read_recall_request(query: str, *, is_dated: bool = False) -> RecallRequest | None:
    """Return what a question asks of the memory itself; None if it asks about a subject, or nothing.

    Args:
        query: the question.
        is_dated: whether it named a time whose words were taken out of it.
    """
    words = _WORD.findall(query.lower().replace("’", "'"))
    if not words or len(words) > MAX_WORDS:
        return None
    scorer = _load_scorer()
    held, covered = _match_groups(words, scorer)
    subject = [word for at, word in enumerate(words) if at not in covered and not _says_nothing(word)]
    held |= set() if subject else {"bare"}
    held |= {"dated"} if is_dated else set()
    sums = {target: _sum_weights(table, held, len(subject)) for target, table in scorer.weights.items()}
    # Of equals what is named: "what did we decide last week?" has as many words of a session, but names none.
    best = max(sums, key=lambda target: (sums[target], target is not RecallTarget.SESSIONS or "session" in held))
    if sums[best] < scorer.threshold:
        return None
    is_account_too = best is not RecallTarget.SESSIONS and sums[best] == sums[RecallTarget.SESSIONS]
    return RecallRequest(best, " ".join(subject), "several" in held, is_account_too)


def _match_groups(words: Sequence[str], scorer: _TargetScorer) -> tuple[set[str], set[int]]:
    """Return the groups that the words hold, and the places of the words that belong to one."""
    held: set[str] = set()
    covered: set[int] = set()
    for length in range(MAX_PHRASE_WORDS, 0, -1):
        for at in range(len(words) - length + 1):
            groups = scorer.find_group(" ".join(words[at : at + length]))
            if groups and not (length == 1 and at in covered):
                held |= groups
                covered.update(range(at, at + length))
    return held, covered


def _says_nothing(word: str) -> bool:
    return len(word) < MIN_WORD_CHARS or word in stop_words() or is_smalltalk(word)


def _sum_weights(weights: Mapping[str, float], held: set[str], subjects: int) -> float:
    known = sum(weight for group, weight in weights.items() if group in held)
    return known + weights.get("subject", 0.0) * min(subjects, MAX_SUBJECT_COST)


def remove_words(text: str, removed: str) -> str:
    """Return a text without the words of another: a subject without those of a time."""
    words = {word.strip(_PUNCTUATION) for word in removed.lower().split()}
    return " ".join(word for word in text.split() if word.lower().strip(_PUNCTUATION) not in words)
