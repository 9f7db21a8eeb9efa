"""Times of day: `3:30 pm`, `17:05`."""

from __future__ import annotations

import re
from typing import Final

_CLOCK: Final = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm)?", re.IGNORECASE)


def clock_minutes(text: str) -> int | None:
    """Return the minutes since midnight that a time of day means (`3:30 pm`, `17:05`); None for any other text.

    A bare number is as often a count as an hour: it is none.
    """
    match = _CLOCK.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return None
    hour = int(match[1])
    if match[3]:
        hour = hour % 12 + (12 if match[3].lower() == "pm" else 0)
    return hour * 60 + int(match[2] or 0)
