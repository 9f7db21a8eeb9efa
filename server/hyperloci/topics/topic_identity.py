"""Topic identity: matches the topics of this run with those of the last one by shared members (stable ids)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeVar

MIN_OVERLAP: Final = 0.2
"""Two topics that share a fifth of their members together may be one; less, and it is another that took some over."""

ABSORBED_SHARE: Final = 0.5
"""A topic that is found no more merged into the one that took half of its members."""

Member = TypeVar("Member")


def match_topics(known: Mapping[int, Collection[Member]], found: Sequence[Collection[Member]]) -> dict[int, int]:
    """Return which known topic (by key) each found one (by place) is; one to one, the best overlaps first."""
    home = {member: key for key, members in known.items() for member in members}
    pairs = []
    for place, members in enumerate(found):
        for key, shared in Counter(home[member] for member in members if member in home).items():
            overlap = shared / (len(members) + len(known[key]) - shared)
            if overlap >= MIN_OVERLAP:
                pairs.append((-overlap, key, place))
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for _, key, place in sorted(pairs):
        if place not in matched and key not in taken:
            matched[place] = key
            taken.add(key)
    return matched


def find_absorbed(
    known: Mapping[int, Collection[Member]], found: Sequence[Collection[Member]], matched: Mapping[int, int]
) -> dict[int, int]:
    """Return which found topic (by place) took most members of a known one that was not found again (by key)."""
    home = {member: place for place, members in enumerate(found) for member in members}
    answer = {}
    for key, members in known.items():
        if key in matched.values() or not members:
            continue
        went = Counter(home[member] for member in members if member in home)
        place, count = max(went.items(), key=lambda item: (item[1], -item[0]), default=(-1, 0))
        if count >= ABSORBED_SHARE * len(members):
            answer[key] = place
    return answer


def churn_share(before: Collection[Member], now: Collection[Member]) -> float:
    """Return the share of members that changed, 0..1."""
    old, new = set(before), set(now)
    return 1 - len(old & new) / len(old | new) if old | new else 0.0
