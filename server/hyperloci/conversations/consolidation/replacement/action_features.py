"""Action features: what the assistant did right after a new statement, beside an older one (B.17).

Whoever hears `make it 45` edits a file, and the edit says what it was before. A statement that names that, in words or
in another unit, is likely the one that no longer holds. So is what a command takes away (`npm uninstall moment`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final, Protocol

from hyperloci.conversations.consolidation.actions import Done, read_actions
from hyperloci.conversations.consolidation.replacement.surroundings import Rarity
from hyperloci.conversations.consolidation.text_similarity import find_numbers
from hyperloci.text.language.figures import read_dimensions

SHARED: Final = ("share old", "told shared", "asked share", "answer share")
"""Features of what both say, and of what the assistant said around the new one (`features`, `surroundings`)."""


class Told(Protocol):
    """A statement as it is compared with others (`features.ComparedStatement`)."""

    @property
    def text(self) -> str:
        """What it says, with what it answers."""

    @property
    def all_words(self) -> frozenset[str]:
        """Its own words and those that it answers."""


def add_actions(
    rows: Sequence[dict[str, float]], new: Told, living: Sequence[Told], rarity: Rarity, lines: tuple[str, ...]
) -> None:
    """Add to the features of a new statement with each living one what was done right after it."""
    done = read_actions(lines)
    if not done.changes and not done.removed:
        return
    mine = read_dimensions(new.text)
    told = [_keep_most(_action_features(new, mine, old, done, rarity)) for old in living]
    gone = [at for at, one in enumerate(told) if "done gone" in one]
    for at in gone:
        told[at]["done gone alone"] = 1.0 / len(gone)
    if gone:
        # What stays is named by chance: what else both share tells which of several is meant.
        best = max(
            gone, key=lambda at: told[at]["done gone near"] + math.fsum(rows[at].get(name, 0.0) for name in SHARED)
        )
        told[best]["done gone best"] = 1.0
        if "done swap" in told[best]:
            told[best]["done swap best"] = 1.0
    for row, one in zip(rows, told, strict=True):
        row.update(one)


def _keep_most(features: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the features of all that was done: of several changes the one that tells most."""
    found: dict[str, float] = {}
    for name, value in features:
        found[name] = max(value, found.get(name, 0.0))
    return found


def _action_features(
    new: Told, mine: Mapping[str, str], old: Told, done: Done, rarity: Rarity
) -> Iterator[tuple[str, float]]:
    theirs = read_dimensions(old.text)
    yield "done", 1.0
    for change in done.changes:
        is_set = bool(change.came & mine.keys() or change.came_words & new.all_words)
        gone_words = change.gone_words & old.all_words
        near = rarity.add((change.words - change.gone_words) & old.all_words) / 4
        if change.gone & theirs.keys() and not change.came & theirs.keys():
            yield "done gone", 1.0
            yield "done gone near", near
            yield "done gone clear", 1.0 / max(1, len(theirs.keys() & find_numbers(old.text)))
            if change.gone & theirs.keys() & mine.keys():
                yield "done gone said", 1.0
            if is_set:
                yield "done swap", 1.0
                yield "done swap near", near
                yield from _compare_units(
                    {mine[one] for one in change.came & mine.keys()},
                    {theirs[one] for one in change.gone & theirs.keys()},
                )
        elif gone_words and not change.came_words & old.all_words:
            worth = rarity.add(gone_words) / 4
            yield "done gone word", worth
            if is_set:
                yield "done swap word", worth
        elif is_set:
            yield "done sets near", near
        else:
            yield "done near", near
    taken = rarity.add(done.removed & old.all_words) / 4
    if taken:
        yield "done removed", taken
        yield "done removed said", rarity.add(done.removed & old.all_words & new.all_words) / 4


def _compare_units(mine: Set[str], theirs: Set[str]) -> Iterator[tuple[str, float]]:
    """Yield whether the figure that is set and the one that goes count the same: both a time, or one a size."""
    if mine and theirs:
        known, others = mine - {""}, theirs - {""}
        if known & others:
            yield "done swap same unit", 1.0
        elif known and others:
            yield "done swap other unit", 1.0
        elif known or others:
            yield "done swap one unit", 1.0
