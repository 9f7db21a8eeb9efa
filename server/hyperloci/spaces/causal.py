"""E5: cause and effect clauses, by cue words (`[causal]` of a language's tables).

A sentence is cut at its cue: `the build failed because the cache was stale` has the effect on the left, `the cache was
stale, so the build failed` on the right. Directions are never mixed: what is asked for the cause of is compared with
effects, and the other way round (E.05). Without a cue there is no clause, and the space is absent.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import StrEnum
from string import whitespace
from typing import Final

from hyperloci.spaces.space import MAX_CHARS
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.tables import alternatives, phrase_pattern, read_table

MAX_PAIRS: Final = 3
"""A long text has many; the first ones say what it is about, and one vector cannot hold more."""

MAX_CLAUSE_CHARS: Final = 300
_MIN_CLAUSE_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """A cause and its effect, in the text's own words."""

    cause: str
    effect: str


class Asked(StrEnum):
    """Which side of a cause a question gives; the other is asked for."""

    EFFECT = "effect"
    CAUSE = "cause"


_I: Final = re.IGNORECASE | re.DOTALL
"""What they are matched with is one line with single blanks: that makes each of them linear."""

_SHORT_CAUSE: Final = "(?P<cause>.+?)"
_SHORT_EFFECT: Final = "(?P<effect>.+?)"
_END: Final = f"{whitespace}.?!…"


def pairs(text: str) -> list[Pair]:
    """Return the causes and effects that a text states, in its order, three at most."""
    found: list[Pair] = []
    before = ""
    for sentence in split_sentences(text[:MAX_CHARS]):
        pair = _pair(sentence, before)
        if pair is not None:
            found.append(pair)
            if len(found) == MAX_PAIRS:
                break
        before = sentence
    return found


def _pair(sentence: str, before: str) -> Pair | None:
    if sentence.endswith("?"):
        return None
    follows = _continuation().match(sentence)
    if follows is not None:
        return _made(before, follows["effect"]) if before else None
    for rule in _rules():
        match = rule.match(sentence)
        if match is None:
            continue
        groups = match.groupdict()
        pair = _made(_subject(groups["cause"], before), groups.get("effect") or before)
        if pair is not None:
            return pair
    return None


def _subject(cause: str, before: str) -> str:
    """Return what a bare `this` stands for: the sentence before it."""
    return before if before and _is_bare(_trimmed(cause)) else cause


def _made(cause: str, effect: str) -> Pair | None:
    cause, effect = _trimmed(cause), _trimmed(effect)
    if min(len(cause), len(effect)) < _MIN_CLAUSE_CHARS or _is_bare(cause) or _is_bare(effect):
        return None
    return Pair(cause, effect)


def _is_bare(clause: str) -> bool:
    return phrase_pattern("causal.bare", "^@$").match(clause) is not None


def _trimmed(clause: str) -> str:
    return clause.rstrip(_END).strip(" ,;:—–-")[:MAX_CLAUSE_CHARS]


def asked(question: str) -> tuple[Asked, str] | None:
    """Return which side a question gives, and the words that give it; None if it has no direction.

    `why does the deploy fail?` gives an effect, `what happens if the disk is full?` a cause.
    """
    text = " ".join(question.split()).rstrip(_END)
    for side, pattern in _questions():
        match = pattern.match(text)
        if match is not None:
            return side, _trimmed(match["known"])
    return None


@functools.cache
def _rules() -> tuple[re.Pattern[str], ...]:
    """Return the forms of sentences that state a cause and its effect; the first that fits counts."""
    then, degrees, relatives = (f"(?:{_any(table)} )?" for table in ("then", "degrees", "relatives"))
    forms = (
        f"{_any('because')} {_SHORT_CAUSE}, {then}(?P<effect>.+)",
        f"{_any('if')} {_SHORT_CAUSE}, {then}(?P<effect>.+)",
        *read_table("causal.sentences"),
        f"{_SHORT_CAUSE}(?:,|;| -| –| —)? (?:{_any('and')} )?{_any('therefore')}(?:,|:)? (?P<effect>.+)",
        f"{_SHORT_EFFECT}(?:,|;| -| –| —)? {_any('copulas')}? ?{degrees}{_any('effect_first')} (?P<cause>.+)",
        f"{_SHORT_EFFECT}, {_any('effect_first_after_comma')} (?P<cause>.+)",
        f"{_SHORT_CAUSE},? {relatives}{_any('cause_first')} (?P<effect>.+)",
    )
    return tuple(re.compile(f"^{form}$", _I) for form in forms)


@functools.cache
def _continuation() -> re.Pattern[str]:
    """`The cache was stale. As a result, the build failed.`: the cause is the sentence before."""
    return re.compile(f"^{_any('therefore')}(?:,|:)? (?P<effect>.+)$", _I)


@functools.cache
def _questions() -> tuple[tuple[Asked, re.Pattern[str]], ...]:
    """Return forms of questions, each with what it gives. `what did X break` before `what breaks X`: it says more."""
    forms = (
        (Asked.CAUSE, f"{_any('asks_effect_of')} (?P<known>.+)"),
        *((Asked.CAUSE, form) for form in read_table("causal.asks_effect_around")),
        (Asked.EFFECT, f"{_any('asks_cause_of')} (?P<known>.+)"),
    )
    return tuple((side, re.compile(f"^(?:{_any('question_openers')} )?{form}$", _I)) for side, form in forms)


def _any(table: str) -> str:
    return alternatives(f"causal.{table}")
