"""Injection score: how far a text tries to steer the assistant that reads it, by weighted features.

One feature is no attack: documentation addresses assistants, asks for commands to be run and names credentials. An
injection needs several at once and close together: somebody to obey, something sensitive to do, and a reason not to
ask. The features and their weights are data (`steering_features.py`); a text is flagged where those of one stretch
weigh enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from hyperloci.text.sanitize.literals import LiteralSet
from hyperloci.text.sanitize.steering_features import STEERING_FEATURES, SteeringFeature

THRESHOLD: Final = 1.05
"""Weight from which a stretch is flagged: three features, or two where one of them speaks for itself."""
STRETCH_CHARS: Final = 320
"""Characters on either side of a feature that opens a stretch: about a paragraph."""
MAX_STRETCHES: Final = 200
"""Stretches of one text that are weighed; what speaks to assistants more often is a list of prompts."""


def find_steering_features(text: str) -> tuple[str, ...]:
    """Return the names of the features that make some stretch of `text` weigh enough, or nothing.

    Args:
        text: cleaned, and normalised for reading.
    """
    lowered = text.replace("\u0130", "i").lower()
    best: tuple[str, ...] = ()
    heaviest = 0.0
    # A memory is a stretch: who speaks to nobody in so few words speaks to whoever reads it.
    if len(lowered) <= 2 * STRETCH_CHARS:
        stretches = iter([(0, len(lowered))] if _required_literals().occur_in(lowered) else [])
    else:
        stretches = _find_stretches(lowered, _find_feature_literals(lowered))
    for start, end in stretches:
        found = _match_features(text[start:end], lowered[start:end])
        weight = sum(each.weight for each in found)
        if weight >= THRESHOLD and weight > heaviest and _gives_order(found):
            best, heaviest = tuple(each.name for each in found), weight
    return best


def match_features(text: str) -> tuple[str, ...]:
    """Return the names of the features that a short text has, whatever they weigh together."""
    mentioned = set(name_mentioned_features(text))
    return tuple(
        each.name for each in STEERING_FEATURES if each.name in mentioned and _feature_pattern(each).search(text)
    )


def name_mentioned_features(text: str) -> tuple[str, ...]:
    """Return the names of the features of which a short text holds a literal."""
    lowered = text.replace("\u0130", "i").lower()
    keywords = _feature_keywords(lowered.isascii())
    return tuple(name for name, literals in keywords.items() if any(literal in lowered for literal in literals))


def _find_feature_literals(lowered: str) -> dict[str, set[str]]:
    """Return the literals that a text holds of features that open a stretch; none where no stretch weighs enough."""
    if not _required_literals().occur_in(lowered):
        return {}
    held = _all_literals().find_in(lowered)
    found = [each for each in STEERING_FEATURES if not held.isdisjoint(each.keywords)]
    if sum(each.weight for each in found) < THRESHOLD or not _gives_order(found):
        return {}
    return {each.name: held.intersection(each.keywords) for each in found if each.opens_stretch}


@cache
def _required_literals() -> LiteralSet:
    """Return the literals of the features of which `_gives_order` asks for one: few texts hold any."""
    names = ("reader", "override", "secrecy", "role", "self-reference")
    return LiteralSet(keyword for each in STEERING_FEATURES if each.name in names for keyword in each.keywords)


@cache
def _all_literals() -> LiteralSet:
    return LiteralSet(keyword for each in STEERING_FEATURES for keyword in each.keywords)


def _match_features(text: str, lowered: str) -> list[SteeringFeature]:
    """Return the features of one stretch; patterns run only where the literals could weigh enough."""
    held = _all_literals().find_in(lowered)
    present = [each for each in STEERING_FEATURES if not held.isdisjoint(each.keywords)]
    if sum(each.weight for each in present) < THRESHOLD:
        return []
    return [each for each in present if _feature_pattern(each).search(text)]


def _gives_order(features: list[SteeringFeature]) -> bool:
    """Tell whether somebody is to do something: claims and names alone are documentation."""
    names = {each.name for each in features}
    told = names & {"reader", "role", "self-reference"}
    acts = names & {"transfer", "act", "payload", "harm"} or ("override" in names and told | names & {"secrecy"})
    hidden = "secrecy" in names and names & {"resource", "harm", "authority"}
    return bool(acts) and bool(told or "override" in names or hidden)


def _find_stretches(lowered: str, held: dict[str, set[str]]) -> Iterator[tuple[int, int]]:
    """Yield where a stretch is to be weighed: round the literals of features that open one, not twice."""
    places: list[int] = []
    for each in STEERING_FEATURES:
        for keyword in held.get(each.name, ()) if each.opens_stretch else ():
            at = lowered.find(keyword)
            while at >= 0:
                places.append(at)
                at = lowered.find(keyword, at + STRETCH_CHARS // 2)
    done = -STRETCH_CHARS
    for place in sorted(places)[:MAX_STRETCHES]:
        if place - done >= STRETCH_CHARS // 2:
            done = place
            yield max(0, place - STRETCH_CHARS), min(len(lowered), place + STRETCH_CHARS)


@cache
def _feature_keywords(only_ascii: bool) -> dict[str, tuple[str, ...]]:
    """Return the literals of each feature; a text of ASCII alone can hold no others."""
    return {
        each.name: tuple(keyword for keyword in each.keywords if keyword.isascii() or not only_ascii)
        for each in STEERING_FEATURES
    }


@cache
def _feature_pattern(feature: SteeringFeature) -> re.Pattern[str]:
    return re.compile(feature.pattern, re.IGNORECASE | re.MULTILINE)
