"""Batching: cuts a list of texts into batches of similar length, so that little time goes into padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CHARS_PER_TOKEN: Final = 4
"""English prose and code run at 4 to 5 characters a word piece; used only to size batches before tokens are known."""


def plan_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group indices into `lengths` by falling length, each group's sum within `budget`.

    A single text longer than the budget makes a group of its own. Equal lengths keep the order they came in.
    """
    groups: list[list[int]] = []
    room = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not groups or lengths[index] > room:
            groups.append([])
            room = budget
        groups[-1].append(index)
        room -= lengths[index]
    return groups


def runs_of_like_length(lengths: Sequence[int], spread: int) -> list[tuple[int, int]]:
    """Cut falling `lengths` into half-open runs whose longest and shortest differ by at most `spread`."""
    runs: list[tuple[int, int]] = []
    start = 0
    for index in range(1, len(lengths) + 1):
        if index == len(lengths) or lengths[start] - lengths[index] > spread:
            runs.append((start, index))
            start = index
    return runs if lengths else []


def estimate_tokens(text: str, max_tokens: int) -> int:
    """Guess how many tokens a model will read of `text`, without tokenising it."""
    return min(len(text) // CHARS_PER_TOKEN + 2, max_tokens)
