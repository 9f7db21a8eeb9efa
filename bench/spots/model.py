"""What a slice is made of: memories, and questions that want some of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
NOW_MS = 1_780_315_200_000
"""1 June 2026, noon, a Monday: the benchmark's present, so that it gives the same figures on any day."""


class NoteKind(StrEnum):
    """How a memory gets in."""

    FACT = "fact"
    TURN = "turn"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotNote:
    """One memory, or a file that becomes several.

    Attributes:
        id: what `Case.wanted` names: of a file's memories, `path:line` names the one that has the line.
        text: its content; a file's whole text.
        time: milliseconds since the epoch.
        session, seq: of a turn.
    """

    id: str
    kind: NoteKind
    text: str
    time: int = NOW_MS - 400 * DAY_MS
    session: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotCase:
    """A question, what it wants, and the question that asks in the other direction.

    Attributes:
        wanted: ids of notes; all of them are relevant.
        swapped: the same question with cause and effect, or importer and imported, changed over.
        swapped_wanted: what that one wants.
    """

    query: str
    wanted: frozenset[str]
    swapped: str = ""
    swapped_wanted: frozenset[str] = frozenset()


@dataclass(slots=True)
class SpotSlice:
    """One space's notes and questions; a second slice of a space has a title."""

    space: str
    notes: list[SpotNote] = field(default_factory=list)
    cases: list[SpotCase] = field(default_factory=list)
    title: str = ""
