"""The reader of dates: finds the expressions of time in a text, none of which is part of a name."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.text.language.dates.expressions import DateExpression, Form
from hyperloci.text.language.dates.forms import EVERY, Template, forms_from, match_places
from hyperloci.text.language.dates.words import bound_words, date_words, languages, number_words, unsure_short_months
from hyperloci.text.language.told_languages import find_told, is_told

_TOKEN: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?(?!\w)"
    r"|[^\W_]+|[^\w\s]"
)

_NAME_BEFORE: Final = frozenset("_@#$/\\`")
_NAME_AFTER: Final = frozenset("_(/\\`")
_JOINERS: Final = frozenset(".:-")
"""Signs that make words a part of a name: any of the first two beside them, one of the last between them and a word."""

TOLD_BY: Final = 12
"""How many words on either side tell the language of an expression."""


class DateText:
    """A text, word by word, and the expressions of time in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = [match.span() for match in _TOKEN.finditer(text)]
        self.words = [text[start:end].lower().replace("’", "'") for start, end in self._places]
        self._expressions: dict[tuple[int, bool], DateExpression | None] = {}

    def find(self) -> Iterator[DateExpression]:
        """Yield the expressions, in order, none within another."""
        at = 0
        while at < len(self.words):
            found = self.read(at)
            if found is not None:
                yield found
            at = at + 1 if found is None else found.end

    def read(self, at: int, *, alone: bool = False) -> DateExpression | None:
        """Return the longest expression that begins with a word.

        Args:
            at: which word.
            alone: whether a date is expected there, so that a weekday, month or year by itself is one.
        """
        forms = forms_from(self.words[at], self._told)
        if not forms:
            return None
        # Who looks for ranges, open ends and single dates asks the same word several times.
        if (at, alone) not in self._expressions:
            self._expressions[at, alone] = self._read_forms(at, forms, alone=alone)
        return self._expressions[at, alone]

    def _read_forms(self, at: int, forms: Sequence[Template], *, alone: bool) -> DateExpression | None:
        found = [
            (*match, form, language)
            for language, form, places, parts in forms
            if (alone or form is not Form.ALONE) and (match := match_places(places, parts, self.words, at))
        ]
        found = [match for match in found if self._may_be(match[3], at, match[0])] if self._told else found
        if not found:
            return None
        end, parts, form, language = max(found, key=lambda match: match[0])
        if not self.stands_apart(at, end) or ("count" in parts and self._in_number(at)):
            return None
        return DateExpression(form=form, language=language, first=at, end=end, text=self.between(at, end), **parts)

    @functools.cached_property
    def _told(self) -> tuple[str, ...]:
        """The languages besides those of every text that it may be in somewhere."""
        return find_told(self.words)

    def _may_be(self, language: str, first: int, end: int) -> bool:
        """Tell whether words may be a date in a language: in one that is told there, and no habit.

        Of what is read everywhere `mar 5` is none where another language is told.
        """
        if language == EVERY:
            is_sure = unsure_short_months().isdisjoint(self.words[first:end])
            return is_sure or not any(self._is_told(each, first, end) for each in self._told)
        is_habit = end - first == 1 and first > 0 and self.words[first - 1] in date_words(language).not_after
        return not is_habit and self._is_told(language, first, end)

    def list_languages(self) -> list[str]:
        """Return the languages whose words for dates may stand in it: those of every text, and those that all tells."""
        return [*languages(), *(language for language in self._told if is_told(language, self.words))]

    def _is_told(self, language: str, first: int, end: int) -> bool:
        return is_told(language, self.words[max(0, first - TOLD_BY) : end + TOLD_BY])

    def bound(self, at: int) -> tuple[str, int]:
        """Return what a word is before a date, of `DateWords.bounds`, and which word the date may begin with.

        '' for any other word.
        """
        word = self.words[at]
        name = bound_words().get(word, "")
        if name or not self._told:
            return name, at + 1
        for language in self._told:
            words = date_words(language)
            if word in words.bounds and self._is_told(language, at, at + 1):
                return words.bounds[word], self._skip(words.links, at + 1)
        return "", at + 1

    def lead(self, at: int) -> str:
        """Return the word before a date that begins with a word; of a language that is told there, what it is called
        in `DateWords.bounds`."""
        for language in self._told:
            words, before = date_words(language), at - 1
            while before > 0 and self.words[before] in words.links:
                before -= 1
            if before >= 0 and self.words[before] in words.bounds and self._is_told(language, before, at):
                return words.bounds[self.words[before]]
        return self.words[at - 1] if at else ""

    def _skip(self, links: frozenset[str], at: int) -> int:
        while at < len(self.words) and self.words[at] in links:
            at += 1
        return at

    def between(self, first: int, end: int) -> str:
        """Return the text of some words, as written."""
        return self.text[self._places[first][0] : self._places[end - 1][1]]

    def stands_apart(self, first: int, end: int) -> bool:
        """Tell whether words are no part of a name: `last_week()`, `Monday.com`, `date.today`, `@today`."""
        start, stop = self._places[first][0], self._places[end - 1][1]
        before, after = self.text[max(0, start - 2) : start], self.text[stop : stop + 2]
        if before[-1:] in _NAME_BEFORE or after[:1] in _NAME_AFTER:
            return False
        return not (before[-1:] in _JOINERS and before[:-1].isalnum()) and not (
            after[:1] in _JOINERS and after[1:].isalpha()
        )

    def is_spaced(self, at: int) -> bool:
        """Tell whether space stands before a word."""
        return self.text[self._places[at][0] - 1 : self._places[at][0]].isspace()

    def _in_number(self, at: int) -> bool:
        """Tell whether a number goes on from the word before: `twenty five`, `3.5`."""
        before = self.words[at - 1] if at else ""
        if before in number_words():
            return self.words[at] in number_words()
        return (
            before == "." and at > 1 and self.words[at - 2].isdigit() and self._places[at - 1][1] == self._places[at][0]
        )


@functools.lru_cache(maxsize=16)
def read_question(text: str) -> DateText:
    """Return a question, to look for dates in: one search looks into it several times."""
    return DateText(text)
