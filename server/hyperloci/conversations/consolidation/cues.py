"""Cues: phrases that mark something worth remembering: decisions, preferences, limits, failures (B.17).

The words are in each language's table (`[consolidation]`). Each cue is a pattern, matched in one sentence, with a kind
and a strength (0..1) that becomes the finding's confidence; of several kinds in one sentence the strongest counts. The
strengths rank certain cues above doubtful ones; they were set by hand on transcripts and checked by
`bench.consolidation`, not learned.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final

from hyperloci.conversations.consolidation.findings import FindingKind
from hyperloci.text.language.word_tables import phrase_pattern, read_table

_SPECIFIC: Final = re.compile(
    r"\d|`[^`]+`|\"[^\"]{2,}\"|“[^”]{2,400}”|\b[A-Za-z]+[_/.][A-Za-z_/.]{2,}\b|(?<=[a-zа-я,;] )[A-ZА-ЯЁ][\w-]+"
    r"|\b[A-Z]{2,}\b"
)
"""What makes a statement one about something in particular: a figure, a name, code, a path."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A way of saying something. `strength` is how surely it means what `kind` says."""

    kind: FindingKind
    strength: float
    pattern: re.Pattern[str]


def user_cues() -> tuple[Cue, ...]:
    """Return what the user's own sentences are looked through for."""
    return _read_cues("consolidation.user")


def assistant_cues() -> tuple[Cue, ...]:
    """Return what the assistant's sentences are looked through for: what was done and found out, not what might be."""
    return _read_cues("consolidation.assistant")


def is_advice(sentence: str) -> bool:
    """Return whether an assistant's sentence advises in general: it was not done, nor found out."""
    return phrase_pattern("consolidation.advice", r"\b@\b|:$").search(sentence) is not None


def after_correction(sentence: str) -> str | None:
    """Return what a user says who begins with setting something right: it is meant. None for any other sentence."""
    match = phrase_pattern("consolidation.corrections", r"^@\b[,.!:;— -]*+\s*+(?=\S)").match(sentence)
    return None if match is None else sentence[match.end() :]


def has_reason(sentence: str) -> bool:
    """Return whether a reason stands in a sentence already."""
    return phrase_pattern("consolidation.reasons").search(sentence) is not None


def begins_with_reason(sentence: str) -> bool:
    """Return whether a sentence gives the reason for the one before."""
    return phrase_pattern("consolidation.reason_starts", r"^@\b").match(sentence) is not None


def leaves_choice(question: str) -> bool:
    """Return whether a question leaves a choice to the user."""
    return phrase_pattern("consolidation.choices").search(question) is not None


def is_particular(statement: str) -> bool:
    """Return whether a statement says something in particular of who speaks, or of the project."""
    about = phrase_pattern("consolidation.first_person").search(statement) or phrase_pattern(
        "consolidation.project", "@"
    ).search(statement)
    return bool(about and _SPECIFIC.search(statement))


def holds_everywhere(statement: str) -> bool:
    """Return whether a statement says that it holds for more than this project."""
    return phrase_pattern("consolidation.everywhere").search(statement) is not None


@functools.cache
def _read_cues(table: str) -> tuple[Cue, ...]:
    """Return a table's cues, those of one kind and strength as one pattern."""
    patterns: dict[tuple[FindingKind, float], list[str]] = {}
    for row in read_table(table):
        patterns.setdefault((FindingKind(row["kind"]), row["strength"]), []).extend(row["patterns"])
    return tuple(Cue(*key, re.compile("|".join(found), re.IGNORECASE)) for key, found in patterns.items())
