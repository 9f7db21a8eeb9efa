"""Stated words: passwords of letters alone, which nothing but a sentence tells: `the password is correcthorse`.

Such a word is told from what else a password is said to be ("case-sensitive", "unrecoverable", "elsewhere") by its
length and by how words end that describe or name something. So a word of a dictionary is left as it is: that is rather
missed than every sentence on passwords spoilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

MIN_WORD: Final = 11
"""Letters from which a bare word behind `is` is looked at; what is shorter is mostly a word of the language."""
MIN_QUOTED: Final = 8
"""Letters where it stands in quotes: it is cited as it is."""

_DESCRIBING: Final = (
    *(
        "able",
        "al",
        "ance",
        "en",
        "ant",
        "ary",
        "ate",
        "case",
        "cy",
        "ed",
        "ence",
        "ent",
        "er",
        "ers",
        "es",
        "ess",
        "ful",
    ),
    *("hood", "ible", "ic", "ical", "ics", "ing", "ings", "ion", "ions", "ish", "ism", "ist", "ity", "ive", "ize"),
    *("less", "like", "ly", "ment", "ments", "more", "ness", "or", "ors", "ory", "ous", "proof", "ship", "some"),
    *("text", "thing", "tion", "ture", "tude", "type", "ward", "wards", "where", "wise", "word", "words", "worthy"),
    *("ever", "phrase", "string", "value", "name", "names", "field", "fields", "free", "only", "wide", "long", "ised"),
)
"""How words end that a password is said to be, or that stand in its place."""
_STANDING_IN: Final = ("change", "your", "example", "some")
"""How words begin that a manual writes for a password."""


@cache
def _sentence_pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?:password|passphrase|passcode)(?:[ \t](?:for|of|to|on|in)(?:[ \t][\w.-]{1,24}){1,3}?)?"
        r"[ \t](?:is|was)[ \t](?:now[ \t]|still[ \t])?"
        r"(?P<open>[\"'`“*]{0,2})(?P<word>[a-z]{8,40})(?P<close>[\"'`”*]{0,2})"
        r"(?=[ \t]{0,4}(?:[.,;!)](?!\w)|\n|\Z)|[ \t](?:and|but|for|on|until|so|please|use)\b)"
    )


@cache
def _condition_pattern() -> re.Pattern[str]:
    return re.compile(r"\b(?:if|whether|when|unless|until|while|that|because|no|any|each|every|a|an)\b[\w \t-]{0,30}\Z")


def find_stated_words(lowered: str) -> Iterator[tuple[int, int]]:
    """Yield the words of letters alone that a sentence says are a password, in a text in small letters."""
    for match in _sentence_pattern().finditer(lowered):
        is_quoted = bool(match["open"] and match["close"])
        if (
            len(match["word"]) >= (MIN_QUOTED if is_quoted else MIN_WORD)
            and not match["word"].endswith(_DESCRIBING)
            and not match["word"].startswith(_STANDING_IN)
            and not _condition_pattern().search(lowered, max(0, match.start() - 60), match.start())
        ):
            yield match.span("word")
