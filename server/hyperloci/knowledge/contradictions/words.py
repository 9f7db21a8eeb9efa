"""Words as the contradiction rules read them: stem, whether they carry the topic, what kind of value they may be."""

from __future__ import annotations

import functools
import re
from typing import Final

from hyperloci.knowledge.contradictions.lexicon import base_form, lexicon_words, stem_set, unify_stem
from hyperloci.store.keywords import analysis
from hyperloci.system.values import dataclass
from hyperloci.text.language.dates import date_words
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.written_numbers import NUMBER
from hyperloci.text.sanitize.redaction import PLACEHOLDER

MAX_CHARS: Final = 8_000
"""What a memory says after so many characters is not compared; bounds the time."""

MAX_SENTENCE_CHARS: Final = 400
"""Statements are one thought; what is longer is a list or pasted output."""

REMEMBERED_CHARS: Final = 1_000
"""How a text so long is split is remembered: a statement is compared with the same memories several times over."""

_TOKEN: Final = re.compile(
    rf"""
    \$?(?:{NUMBER})(?:\.[0-9]+)*(?:[:/-][0-9]+)*(?:\s?%|[^\W\d_]+(?:/\w+)?)?  # 30, 30s, 3.11.4, 02:00, 80%, 21,5
    | (?:~?/)?\.?\w+(?:(?:[-'./@+\\]+|::)\w+)*\+*                         # words, paths, dotted and hyphened names, C++
    | [,:()=—–]
    """,
    re.VERBOSE,
)
_NUMERIC: Final = re.compile(r"^\$?[0-9]")
_IDENTIFIER: Final = re.compile(r"[_./~\\@]|\w\d|\d\w|[a-z][A-Z]")
_QUESTION: Final = re.compile(
    r"(?:^|[,–-]\s*(?:(?:so|and|but)\s+)?)(?:can|could|would|should|will|how|what|why|which|who|when|where|is|are|do|does|"
    r"did|has|have|any)\b[^?]{0,400}+\?+$",
    re.IGNORECASE,
)
"""A question states nothing; the statement before a tail like `, can you help me?` does."""

_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "`": " ", '"': " ", "“": " ", "”": " ", "*": " "})


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word, independent of its sentence.

    Attributes:
        text, lower: as written, and in lower case.
        stem: its stem; synonyms and irregular forms share one.
        topical: whether it says what a sentence is about (no function word, no light verb, no number).
        numeric: starts with a digit.
        name: looks like a name: capitalised, or an identifier, path or host.
        verb: usually a verb.
    """

    text: str
    lower: str
    stem: str
    topical: bool
    numeric: bool
    name: bool
    verb: bool


@functools.lru_cache(maxsize=32_768)
def stem_of(lower: str) -> str:
    """Return the stem of a word in lower case, one for synonyms and irregular forms."""
    base = base_form(lower)
    stems = analysis.analyse_text(base)
    # Hyphened compounds stay one word ("end-to-end"): their parts alone mean something else.
    stem = stems[0] if len(stems) == 1 else base
    return unify_stem(stem)


@functools.lru_cache(maxsize=32_768)
def analyse_word(text: str) -> Word:
    """Analyse one word."""
    lower = text.lower()
    stem = stem_of(lower)
    numeric = bool(_NUMERIC.match(text)) or lower in date_words("en").numerals
    function = lower in analysis.stop_words() or lower in lexicon_words("function_words") or not text[-1].isalnum()
    return Word(
        text=text,
        lower=lower,
        stem=stem,
        topical=not (function and text != "C++") and not numeric and stem not in stem_set("light"),
        numeric=numeric,
        name=not function and not numeric and (text[0].isupper() or bool(_IDENTIFIER.search(text))),
        verb=stem in stem_set("verbs", "light"),
    )


def split_statements(text: str) -> tuple[str, ...]:
    """Split a text into its statements; questions and what is too long to be a statement are left out."""
    return _split_short(text) if len(text) <= REMEMBERED_CHARS else _split(text)


def _split(text: str) -> tuple[str, ...]:
    sentences = split_sentences(text[:MAX_CHARS], code=True)
    parts = (part for sentence in sentences for part in sentence.translate(_QUOTES).split(";"))
    return tuple(part for part in map(_without_question, parts) if 1 < len(part) <= MAX_SENTENCE_CHARS)


_split_short = functools.lru_cache(maxsize=2_048)(_split)


def _without_question(part: str) -> str:
    part = part.strip()
    if not part.endswith("?") or len(part) > MAX_SENTENCE_CHARS:
        return part
    stated = _QUESTION.sub("", part)
    return "" if stated.endswith("?") else stated


def analyse_words(sentence: str) -> list[Word]:
    """Return the words and the punctuation of a sentence.

    Every redacted secret is the same word: what it was is not known, so that two of them never differ.
    """
    return [analyse_word(token) for token in _TOKEN.findall(PLACEHOLDER.sub("redacted", sentence))]
