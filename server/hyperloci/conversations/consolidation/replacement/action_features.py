"""Action features: what the assistant did right after a new statement, beside an older one (B.17).

Whoever hears `make it 45` edits a file, and the edit says what it was before. A statement that names that, in words or
in another unit, is likely the one that no longer holds. So is what a command takes away (`npm uninstall moment`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from hyperloci.conversations.consolidation.actions import Done, read_actions
from hyperloci.conversations.consolidation.replacement.surroundings import Rarity
from hyperloci.conversations.consolidation.text_similarity import find_numbers
from hyperloci.text.language.figures import read_figures


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
    mine = read_figures(new.text)
    told = [_keep_most(_action_features(new, mine, old, done, rarity)) for old in living]
    for name in ("done swap", "done gone"):
        together = math.fsum(one.get(name, 0.0) for one in told)
        for one in told:
            if name in one:
                one[f"{name} alone"] = one[name] / together
    for row, one in zip(rows, told, strict=True):
        row.update(one)


def _keep_most(features: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the features of all that was done: of several changes the one that tells most."""
    found: dict[str, float] = {}
    for name, value in features:
        found[name] = max(value, found.get(name, 0.0))
    return found


def _action_features(
    new: Told, mine: frozenset[str], old: Told, done: Done, rarity: Rarity
) -> Iterator[tuple[str, float]]:
    theirs = read_figures(old.text)
    yield "done", 1.0
    for change in done.changes:
        is_set = bool(change.came & mine or change.came_words & new.all_words)
        gone_words = change.gone_words & old.all_words
        near = rarity.add((change.words - change.gone_words) & old.all_words) / 4
        if change.gone & theirs and not change.came & theirs:
            yield "done gone", 1.0
            yield "done gone near", near
            yield "done gone clear", 1.0 / max(1, len(theirs & find_numbers(old.text)))
            if is_set:
                yield "done swap", 1.0
                yield "done swap near", near
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
