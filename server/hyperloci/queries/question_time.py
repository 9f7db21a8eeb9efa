"""Time in a question: the bounds that it names, the event that bounds it, and which of several values it asks for.

`last week` is a date; `before we switched to X` names an event, whose date only the memory knows; `at first` and
`currently` name no time but an order. The words are data: `[dates]` of a language's file.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar

from hyperloci.retrieval.time_bounds import TimeBounds, find_time_bounds
from hyperloci.system.values import dataclass
from hyperloci.text.language.dates import DateText, read_question
from hyperloci.text.language.word_tables import read_table, word_set

T = TypeVar("T")

MAX_EVENT_WORDS: Final = 24
"""A longer clause tells more than when something was."""

_ENDS: Final = frozenset(".,;:?!()")
_SIDES: Final = {"since": "after", "after": "after", "before": "before", "by": "before"}


class TimeOrder(StrEnum):
    """Which of several values comes first."""

    OLDEST = "oldest"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class EventBound:
    """An event that bounds the time: `before we switched to X`.

    Attributes:
        side: `after` or `before`.
        event: what happened, as the question has it.
        about: what of it names things: the words after the verb.
        expression: with the word of the bound.
    """

    side: str
    event: str
    about: str
    expression: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTime:
    """What a question says of time.

    Attributes:
        bounds: the dates.
        event: what stands for a date, where it names none.
        order: which of several values it asks for, where it names no dates.
        order_word: what says so.
    """

    bounds: TimeBounds | None = None
    event: EventBound | None = None
    order: TimeOrder | None = None
    order_word: str = ""

    @property
    def is_about_past(self) -> bool:
        """Return whether what holds no longer may answer."""
        return self.bounds is not None or self.event is not None or self.order is TimeOrder.OLDEST


def read_question_time(query: str, now: int) -> QuestionTime:
    """Return what a question says of time, seen from now (milliseconds).

    What is vague (`a few days ago`) or still to come bounds nothing. A question for a length of time says nothing here:
    the dates that it names are the ends that it asks about.
    """
    text = read_question(query)
    if _find_phrase(text, _measures()) is not None:
        return QuestionTime()
    bounds = find_time_bounds(query, now)
    if bounds is not None:
        is_ahead = bounds.after is not None and bounds.after > now
        return QuestionTime() if is_ahead or bounds.is_vague else QuestionTime(bounds=bounds)
    order, word = _find_phrase(text, _order_phrases()) or (None, "")
    return QuestionTime(event=find_event_bound(query), order=order, order_word=word)


def find_event_bound(query: str) -> EventBound | None:
    """Return the first event that a question bounds its time by; None if it has none."""
    text = read_question(query)
    for at in range(len(text.words)):
        side = _SIDES.get(text.bound(at)[0])
        if side is None or not text.stands_apart(at, at + 1):
            continue
        start = _skip(text, at + 1, "links")
        about = _find_object(text, start)
        if about is not None:
            end = _find_end(text, about)
            return EventBound(side, text.between(start, end), text.between(about, end), text.between(at, end))
    return None


def _skip(text: DateText, at: int, table: str) -> int:
    while at < len(text.words) and text.words[at] in word_set(f"dates.events.{table}"):
        at += 1
    return at


def _find_object(text: DateText, start: int) -> int | None:
    """Return where the words begin that name what an event was about; None where no clause tells of an event."""
    words = [*text.words[start : start + 2], "", ""]
    at = start
    if words[0] in word_set("dates.events.subjects"):
        at = _skip(text, start + 1, "auxiliaries")
        is_event = at < len(text.words) and _is_past(text.words[at])
    elif words[0] in word_set("dates.events.articles"):
        at = start + 1
        is_event = words[1] in word_set("dates.events.nouns")
    else:
        is_event = words[0] in word_set("dates.events.acts") | word_set("dates.events.nouns")
    return at + 1 if is_event and at + 1 < len(text.words) else None


def _is_past(verb: str) -> bool:
    return verb in word_set("dates.events.past_verbs") or verb.endswith(tuple(word_set("dates.events.past_endings")))


def _find_end(text: DateText, start: int) -> int:
    last = min(len(text.words), start + MAX_EVENT_WORDS)
    return next((at for at in range(start + 1, last) if _closes_clause(text, at)), last)


def _closes_clause(text: DateText, at: int) -> bool:
    """Return whether a sign that is no part of a name (`v1.2`, `Node.js`) ends a clause, or a question begins."""
    if text.words[at] in word_set("summary.question_openers"):
        return True
    return text.words[at] in _ENDS and (at + 1 == len(text.words) or text.is_spaced(at + 1))


@functools.cache
def _order_phrases() -> Mapping[tuple[str, ...], TimeOrder]:
    return {tuple(phrase.split()): order for order in TimeOrder for phrase in read_table(f"dates.order.{order}")}


@functools.cache
def _measures() -> Mapping[tuple[str, ...], str]:
    return {tuple(phrase.split()): phrase for phrase in read_table("dates.measures.phrases")}


def _find_phrase(text: DateText, phrases: Mapping[tuple[str, ...], T]) -> tuple[T, str] | None:
    """Return what the first of the phrases in a text stands for, and its words; None if it has none."""
    longest = max(map(len, phrases))
    for at in range(len(text.words)):
        for end in range(min(len(text.words), at + longest), at, -1):
            meant = phrases.get(tuple(text.words[at:end]))
            if meant is not None and text.stands_apart(at, end):
                return meant, text.between(at, end)
    return None
