"""Causal space (E5): cause and effect clauses, found by cue words (`[causal]` in a language's tables).

A sentence is cut at its cue: `the build failed because the cache was stale` has the effect on the left, `the cache was
stale, so the build failed` on the right. Directions are never mixed: what is asked for the cause of is compared with
effects, and the other way round (E.05). Without a cue there is no clause, and the space is absent.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum
from string import whitespace
from typing import Final

from hyperloci.spaces.space import MAX_VIEW_SOURCE_CHARS
from hyperloci.system.values import dataclass
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.word_tables import alternatives, phrase_pattern, read_table

MAX_PAIRS: Final = 3
"""A long text has many; the first ones say what it is about, and one vector cannot hold more."""

MAX_CLAUSE_CHARS: Final = 300
_MIN_CLAUSE_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class CausalPair:
    """A cause and its effect, in the text's own words."""

    cause: str
    effect: str


class CausalSide(StrEnum):
    """Which side of a cause a question gives; the other is asked for."""

    EFFECT = "effect"
    CAUSE = "cause"


_FLAGS: Final = re.IGNORECASE | re.DOTALL
"""What they are matched with is one line with single blanks: that makes each of them linear."""

_SHORT_CAUSE: Final = "(?P<cause>.+?)"
_SHORT_EFFECT: Final = "(?P<effect>.+?)"
_END: Final = f"{whitespace}.?!…"


def find_causal_pairs(text: str) -> list[CausalPair]:
    """Return the causes and effects that a text states, in its order, three at most."""
    found: list[CausalPair] = []
    before = ""
    for sentence in split_sentences(text[:MAX_VIEW_SOURCE_CHARS]):
        pair = _read_pair(sentence, before)
        if pair is not None:
            found.append(pair)
            if len(found) == MAX_PAIRS:
                break
        before = sentence
    return found


def _read_pair(sentence: str, before: str) -> CausalPair | None:
    if sentence.endswith("?"):
        return None
    follows = _continuation_pattern().match(sentence)
    if follows is not None:
        return _make_pair(before, follows["effect"]) if before else None
    for rule in _sentence_patterns():
        match = rule.match(sentence)
        if match is None:
            continue
        groups = match.groupdict()
        pair = _make_pair(_resolve_bare_cause(groups["cause"], before), groups.get("effect") or before)
        if pair is not None:
            return pair
    return None


def _resolve_bare_cause(cause: str, before: str) -> str:
    """Return what a bare `this` stands for: the sentence before it."""
    return before if before and _is_bare(_trim_clause(cause)) else cause


def _make_pair(cause: str, effect: str) -> CausalPair | None:
    cause, effect = _trim_clause(cause), _trim_clause(effect)
    if min(len(cause), len(effect)) < _MIN_CLAUSE_CHARS or _is_bare(cause) or _is_bare(effect):
        return None
    return CausalPair(cause, effect)


def _is_bare(clause: str) -> bool:
    return phrase_pattern("causal.bare", "^@$").match(clause) is not None


def _trim_clause(clause: str) -> str:
    return clause.rstrip(_END).strip(" ,;:—–-")[:MAX_CLAUSE_CHARS]


def find_asked_side(question: str) -> tuple[CausalSide, str] | None:
    """Return which side a question gives, and the words that give it; None if it has no direction.

    `why does the deploy fail?` gives an effect, `what happens if the disk is full?` a cause.
    """
    text = " ".join(question.split()).rstrip(_END)
    for side, pattern in _question_patterns():
        match = pattern.match(text)
        if match is not None:
            return side, _trim_clause(match["known"])
    return None


@functools.cache
def _sentence_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the forms of sentences that state a cause and its effect; the first that fits counts."""
    then, degrees, relatives = (f"(?:{_any_phrase(table)} )?" for table in ("then", "degrees", "relatives"))
    forms = (
        f"{_any_phrase('because')} {_SHORT_CAUSE}, {then}(?P<effect>.+)",
        f"{_any_phrase('if')} {_SHORT_CAUSE}, {then}(?P<effect>.+)",
        *read_table("causal.sentences"),
        f"{_SHORT_CAUSE}(?:,|;| -| –| —)? (?:{_any_phrase('and')} )?{_any_phrase('therefore')}(?:,|:)? (?P<effect>.+)",
        f"{_SHORT_EFFECT}(?:,|;| -| –| —)? {_any_phrase('copulas')}? ?{degrees}{_any_phrase('effect_first')}"
        f" (?P<cause>.+)",
        f"{_SHORT_EFFECT}, {_any_phrase('effect_first_after_comma')} (?P<cause>.+)",
        f"{_SHORT_CAUSE},? {relatives}{_any_phrase('cause_first')} (?P<effect>.+)",
    )
    return tuple(re.compile(f"^{form}$", _FLAGS) for form in forms)


@functools.cache
def _continuation_pattern() -> re.Pattern[str]:
    """`The cache was stale. As a result, the build failed.`: the cause is the sentence before."""
    return re.compile(f"^{_any_phrase('therefore')}(?:,|:)? (?P<effect>.+)$", _FLAGS)


@functools.cache
def _question_patterns() -> tuple[tuple[CausalSide, re.Pattern[str]], ...]:
    """Return forms of questions, each with what it gives. `what did X break` before `what breaks X`: it says more."""
    forms = (
        (CausalSide.CAUSE, f"{_any_phrase('asks_effect_of')} (?P<known>.+)"),
        *((CausalSide.CAUSE, form) for form in read_table("causal.asks_effect_around")),
        (CausalSide.EFFECT, f"{_any_phrase('asks_cause_of')} (?P<known>.+)"),
    )
    return tuple((side, re.compile(f"^(?:{_any_phrase('question_openers')} )?{form}$", _FLAGS)) for side, form in forms)


def _any_phrase(table: str) -> str:
    return alternatives(f"causal.{table}")
