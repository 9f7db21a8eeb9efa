"""Day names: the weekday that is said along with a day of the month, `Friday the 18th`, which is no day of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hyperloci.text.language.dates import date_words, languages
from hyperloci.text.language.ordinal_months import ORDINAL_MONTHS

_WORDS: Final = [date_words(language) for language in languages()]


def _join(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted({word for word in words if word}, key=len, reverse=True))


_GERMAN: Final = _join(date_words("de").weekdays)
_OTHER: Final = _join(name for words in _WORDS for name in (*words.weekdays, *words.short_weekdays))
_MONTHS: Final = _join([*ORDINAL_MONTHS, *(name for words in _WORDS for name in words.months)])

_NAMED: Final = re.compile(
    r"(?<!since )(?<!after )(?<!from )(?<!seit )(?<!nach )(?<!ab )(?<!после )(?<!с )(?<!со )"
    r"\b(?:(?:this|next|coming|diesen|kommenden|nächsten) )?"
    rf"(?:(?P<german>{_GERMAN})|{_OTHER})\b(?:\.,|[.,])? (?=(?:(?P<the>the )|den |dem |\()?(?:"
    rf"(?P<nth>\d{{1,2}}(?:st|nd|rd|th)\b)|\d{{1,2}}\.? ?(?:{_MONTHS})\b"
    rf"|(?:{_MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)"
    r"|\d{1,2}\.\d{1,2}\.|(?:1[3-9]|2\d|3[01])/(?:1[0-2]|0?[1-9])\b|(?:1[0-2]|0?[1-9])/(?:1[3-9]|2\d|3[01])\b"
    r"|20\d\d-\d\d-\d\d))",
    re.IGNORECASE,
)
"""Not where a time begins: there nothing is due."""


def drop_day_names(text: str) -> str:
    """Return a text without the weekdays that a day of the month follows, which says more."""
    return _NAMED.sub(_lead_to_day, text)


def _lead_to_day(found: re.Match[str]) -> str:
    """Return the words that make a day of what follows, as the weekday did."""
    if found["german"]:
        return "am "
    return "on " if found["the"] else "on the " if found["nth"] else ""
