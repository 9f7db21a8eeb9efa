"""Pair features: what tells whether a new statement leaves an old one standing, as numbers.

Each is named; `bench train_contradictions` finds what they weigh. All are read from the two texts alone.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from hyperloci.knowledge.contradictions import sentence_match
from hyperloci.knowledge.contradictions.antonyms import pair_opposites
from hyperloci.knowledge.contradictions.claims import analyse_statements
from hyperloci.knowledge.contradictions.difference_features import measure_differences
from hyperloci.knowledge.contradictions.figure_features import measure_loose_figures
from hyperloci.knowledge.contradictions.quantities import Value, are_same_value
from hyperloci.knowledge.contradictions.rules import find_verdict
from hyperloci.knowledge.contradictions.statement_profile import (
    COMMON_START,
    StatementProfile,
    find_left_behind,
    list_cue_tables,
    profile_statement,
)
from hyperloci.knowledge.contradictions.word_order import measure_longest_run
from hyperloci.text.language.word_tables import word_set

COUNTED: Final = ("count", "number")
"""Numbers of things; only those of one thing can differ."""

QUANTIFIERS: Final = ("zero", "partial", "sole")
"""Tables that clash with `universal`."""

MOST: Final = 6.0
"""Counts end here: more says no more."""


def measure_pair(old: str, new: str) -> dict[str, float]:
    """Return the features of an old and a new statement, by name."""
    a, b = profile_statement(old), profile_statement(new)
    left, right = find_leftovers(a.stems, b), find_leftovers(b.stems, a)
    cover = _measure_overlap(a, b, left, right)
    polarity = _measure_polarity(a, b, cover)
    return {
        **cover,
        **_measure_order(a, b, find_left_behind(new)),
        **_measure_cues(a, b),
        **polarity,
        **_measure_opposites(a, b, cover, bool(polarity["negation_differs"])),
        **_measure_quantifiers(a, b, cover),
        **_measure_figures(a, b, cover),
        **measure_loose_figures(old, new, cover),
        **_measure_names(a, b, right),
        **_measure_modifiers(a, b),
        **measure_differences(a.word_order, b.word_order, left, right),
        **_ask_rules(old, new),
    }


def find_leftovers(stems: AbstractSet[str], other: StatementProfile) -> set[str]:
    """Return the stems that the other statement is not about, nor about one that begins the same."""
    return {stem for stem in stems - other.stems if stem[:COMMON_START] not in other.starts}


def find_clashing_figures(old: str, new: str) -> tuple[str, str] | None:
    """Return a figure of each statement, of one kind and different; None if one is equal or none compares."""
    a, b = profile_statement(old).figures, profile_statement(new).figures
    if any(_agree(x, y) for x in a for y in b):
        return None
    return next(((x.text, y.text) for x in a for y in b if _compare(x, y)), None)


def _measure_overlap(
    a: StatementProfile, b: StatementProfile, left: AbstractSet[str], right: AbstractSet[str]
) -> dict[str, float]:
    covered_old = (len(a.stems) - len(left)) / max(1, len(a.stems))
    covered_new = (len(b.stems) - len(right)) / max(1, len(b.stems))
    return {
        "shared": min(MOST, len(a.stems) - len(left)),
        "covered_old": covered_old,
        "covered_new": covered_new,
        "covered_most": max(covered_old, covered_new),
        "left_old": min(MOST, len(left)),
        "left_new": min(MOST, len(right)),
        "rest_old": min(MOST, len(left - a.names)),
        "rest_new": min(MOST, len(right - b.names)),
        "new_says_little": float(len(right) <= 1),
        "length_old": min(25.0, len(a.words)),
        "length_new": min(30.0, len(b.words)),
        "longer": max(-12.0, min(12.0, len(b.words) - len(a.words))),
        "other_case": float(a.lower != b.lower),
    }


def _measure_order(a: StatementProfile, b: StatementProfile, left_behind: Sequence[str]) -> dict[str, float]:
    first_a, first_b, last_a, last_b = (
        (a.order[0], b.order[0], a.order[-1], b.order[-1]) if (a.order and b.order) else ("", "", "", "")
    )
    return {
        "same_first": float(bool(first_a) and first_a == first_b),
        "first_old_in_new": float(first_a in b.stems),
        "first_new_in_old": float(first_b in a.stems),
        "last_old_in_new": float(last_a in b.stems),
        "last_new_in_old": float(last_b in a.stems),
        "common_run": min(8.0, measure_longest_run(a.row, b.row)),
        "shared_is_left": min(2.0, sum(stem in a.stems for stem in left_behind)),
    }


def _measure_cues(a: StatementProfile, b: StatementProfile) -> dict[str, float]:
    found = {"asks": float(b.asks), **_no_cues()}
    for table in a.cued | b.cued:
        old, new = a.cues[table], b.cues[table]
        found[f"new_{table}"] = min(3.0, new)
        found[f"old_{table}"] = min(3.0, old)
        found[f"more_{table}"] = max(-2.0, min(2.0, new - old))
    return found


@functools.cache
def _no_cues() -> Mapping[str, float]:
    return {f"{which}_{table}": 0.0 for table in list_cue_tables() for which in ("new", "old", "more")}


def _measure_polarity(a: StatementProfile, b: StatementProfile, cover: Mapping[str, float]) -> dict[str, float]:
    denied = a.negations % 2 != b.negations % 2
    turned = (a.negations + a.oppositions) % 2 != (b.negations + b.oppositions) % 2
    return {
        "negations_old": min(2.0, a.negations),
        "negations_new": min(2.0, b.negations),
        "negation_early": float(b.early_negation),
        "negation_differs": float(denied),
        "negation_covered": denied * cover["covered_new"],
        "negation_tight": denied * (3.0 - min(3.0, cover["left_new"])),
        "polarity_differs": float(turned),
        "polarity_covered": turned * cover["covered_new"],
        "polarity_both": float(turned and denied),
        "polarity_both_covered": (turned and denied) * min(cover["covered_new"], cover["covered_old"]),
        "polarity_cancelled": float(denied and not turned),
    }


def _measure_opposites(
    a: StatementProfile, b: StatementProfile, cover: Mapping[str, float], denied: bool
) -> dict[str, float]:
    count = len(find_opposites(a, b))
    return {
        "opposites": min(2.0, count),
        "opposites_plain": float(count > 0 and not denied),
        "opposites_denied": float(count > 0 and denied),
        "opposites_covered": (count > 0 and not denied) * cover["covered_new"],
        "denied_alone": float(denied and not count),
        "denied_alone_covered": (denied and not count) * cover["covered_new"],
    }


def find_opposites(a: StatementProfile, b: StatementProfile) -> list[tuple[str, str]]:
    """Return words of both statements, each only in one, that mean the opposite."""
    pairs = [(a.words[one], b.words[other]) for one, other in pair_opposites(a.opposable, b.opposable)]
    return [
        (one.lower, other.lower)
        for one, other in pairs
        if one.stem not in b.stems
        and other.stem not in a.stems
        and word_set("clauses.negators").isdisjoint((one.lower, other.lower))
    ]


def _measure_quantifiers(a: StatementProfile, b: StatementProfile, cover: Mapping[str, float]) -> dict[str, float]:
    clash = _all_against_some(a, b) or _all_against_some(b, a)
    tables = ("universal", *QUANTIFIERS)
    one, other = ([profile.cues[table] > 0 for table in tables] for profile in (a, b))
    return {
        "quantifiers_clash": float(clash),
        "quantifiers_differ": float(one != other and any(one) and any(other)),
        "quantifiers_covered": clash * cover["covered_new"],
    }


def _all_against_some(a: StatementProfile, b: StatementProfile) -> bool:
    some = any(b.cues[table] for table in QUANTIFIERS)
    return bool(a.cues["universal"] and some and not b.cues["universal"])


def _measure_figures(a: StatementProfile, b: StatementProfile, cover: Mapping[str, float]) -> dict[str, float]:
    one, other = a.figures, b.figures
    same = sum(any(_agree(x, y) for x in one) for y in other)
    clash = sum(any(_compare(x, y) for x in one) and not any(_agree(x, y) for x in one) for y in other)
    lone = len(one) == 1 and len(other) == 1 and not same
    kin = lone and _compare(one[0], other[0])
    return {
        "figures_old": min(2.0, len(one)),
        "figures_new": min(2.0, len(other)),
        "figures_same": min(2.0, same),
        "figures_clash": min(2.0, clash),
        "figures_clash_alone": float(clash > 0 and not same),
        "figures_clash_covered": (clash > 0 and not same) * cover["covered_new"],
        "figures_none_same": float(bool(one) and bool(other) and not same),
        "figures_lone_clash": float(kin),
        "figures_lone_covered": kin * cover["covered_most"],
        "figures_lone_other": float(lone and not kin),
        "figures_none_compare": float(
            bool(one) and bool(other) and not any(_compare(x, y) for x in one for y in other)
        ),
        "figures_lost": float(bool(one) and not other),
        "figures_added": float(bool(other) and not one),
    }


def _compare(a: Value, b: Value) -> bool:
    """Return whether two figures measure the same: one kind, or one of them the number of anything."""
    return a.kind == b.kind


def _agree(a: Value, b: Value) -> bool:
    """Return whether two figures may be the same, whatever they count."""
    counted = a.kind.startswith(COUNTED) and b.kind.startswith(COUNTED)
    return (a.kind == b.kind or counted) and are_same_value(a, b)


def _measure_names(a: StatementProfile, b: StatementProfile, unshared: AbstractSet[str]) -> dict[str, float]:
    left, right = find_leftovers(a.names, b), find_leftovers(b.names, a)
    rest = len(unshared - right)
    families = {family for family, _ in a.tools} & {family for family, _ in b.tools}
    return {
        "names_left_old": min(2.0, len(left)),
        "names_left_new": min(2.0, len(right)),
        "names_shared": min(2.0, len(a.names & b.stems)),
        "names_differ": float(bool(left and right)),
        "names_differ_tight": float(bool(left and right) and rest <= 2),
        "rivals": float(bool(families) and not a.tools & b.tools),
        "same_tool": float(bool(a.tools & b.tools)),
    }


def _measure_modifiers(a: StatementProfile, b: StatementProfile) -> dict[str, float]:
    both = a.modifiers.keys() & b.modifiers.keys()
    same = sum(not a.modifiers[stem].isdisjoint(b.modifiers[stem]) for stem in both)
    return {"modifiers_same": min(2.0, same), "modifiers_differ": min(2.0, len(both) - same)}


def _ask_rules(old: str, new: str) -> dict[str, float]:
    verdict = find_verdict(new, old)
    frames = (sentence_match.compare_sentences(b, a) for b in analyse_statements(new) for a in analyse_statements(old))
    frame = max(frames, key=lambda frame: frame.likeness, default=sentence_match.NO_MATCH)
    return {
        **{
            f"rule_{kind}": verdict.score if verdict is not None and verdict.kind == kind else 0.0
            for kind in ("negation", "antonym", "value")
        },
        "likeness": frame.likeness,
        "fit": frame.fit,
        "extra": min(4.0, frame.extra),
        "other_subject": float(frame.other_subject),
        "other_place": float(frame.other_place),
    }
