"""Referents: whether a sentence names what it is about, or leans on what was said before it (`make it 20`)."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hyperloci.store.keywords.analysis import stop_words
from hyperloci.text.language.dates import date_words, languages
from hyperloci.text.language.german_numerals import read_german_numeral
from hyperloci.text.language.sentences import sentence_spans

IDENTIFIER: Final = re.compile(
    r"`[^`]{1,200}`|\b\w{1,60}[_./:#@-]\w[\w./:#@-]{0,80}|\b[a-z]{1,40}[A-Z]\w{0,60}|--?[a-z][\w-]{1,40}"
)

MIN_SUBJECT_WORDS: Final = 2
"""Of a sentence that points to something: one word that carries meaning is what is done to it."""

MAX_LEANING_WORDS: Final = 12
"""A longer sentence says what it is about, or nobody could follow."""

_FILE: Final = Path(__file__).parent / "data" / "referents.toml"
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FIGURE: Final = re.compile(r"(?<![\w.])\d[\d.,:/–-]*+(?:[^\W\d_]{1,2})?(?!\w)")
"""A number, a time or a range, with its unit: `4.99`, `02:14`, `1-15s`."""

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def leans_on_context(text: str) -> bool:
    """Return whether a sentence points to something that it does not name: by a pronoun, or by a bare number."""
    if IDENTIFIER.search(text) or len(text.split()) > MAX_LEANING_WORDS:
        return False
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    tables = _load_tables()
    points = any(word.partition("'")[0] in tables["pronouns"] for word in words)
    if not points and not _counts_unnamed(text):
        return False
    return count_subject_words(text) < MIN_SUBJECT_WORDS


def lacks_subject(text: str) -> bool:
    """Return whether a text can't be understood without what was said before it: it leans, or each of its sentences.

    Each points to something that it does not name, or only says how much: `4.99`, `called it. make it 1-15 s`.
    """
    if leans_on_context(text):
        return True
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    told = [sentence for sentence in sentences if any(map(str.isalnum, sentence))]
    return bool(told) and all(map(_says_no_subject, told))


def _says_no_subject(sentence: str) -> bool:
    if leans_on_context(_FIGURE.sub("0", sentence)):
        return True
    return not has_identifier(sentence) and count_subject_words(sentence) == 0


def has_identifier(text: str) -> bool:
    """Return whether a text has a name as code has them: `retry_all`, `--flag`, `lib/db.py`."""
    # A figure is written like a name with a dot, a dash or a colon in it.
    return IDENTIFIER.search(_FIGURE.sub("0", text)) is not None


def count_subject_words(text: str) -> int:
    """Return how many words of a text can tell what it is about (`find_subject_words`)."""
    return len(find_subject_words(text))


def find_subject_words(text: str) -> frozenset[str]:
    """Return the words of a text that can tell what it is about: no pronouns, numbers, days or words of degree."""
    words = (word.lower().replace("’", "'").partition("'")[0] for word in _WORD.findall(text))
    return frozenset(word for word in words if word not in _empty_words() and read_german_numeral(word) is None)


def read_words(name: str) -> frozenset[str]:
    """Return the words of a table of `data/referents.toml`."""
    return _load_tables()[name]


@functools.cache
def _load_tables() -> Mapping[str, frozenset[str]]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in tables.items()}


@functools.cache
def _empty_words() -> frozenset[str]:
    tables = _load_tables()
    numbers = (word for language in languages() for word in date_words(language).numerals)
    return frozenset((*tables["light"], *tables["pronouns"], *tables["articles"], *stop_words(), *numbers))


def _counts_unnamed(text: str) -> bool:
    """Return whether a text counts what it does not name: `delete the 3 not`."""
    tokens = [*_TOKEN.findall(text.lower()), ""]
    articles, light = read_words("articles"), read_words("light")
    return any(
        one in articles and number.isdigit() and (after in light or not after.isalnum())
        for one, number, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )
