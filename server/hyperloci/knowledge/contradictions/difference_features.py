"""Difference features: where two statements part, and which part of the sentence the words stand in that differ.

The same sentence with one part put in another's place says something else of the same thing; the same in other words
differs all over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from hyperloci.knowledge.contradictions.word_order import LINKS, START, WordOrder, find_common_runs

MOST: Final = 8.0
"""Counts of words end here: more says no more."""

FEW: Final = 3.0
"""Counts of parts end here."""

NO_PLACE: Final = -1.0
"""Where no word stands."""


def measure_differences(
    old: WordOrder, new: WordOrder, left_old: Collection[str], left_new: Collection[str]
) -> dict[str, float]:
    """Return the features of where an old and a new statement differ, by name.

    Args:
        old, new: what stands where in both statements.
        left_old, left_new: the stems that the other one does not have.
    """
    return {
        **_measure_blocks(old, new),
        **_measure_frame(old.stems, new.stems),
        **_measure_parts(
            {part for stem, part in old.parts if stem in left_old},
            {part for stem, part in new.parts if stem in left_new},
        ),
        **_measure_places(old, new, left_old, left_new),
        **_measure_numbered(old.numbered, new.numbered),
    }


def _measure_blocks(old: WordOrder, new: WordOrder) -> dict[str, float]:
    """Return how many runs of words were put in, left out or replaced, and where."""
    one, other = old.stems, new.stems
    runs = find_common_runs(one, other)
    gaps = list(_list_gaps([*runs, (len(one), len(other), 0)]))
    replaced = [gap for gap in gaps if gap[0] < gap[1] and gap[2] < gap[3]]
    linked = (
        start > 0 and one[start - 1] == other[begin - 1] and start - 1 in old.links for start, _, begin, _ in replaced
    )
    return {
        "blocks_equal": 2 * sum(length for _, _, length in runs) / max(1, len(one) + len(other)),
        "blocks_changed": min(MOST, len(gaps)),
        "blocks_lone": float(len(gaps) == len(replaced) == 1),
        "blocks_put_in": min(FEW, sum(start == end for start, end, _, _ in gaps)),
        "blocks_left_out": min(FEW, sum(begin == stop for _, _, begin, stop in gaps)),
        "blocks_at_end": float(any(end == len(one) and stop == len(other) for _, end, _, stop in replaced)),
        "blocks_at_start": float(any(start == begin == 0 for start, _, begin, _ in replaced)),
        "blocks_linked": min(FEW, sum(linked)),
    }


def _list_gaps(runs: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield what stands between runs that both have: its start and end in one and in the other."""
    at = there = 0
    for start, begin, length in runs:
        if at < start or there < begin:
            yield at, start, there, begin
        at, there = start + length, begin + length


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


def _measure_parts(old: set[str], new: set[str]) -> dict[str, float]:
    """Return in which parts of both sentences words stand that the other one lacks."""
    common = old & new
    return {
        "parts_common": min(FEW, len(common)),
        "parts_start": float(START in common),
        "parts_verb": float(any(part.startswith("verb ") for part in common)),
        "parts_link": float(not common.isdisjoint(LINKS)),
        "parts_old_alone": min(FEW, len(old - new)),
        "parts_new_alone": min(FEW, len(new - old)),
        "parts_start_old": float(START in old),
        "parts_start_new": float(START in new),
    }


def _measure_places(
    old: WordOrder, new: WordOrder, left_old: Collection[str], left_new: Collection[str]
) -> dict[str, float]:
    """Return how far into each statement the words stand that differ: 0 at its start, 1 at its end."""
    one, other = _find_mean_place(old, left_old), _find_mean_place(new, left_new)
    gap = NO_PLACE if NO_PLACE in (one, other) else abs(one - other)
    return {"place_old": one, "place_new": other, "place_gap": gap}


def _find_mean_place(order: WordOrder, left: Collection[str]) -> float:
    places = [share for stem, share in order.shares if stem in left]
    return fmean(places) if places else NO_PLACE


def _measure_numbered(old: Mapping[str, tuple[str, bool]], new: Mapping[str, tuple[str, bool]]) -> dict[str, float]:
    """Return whether both speak of numbered things of one sort, and of the same: `rack 4`, `sprint 12`, `room B`."""
    common = old.keys() & new.keys()
    begun = {stem for stem in common if old[stem][1] and new[stem][1]}
    differing = {stem for stem in common if old[stem][0] != new[stem][0]}
    return {
        "numbered_same": float(bool(common - differing)),
        "numbered_other": float(bool(differing - begun)),
        "numbered_other_start": float(bool(differing & begun)),
    }
