"""Text similarity: whether two texts say the same, and whether others support a text: by words, without a model."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Final

from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.system.values import dataclass
from hyperloci.text.language.negation import count_negations

SAME_SHARE: Final = 0.8
"""Share of the words of both that two texts have in common from which on they say the same."""

WITHIN_SHARE: Final = 0.95
"""Share of a text's words that another one holds from which on that one says it, and more."""

GROUNDED_SHARE: Final = 0.5
"""Half of what a finding says must stand in its sources: a summary uses words of its own, an invention no others."""

STEM_CHARS: Final = 5
"""Words are compared by their first characters: endings differ, in Russian most of all."""

NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
"""A number as it is written: `1,024`, `12:30`, `3.11`."""


@functools.lru_cache(maxsize=1_000)
def meaningful_words(text: str) -> frozenset[str]:
    """Return the words that carry a text's meaning, by their beginnings."""
    return frozenset(term[:STEM_CHARS] for term in analyse_query(text))


def find_numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, however their thousands are set apart."""
    return frozenset(number.replace(",", "").strip(".:") for number in NUMBER.findall(text))


def says_same(text: str, other: str) -> bool:
    """Tell whether `other` says what `text` says: the same words, the same numbers, denied or not as it is."""
    mine, theirs = meaningful_words(text), meaningful_words(other)
    if not mine or not theirs:
        return False
    shared = len(mine & theirs)
    has_same_words = shared / len(mine | theirs) >= SAME_SHARE
    if not has_same_words and shared / len(mine) < WITHIN_SHARE:
        return False
    if bool(count_negations(text)) != bool(count_negations(other)):
        return False
    numbers, others = find_numbers(text), find_numbers(other)
    return numbers == others if has_same_words else numbers <= others


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody said: the text that is remembered, and of an answer its own words, '' for what answers nothing."""

    text: str
    answer: str = ""


def repeats(said: Said, other: Said) -> bool:
    """Tell whether `other` says what `said` does; the words that an answer answers say nothing by themselves.

    `Postgres or MySQL? → MySQL` has every word of `we use Postgres`.
    """
    if not says_same(said.text, other.text):
        return False
    return not other.answer or _answers_same(said.answer or said.text, other.answer)


def _answers_same(answer: str, other: str) -> bool:
    mine, theirs = meaningful_words(answer), meaningful_words(other)
    if bool(count_negations(answer)) != bool(count_negations(other)) or not find_numbers(other) <= find_numbers(answer):
        return False
    return theirs <= mine if theirs else not mine


def why_ungrounded(text: str, sources: Iterable[str]) -> str | None:
    """Return why a text is not borne out by its sources; None where it is."""
    together: Sequence[str] = list(sources)
    said = frozenset().union(*(meaningful_words(source) for source in together))
    figures = frozenset().union(*(find_numbers(source) for source in together))
    if invented := sorted(find_numbers(text) - figures):
        return f"says {', '.join(invented[:3])}, but its sources do not"
    mine = meaningful_words(text)
    share = len(mine & said) / len(mine) if mine else 0.0
    if share < GROUNDED_SHARE:
        return f"only {share:.0%} of its words are in its sources; at least {GROUNDED_SHARE:.0%} must be"
    return None
