"""Told days: the days that a statement told on purpose names: when it is due, and the last on which it holds."""

from __future__ import annotations

from typing import Final

from hyperloci.errors import BadRequestError
from hyperloci.knowledge.deadlines.due_dates import names_past_day, note_days, read_due_date
from hyperloci.model.node import Node

DEADLINE: Final = "deadline"


def note_told_days(text: str, subtype: str | None, now: int) -> dict[str, str]:
    """Return the days that a statement names, as they are noted beside it (`note_days`).

    Raises:
        BadRequestError: a deadline that names no day ahead.
    """
    days = _read_days(text, subtype, now)
    if subtype == DEADLINE and not days:
        raise BadRequestError(
            "category='deadline': the fact names no day that is ahead; give it (`due 18 December`, `by 2026-12-18`), or"
            " remember what has none as a constraint."
        )
    return days


def note_corrected_days(text: str, old: Node, now: int) -> dict[str, str]:
    """Return the days of a statement that corrects another: a deadline whose correction names none keeps its own."""
    days = _read_days(text, old.subtype, now)
    if old.subtype != DEADLINE or days or names_past_day(text, now):
        return days
    return {name: str(old.metadata[name]) for name in ("due", "until") if name in old.metadata}


def _read_days(text: str, subtype: str | None, now: int) -> dict[str, str]:
    return note_days(text, now, due=read_due_date(text, now) if subtype == DEADLINE else None)
