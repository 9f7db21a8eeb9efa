"""Section types: the purpose of a section, read from its title (D.04)."""

from __future__ import annotations

import functools
from enum import StrEnum
from typing import Final

from hyperloci.text.language.word_tables import phrase_pattern


class SectionType(StrEnum):
    """What a section is for (D.04)."""

    OVERVIEW = "overview"
    TUTORIAL = "tutorial"
    HOWTO = "howto"
    REFERENCE = "reference"
    EXPLANATION = "explanation"
    INTRODUCTION = "introduction"
    INSTALLATION = "installation"
    QUICKSTART = "quickstart"
    CONFIGURATION = "configuration"
    API = "api"
    EXAMPLES = "examples"
    TROUBLESHOOTING = "troubleshooting"
    FAQ = "faq"
    LIMITATIONS = "limitations"
    CHANGELOG = "changelog"
    UNKNOWN = "unknown"


PURPOSE_WORDS: Final = 2
"""A title of more words has its telling word for a subject, unless all of it tells ("How to rotate the keys"): "Use a
background thread" gives no background, "Status of the API" is no reference."""

MAX_LABEL_WORDS = 5
"""A title of more words is a sentence: a telling word inside it ("one history of all changes") is its subject."""

_TYPES: Final = (
    SectionType.FAQ,
    SectionType.TROUBLESHOOTING,
    SectionType.LIMITATIONS,
    SectionType.CHANGELOG,
    SectionType.QUICKSTART,
    SectionType.INSTALLATION,
    SectionType.CONFIGURATION,
    SectionType.TUTORIAL,
    SectionType.EXAMPLES,
    SectionType.HOWTO,
    SectionType.API,
    SectionType.REFERENCE,
    SectionType.INTRODUCTION,
    SectionType.OVERVIEW,
    SectionType.EXPLANATION,
)
"""The telling ones first: "API examples" shows examples, "How to install" is about installing. What titles say of each
is a table of each language (`[sections]`)."""


@functools.lru_cache(maxsize=1_024)  # Every section of a file asks for its folders.
def infer_section_type(title: str, inherited: SectionType = SectionType.UNKNOWN) -> SectionType:
    """Return what a title says its section is for, else `inherited`. A long title must begin with the telling word."""
    is_short = len(title.split()) <= MAX_LABEL_WORDS
    for kind in _TYPES:
        pattern = phrase_pattern(f"sections.{kind}", r"(?<!\w)@(?!\w)")
        if pattern.search(title) if is_short else pattern.match(title):
            return kind
    return inherited


def is_label(title: str) -> bool:
    """Return whether a title is so short that a telling word in it is its point."""
    return len(title.split()) <= PURPOSE_WORDS


@functools.lru_cache(maxsize=1_024)
def infer_purpose(title: str) -> SectionType:
    """Return what a title says its section is for where the whole of it says so: its subject it names as often."""
    kind = infer_section_type(title)
    if is_label(title) or kind is SectionType.UNKNOWN:
        return kind
    pattern = phrase_pattern(f"sections.{kind}", r"(?<!\w)@(?!\w)")
    return kind if pattern.fullmatch(title) else SectionType.UNKNOWN
