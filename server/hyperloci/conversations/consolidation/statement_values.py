"""Statement values: what a statement sets, by sort: a day, a time of day, a length of time, a version, a count (B.17).

Who changes their mind mostly leaves the subject out and says another value of the same sort: `16 november then`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hyperloci.text.language.dates import DateText

_UNITS: Final = {
    "time": "ms|s|secs?|seconds?|mins?|minutes?|minuten?|h|hours?|stunden?|сек|секунд\\w{0,2}|мин|час\\w{0,2}",
    "days": "d|days?|tage?n?|weeks?|wochen?|months?|monate?|years?|jahre?|дн\\w{0,3}|день|недел\\w{1,2}|месяц\\w{0,3}",
    "size": "[kmgt]i?b|bytes?|мб|кб|гб",
    "rate": "hz|khz|mhz|fps|db",
    "share": "%|percent|prozent|процент\\w{0,3}",
    "money": "€|\\$|£|eur|euros?|usd|руб\\w{0,3}",
    "electric": "v|ma|ua|µa|mah|w",
    "length": "mm|cm|m|km|px|pt",
}
_SORTS: Final = re.compile(
    r"(?P<clock>\b\d{1,2}:\d\d\b|\b\d{1,2}\s?(?:am|pm|uhr|o'clock)\b)"
    r"|(?P<ordinal>\b\d{1,2}(?:st|nd|rd|th)\b"
    r"|\b\d{1,2}\.\s?(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)\w{0,6})"
    + "".join(rf"|(?P<{name}>\b\d{{1,9}}(?:[.,]\d{{1,6}})?\s?(?:{units})(?!\w))" for name, units in _UNITS.items())
    + r"|(?P<version>\bv?\d{1,4}\.\d{1,4}(?:\.\d{1,6})?(?![\w%]))"
    r"|(?P<count>\b\d{1,9}\b)",
    re.IGNORECASE,
)

DAY: Final = "day"


def find_values(text: str) -> Mapping[str, frozenset[str]]:
    """Return the values that a text names, in lower case, by their sort."""
    found: dict[str, set[str]] = {}
    for match in _SORTS.finditer(text):
        sort = DAY if match.lastgroup == "ordinal" else str(match.lastgroup)
        found.setdefault(sort, set()).add(match[0].casefold())
    for date in DateText(text).find():
        if date.day is not None:
            found.setdefault(DAY, set()).add(f"{date.month}-{date.day}")
    return {sort: frozenset(values) for sort, values in found.items()}
