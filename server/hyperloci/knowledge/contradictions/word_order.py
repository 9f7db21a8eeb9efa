"""Word order: what stands where in a statement, and the runs of words that two statements share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from hyperloci.knowledge.contradictions.words import Word
from hyperloci.system.values import dataclass

START: Final = "^"
"""The part before the first verb or preposition: what a sentence is about, mostly."""

LINKS: Final = frozenset(
    "in on at by to from with for of into via through over under after before as is are was were be uses use using"  # noqa: SIM905
    " : =".split()
)
"""What stands before a part of a sentence, and says which one it is."""

_NUMBER: Final = re.compile(r"#?\d{1,6}[a-z]?|[A-Z]")
"""What tells things of one sort apart."""

_ARTICLES: Final = frozenset("the a an our my your its their".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True, kw_only=True)
class WordOrder:
    """What stands where in a statement, articles and punctuation left out.

    Attributes:
        stems: the stems of its words.
        links: places of the words that stand before a part of the sentence.
        parts: stems of what is told, verbs left out, each with the part it stands in: the link or verb before it.
        shares: stems it is about, each with how far into the statement it stands, 0 at its start, 1 at its end.
        numbered: by stem the number of what is told apart by it, and whether it stands before the first link.
    """

    stems: tuple[str, ...]
    links: frozenset[int]
    parts: Sequence[tuple[str, str]]
    shares: Sequence[tuple[str, float]]
    numbered: Mapping[str, tuple[str, bool]]


def read_word_order(words: Sequence[Word]) -> WordOrder:
    """Return what stands where in a statement."""
    told = [w for w in words if (w.lower not in _ARTICLES and w.text[-1].isalnum()) or w.lower in (":", "=")]
    last = max(1, len(told) - 1)
    return WordOrder(
        stems=tuple([word.stem for word in told]),
        links=frozenset([at for at, word in enumerate(told) if word.lower in LINKS]),
        parts=_list_parts(told),
        shares=[(word.stem, at / last) for at, word in enumerate(told) if word.topical],
        numbered=_find_numbered(told),
    )


def _list_parts(words: Sequence[Word]) -> list[tuple[str, str]]:
    part, found = START, []
    for word in words:
        if word.lower in LINKS:
            part = word.lower
        elif word.verb and word.topical:
            part = f"verb {word.stem}"
        if word.topical and not word.verb:
            found.append((word.stem, part))
    return found


def _find_numbered(words: Sequence[Word]) -> dict[str, tuple[str, bool]]:
    found: dict[str, tuple[str, bool]] = {}
    is_start = True
    for before, word in pairwise(words):
        is_start = is_start and before.lower not in LINKS
        if before.topical and _NUMBER.fullmatch(word.text):
            found.setdefault(before.stem, (word.lower, is_start))
    return found


# -- runs --------------------------------------------------------------------------------------------------------------

Stems = tuple[str, ...]

Run = tuple[int, int, int]
"""Where a run of stems begins in one statement and in the other, and its length."""


def measure_longest_run(one: Stems, other: Stems) -> int:
    """Return the length of the longest run of stems that both have."""
    return _make_matcher(one, other).find_longest_match().size


def find_common_runs(one: Stems, other: Stems) -> list[Run]:
    """Return the runs of stems that both have, in order: the longest, and so on before and behind it."""
    # The last one is always empty.
    return [(at, there, length) for at, there, length in _make_matcher(one, other).get_matching_blocks()[:-1]]


def _make_matcher(one: Stems, other: Stems) -> SequenceMatcher[str]:
    return SequenceMatcher(None, one, other, autojunk=False)
