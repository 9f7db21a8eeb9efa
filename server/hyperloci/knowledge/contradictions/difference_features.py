"""Difference features: where two statements part, and which part of the sentence the words stand in that differ.

The same sentence with one part put in another's place says something else of the same thing; the same in other words
differs all over.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from statistics import fmean
from typing import Final

from hyperloci.knowledge.contradictions.statement_profile import StatementProfile
from hyperloci.knowledge.contradictions.words import Word

MOST: Final = 8.0
"""Counts of words end here: more says no more."""

FEW: Final = 3.0
"""Counts of parts end here."""

NO_PLACE: Final = -1.0
"""Where no word stands."""

START: Final = "^"
"""The part before the first verb or preposition: what a sentence is about, mostly."""

_NUMBER: Final = re.compile(r"#?\d{1,6}[a-z]?|[A-Z]")
"""What tells things of one sort apart."""

_ARTICLES: Final = frozenset("the a an our my your its their".split())  # noqa: SIM905
_LINKS: Final = frozenset(
    "in on at by to from with for of into via through over under after before as is are was were be uses use using"  # noqa: SIM905
    " : =".split()
)
"""What stands before a part of a sentence, and says which one it is."""


def measure_differences(
    a: StatementProfile, b: StatementProfile, left_old: Collection[str], left_new: Collection[str]
) -> dict[str, float]:
    """Return the features of where an old and a new statement differ, by name.

    Args:
        a, b: the old and the new statement.
        left_old, left_new: the stems that the other one does not have.
    """
    old, new = _drop_articles(a.words), _drop_articles(b.words)
    return {
        **_measure_blocks(old, new),
        **_measure_frame([word.stem for word in old], [word.stem for word in new]),
        **_measure_parts(_sort_by_part(old, left_old), _sort_by_part(new, left_new)),
        **_measure_places(old, new, left_old, left_new),
        **_measure_numbered(old, new),
    }


def _drop_articles(words: Sequence[Word]) -> list[Word]:
    return [w for w in words if (w.lower not in _ARTICLES and w.text[-1].isalnum()) or w.lower in (":", "=")]


def _measure_blocks(old: Sequence[Word], new: Sequence[Word]) -> dict[str, float]:
    """Return how many runs of words were put in, left out or replaced, and where."""
    one, other = [word.stem for word in old], [word.stem for word in new]
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    changed = [block for block in blocks if block[0] != "equal"]
    replaced = [block for block in changed if block[0] == "replace"]
    equal = sum(end - start for kind, start, end, _, _ in blocks if kind == "equal")
    linked = (
        start > 0 and one[start - 1] == other[begin - 1] and old[start - 1].lower in _LINKS
        for _, start, _, begin, _ in replaced
    )
    return {
        "blocks_equal": 2 * equal / max(1, len(one) + len(other)),
        "blocks_changed": min(MOST, len(changed)),
        "blocks_lone": float(len(changed) == len(replaced) == 1),
        "blocks_put_in": min(FEW, sum(block[0] == "insert" for block in changed)),
        "blocks_left_out": min(FEW, sum(block[0] == "delete" for block in changed)),
        "blocks_at_end": float(any(end == len(one) and stop == len(other) for _, _, end, _, stop in replaced)),
        "blocks_at_start": float(any(start == begin == 0 for _, start, _, begin, _ in replaced)),
        "blocks_linked": min(FEW, sum(linked)),
    }


def _measure_frame(one: Sequence[str], other: Sequence[str]) -> dict[str, float]:
    """Return how many words both begin and end with, and how many stand between."""
    shorter = min(len(one), len(other))
    begun = _count_common(one, other)
    ended = min(shorter - begun, _count_common(one[::-1], other[::-1]))
    return {
        "frame_begun": min(MOST, begun),
        "frame_ended": min(MOST, ended),
        "frame_share": (begun + ended) / max(1, shorter),
        "frame_old": min(MOST, len(one) - begun - ended),
        "frame_new": min(MOST, len(other) - begun - ended),
    }


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    for count, (word, match) in enumerate(zip(one, other, strict=False)):
        if word != match:
            return count
    return min(len(one), len(other))


def _sort_by_part(words: Sequence[Word], left: Collection[str]) -> set[str]:
    """Return the parts of a sentence that hold a word the other one lacks, by the verb or preposition before them."""
    part, found = START, set()
    for word in words:
        if word.lower in _LINKS:
            part = word.lower
        elif word.verb and word.topical:
            part = f"verb {word.stem}"
        if word.topical and not word.verb and word.stem in left:
            found.add(part)
    return found


def _measure_parts(old: set[str], new: set[str]) -> dict[str, float]:
    common = old & new
    return {
        "parts_common": min(FEW, len(common)),
        "parts_start": float(START in common),
        "parts_verb": float(any(part.startswith("verb ") for part in common)),
        "parts_link": float(not common.isdisjoint(_LINKS)),
        "parts_old_alone": min(FEW, len(old - new)),
        "parts_new_alone": min(FEW, len(new - old)),
        "parts_start_old": float(START in old),
        "parts_start_new": float(START in new),
    }


def _measure_places(
    old: Sequence[Word], new: Sequence[Word], left_old: Collection[str], left_new: Collection[str]
) -> dict[str, float]:
    """Return how far into each statement the words stand that differ: 0 at its start, 1 at its end."""
    one, other = _find_mean_place(old, left_old), _find_mean_place(new, left_new)
    gap = NO_PLACE if NO_PLACE in (one, other) else abs(one - other)
    return {"place_old": one, "place_new": other, "place_gap": gap}


def _find_mean_place(words: Sequence[Word], left: Collection[str]) -> float:
    places = [at / max(1, len(words) - 1) for at, word in enumerate(words) if word.topical and word.stem in left]
    return fmean(places) if places else NO_PLACE


def _measure_numbered(old: Sequence[Word], new: Sequence[Word]) -> dict[str, float]:
    """Return whether both speak of numbered things of one sort, and of the same: `rack 4`, `sprint 12`, `room B`."""
    one, other = _find_numbered(old), _find_numbered(new)
    common = one.keys() & other.keys()
    begun = {stem for stem in common if one[stem][1] and other[stem][1]}
    differing = {stem for stem in common if one[stem][0] != other[stem][0]}
    return {
        "numbered_same": float(bool(common - differing)),
        "numbered_other": float(bool(differing - begun)),
        "numbered_other_start": float(bool(differing & begun)),
    }


def _find_numbered(words: Sequence[Word]) -> dict[str, tuple[str, bool]]:
    """Return by stem the number of what is told apart by it, and whether it stands before the first verb."""
    found: dict[str, tuple[str, bool]] = {}
    is_start = True
    for before, word in pairwise(words):
        is_start = is_start and before.lower not in _LINKS
        if before.topical and _NUMBER.fullmatch(word.text):
            found.setdefault(before.stem, (word.lower, is_start))
    return found
