"""Recurring days: a day that comes again is no deadline: `each Friday`, `farms may change their lists till Tuesday`."""

from __future__ import annotations

import re
from typing import Final

from hyperloci.knowledge.deadlines.day_names import WEEKDAY_NAMES
from hyperloci.text.language.dates import date_words, languages
from hyperloci.text.language.vocabulary import vocabulary

_HABITS: Final = "|".join(
    re.escape(word) for language in languages() for word in date_words(language).plural_weekdays if word
)
_EVERY: Final = re.compile(
    r"\b(?:every|each|per|jede[mnrs]?|pro|кажд\w{2,3})\s"
    r"(?:(?:other|second|third|first|last|single|ersten|zweiten|letzten)\s)?"
    rf"(?:{WEEKDAY_NAMES}|week|month|quarter|year|woche|monat|quartal|jahr|недел[юи]|месяца?|квартала?|года?)\b"
    rf"|\b(?:{_HABITS}|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs)\b",
    re.IGNORECASE,
)
"""What comes again by its own words. `In a week` does not."""

_MAY: Final = re.compile(
    r"(?:^|[.:;,]\s|\b(?:and|but|so|that|und|aber)\s)"
    r"(?:(?![Tt]his\s)(?P<who>[A-Za-z][a-z]{2,40}s)\s(?:can|may|are allowed to)"
    r"|[A-ZÄÖÜ][a-zäöüß]{2,40}\s(?:können|dürfen))\s"
    rf"[^.!?\n]{{0,80}}?\b(?:until|till|til|bis)\s(?i:{WEEKDAY_NAMES})\b"
)
"""What some people or others may do until a day of the week, said of them all, without an article: of each such day."""


def names_recurring_day(text: str) -> bool:
    """Return whether a text says that its day comes again."""
    return _EVERY.search(text) is not None or any(
        not vocabulary().is_given_name(match["who"] or "") for match in _MAY.finditer(text)
    )
