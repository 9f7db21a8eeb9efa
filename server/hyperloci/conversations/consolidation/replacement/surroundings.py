"""Replacement surroundings: what the assistant said around a new statement, beside an older one (B.17).

Who changes their mind seldom names the subject (`make it 45`): it was named just before, and whoever does it names it
in the answer (`Sessions now end after 45 minutes, not 20`). What both say only adds to what the statement itself says:
it never is what replaces something.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from hyperloci.conversations.consolidation.statement_features import read_cues, split_raw_words, split_words
from hyperloci.conversations.consolidation.statement_values import find_choices, find_cue_places
from hyperloci.conversations.consolidation.text_similarity import find_numbers, meaningful_words
from hyperloci.system.values import dataclass

MAX_HEARD_CHARS: Final = 400
"""The end of what was said before, the beginning of the answer: that speaks of the statement, if anything does."""

READ_ANSWER_CHARS: Final = 200
"""The beginning of an answer that is read together with the statement (`bench train_cross_encoder`)."""

USUAL_WORDS: Final = 30
"""Words of a short answer. Those of a longer one count less each: it speaks of more than one thing."""

_MAX_RANK: Final = 3
_MOST_LEAD: Final = 2.0
_CUES: Final = frozenset({"change", "withdrawal"})


class Rarity(Protocol):
    """How much words tell together."""

    def add(self, words: frozenset[str]) -> float:
        """Return it."""


class Compared(Protocol):
    """A statement as it is compared with others (`features.ComparedStatement`)."""

    @property
    def all_words(self) -> frozenset[str]:
        """Its own words and those that it answers."""

    @property
    def numbers(self) -> frozenset[str]:
        """The numbers that it names."""

    @property
    def choices(self) -> Mapping[str, frozenset[str]]:
        """The tools that it names, by their purpose."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the assistant said right before a statement, what it answered and what it did; '' where it said nothing.

    `done` has a line for each action (`capture.tool_use`).
    """

    asked: str = ""
    answered: str = ""
    done: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeardWords:
    """Words around a statement, as they are compared."""

    words: frozenset[str]
    numbers: frozenset[str]
    choices: Mapping[str, frozenset[str]]
    is_ending: bool
    cues: frozenset[str]
    weight: float


NOTHING_HEARD: Final = Surroundings()


def join_answer(new: str, answered: str) -> str:
    """Return a new statement and the beginning of the answer to it, as a model reads them beside an older statement."""
    return f"{new} [{' '.join(answered[:READ_ANSWER_CHARS].split())}]" if answered else new


@functools.lru_cache(maxsize=256)  # Both are compared with all that holds, by words and once more by meaning.
def read_heard(text: str) -> HeardWords:
    """Return some words as they are compared."""
    tokens = split_words(text)
    return HeardWords(
        words=meaningful_words(text),
        numbers=find_numbers(text),
        choices=find_choices(split_raw_words(text)),
        is_ending=bool(find_cue_places(tokens, "ending")),
        cues=frozenset(read_cues(tokens)) & _CUES,
        weight=min(1.0, math.sqrt(USUAL_WORDS / max(1, len(tokens)))),
    )


def add_surroundings(
    rows: Sequence[dict[str, float]],
    new: Compared,
    living: Sequence[Compared],
    rarity: Rarity,
    around: Surroundings,
) -> None:
    """Add to the features of a new statement with each living one what was said around the new one."""
    heard = {
        "asked": read_heard(around.asked[-MAX_HEARD_CHARS:]),
        "answer": read_heard(around.answered[:MAX_HEARD_CHARS]),
    }
    together = [row["share old"] + row["told shared"] for row in rows]
    for name, one in heard.items():
        if not one.words:
            continue
        shares = []
        for at, old in enumerate(living):
            share, told = _weigh_shared(new, old, one, rarity)
            rows[at].update((f"{name} {key}", value) for key, value in _heard_features(new, old, one, share, told))
            shares.append(share + told)
            together[at] += share + told
        _add_ranks(rows, f"{name} rank", shares)
    for at, row in enumerate(rows):
        others = max((value for place, value in enumerate(together) if place != at), default=0.0)
        row["lead"] = max(-_MOST_LEAD, min(_MOST_LEAD, together[at] - others)) * (1.0 - 1.0 / (len(rows) + 1))


def _weigh_shared(new: Compared, old: Compared, heard: HeardWords, rarity: Rarity) -> tuple[float, float]:
    """Return which share of an older statement only the surroundings name, and how much those words tell."""
    found = rarity.add((heard.words & old.all_words) - new.all_words) * heard.weight
    return found / (rarity.add(old.all_words) or 1.0), found / 4


def _heard_features(
    new: Compared, old: Compared, heard: HeardWords, share: float, told: float
) -> Iterator[tuple[str, float]]:
    if share > 0.0:
        yield "share", share
        yield "told", told
        yield "ending told", told * heard.is_ending
        yield from ((f"c:{cue} told", told) for cue in heard.cues)
    if (heard.numbers & old.numbers) - new.numbers:
        yield "old number", heard.weight
    if any((heard.choices[one] & old.choices[one]) - new.choices.get(one, frozenset()) for one in _both(heard, old)):
        yield "old choice", heard.weight


def _both(heard: HeardWords, old: Compared) -> frozenset[str]:
    return frozenset(heard.choices) & frozenset(old.choices)


def _add_ranks(rows: Sequence[dict[str, float]], name: str, values: Sequence[float]) -> None:
    """Number those first that share most; what shares nothing has no rank."""
    for rank, at in enumerate(sorted(range(len(rows)), key=lambda at: -values[at])[:_MAX_RANK]):
        if values[at] > 0.0:
            rows[at][f"{name}={rank}"] = 1.0
