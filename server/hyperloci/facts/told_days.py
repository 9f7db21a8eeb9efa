"""Told days: the days that a statement told on purpose names: when it is due, and the last on which it holds."""

from __future__ import annotations

from typing import Any, Final

from hyperloci.clock import read_day
from hyperloci.errors import BadRequestError
from hyperloci.facts.categories import UNSPECIFIC
from hyperloci.knowledge.deadlines.due_dates import names_past_day, note_days, read_due_date
from hyperloci.model.node import NewNode, Node, last_day_of

DEADLINE: Final = "deadline"

_NO_DAY: Final = (
    "{argument}: no day that is ahead can be read in it; give one (`by 2026-12-18`, `due 18 December`), or remember"
    " what has none as a constraint."
)


def note_told_days(text: str, subtype: str | None, now: int) -> dict[str, str]:
    """Return the days that a statement names, as they are noted beside it (`note_days`).

    Raises:
        BadRequestError: a deadline that names no day ahead.
    """
    days = _read_days(text, subtype, now)
    if subtype == DEADLINE and not days:
        raise BadRequestError(_NO_DAY.format(argument="category='deadline'"))
    return days


def note_corrected_days(text: str, old: Node, now: int) -> dict[str, str]:
    """Return the days of a statement that corrects another: a deadline whose correction names none keeps its own.

    Raises:
        BadRequestError: a deadline that has no day ahead then.
    """
    days = _read_days(text, old.subtype, now)
    if old.subtype != DEADLINE or days:
        return days
    last = last_day_of(old)
    if names_past_day(text, now) or last is None or last < read_day(now).isoformat():
        raise BadRequestError(_NO_DAY.format(argument="fact"))
    return {name: str(old.metadata[name]) for name in ("due", "until") if name in old.metadata}


def renew_days(known: Node, new: NewNode) -> dict[str, Any] | None:
    """Return the metadata of a statement that is told again in the same words, on other days; None for the same.

    Raises:
        BadRequestError: a deadline is told in the words of a memory of another kind, or the other way round.
    """
    is_another = new.subtype not in (known.subtype, UNSPECIFIC)
    if is_another and DEADLINE in (new.subtype, known.subtype):
        raise BadRequestError(f"fact: it is known already, as {known.subtype} {known.id}; forget that one first.")
    days = {name: new.metadata[name] for name in ("due", "until") if name in new.metadata}
    return {**known.metadata, **days} if any(known.metadata.get(name) != day for name, day in days.items()) else None


def _read_days(text: str, subtype: str | None, now: int) -> dict[str, str]:
    return note_days(text, now, due=read_due_date(text, now) if subtype == DEADLINE else None)
