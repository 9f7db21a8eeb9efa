"""Text analysis: turns text into index terms: words, identifiers and their parts, stemmed.

Porter stems, identifiers split into their parts and stop words left out of queries: docs/why/retrieval.md says what
each is worth ("Terms are stems and parts of identifiers").
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from itertools import chain
from typing import Final

import Stemmer

from hyperloci.store.keywords.word_forms import find_forms, find_root, find_turkish_forms, is_turkish
from hyperloci.text.language.word_tables import word_set

MAX_TERM_CHARS: Final = 64
"""Longer runs are hashes and encoded data: nobody asks for them in full, and they would swell the vocabulary."""

MAX_KNOWN_RUNS: Final = 32_768
"""Words whose terms are kept at hand."""

_ASCII_RUNS: Final = "".join(chr(code) if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
"""What each ASCII character is read as where words are parted: itself, or a space."""

_WORD: Final = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_SIGN: Final = (
    "[\U0001f1e6-\U0001f1ff]{2}"  # flags
    "|[\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_WORD_OR_SIGN: Final = re.compile(rf"{_WORD.pattern}|{_SIGN}")
"""Emoji too, each without the colour of its skin."""
_POINTS: Final = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]")
"""Vowels over and under Hebrew and Arabic letters, which most leave out."""
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_PLAIN: Final = re.compile(r"[a-z]+")
FIRST_WIDE: Final = "\u2e80"
"""From here on letters are Chinese, Japanese and Korean, but for rare ones."""
_WIDE_CHARS: Final = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"

_STEMMER: Final = Stemmer.Stemmer("porter")


@functools.lru_cache(maxsize=16_384)
def _stem_word(word: str) -> str:
    # The stem of "s" is nothing at all.
    return (str(_STEMMER.stemWord(word)) or word) if _PLAIN.fullmatch(word) else word


def _expand_word(word: str) -> tuple[str, ...]:
    """Return the terms of one word: itself, and the parts of an identifier."""
    lower = word.casefold()
    if not lower or len(lower) > MAX_TERM_CHARS:
        return ()
    parts = (
        _PART.findall(word) if not lower.isalpha() or not (word.islower() or word.istitle() or word.isupper()) else []
    )
    if len(parts) < 2:
        return (_stem_word(lower),)
    return (lower, *(_stem_word(part.lower()) for part in parts))


class _TermsOfRuns(dict[str, tuple[str, ...]]):
    """The terms of runs of ASCII letters, digits and underscores; words repeat, so each is worked out once."""

    def __missing__(self, run: str) -> tuple[str, ...]:
        terms = _expand_word(run.strip("_"))
        if len(self) >= MAX_KNOWN_RUNS:
            self.clear()
        if len(run) <= MAX_TERM_CHARS:
            self[run] = terms
        return terms


_TERMS_OF_RUNS: Final = _TermsOfRuns()


@functools.cache
def _runs() -> re.Pattern[str]:
    """Return what matches a run of CJK characters, as its group, or of others. To compile it takes 7 ms."""
    return re.compile(rf"([{_WIDE_CHARS}]+)|[^{_WIDE_CHARS}]+")


def _expand_wide(word: str) -> list[str]:
    """Return the terms of a word; of CJK characters, which stand without spaces, their pairs, and what is between."""
    if max(word) < FIRST_WIDE:
        return list(_expand_word(word.strip("_")))
    found: list[str] = []
    for run in _runs().finditer(word):
        wide = run[1]
        if wide is None:
            found.extend(_expand_word(run[0].strip("_")))
        else:
            found.extend(wide[i : i + 2] for i in range(max(1, len(wide) - 1)))
    return found


def stop_words() -> frozenset[str]:
    """Return the words left out of queries (not of the index) unless nothing else is left."""
    return word_set("stop.words")


def analyse_text(text: str) -> list[str]:
    """Return the index terms of a text in order, with repetition."""
    if text.isascii():
        # No function of Python's runs for a word that is known: a third of the time that matching words takes.
        return list(chain.from_iterable(map(_TERMS_OF_RUNS.__getitem__, text.translate(_ASCII_RUNS).split())))
    # One form for what looks the same: composed letters, full-width letters, ligatures.
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    return [term for word in words for term in _expand_any(word)]


def index_text(text: str) -> tuple[list[str], list[str]]:
    """Return the terms under which a text is found: those of `analyse_text`, and its emoji and its words' other forms.

    What compares texts by their words does without the latter: `thanks 👍` says no more than `thanks`.
    """
    terms = analyse_text(text)
    if text.isascii():
        return terms, []
    had = set(terms)
    words = _find_words_and_signs(text)
    turkish = is_turkish(words)
    further: list[str] = []
    for word in words:
        own = _expand_any(_undot(word))
        forms = [form for term in own if not term.isascii() for form in find_forms(term)]
        if turkish:
            forms += find_turkish_forms(_undot(word).casefold())
        # Emoji are no words of `analyse_text`, nor is what has vowels between its letters.
        further += [term for term in own if term not in had]
        further += [form for form in dict.fromkeys(forms) if form not in own]
    return terms, further


def _find_words_and_signs(text: str) -> list[str]:
    return _WORD_OR_SIGN.findall(unicodedata.normalize("NFKC", _POINTS.sub("", text)))


def _undot(word: str) -> str:
    """Return a word with `I` for `İ`, whose small letter is `i` and a mark, which is no letter."""
    return word.replace("İ", "I")


def _expand_any(word: str) -> Sequence[str]:
    return _TERMS_OF_RUNS[word] if word.isascii() else _expand_wide(word)


@functools.cache
def stop_terms() -> frozenset[str]:
    """Return the index terms of stop words."""
    return frozenset(term for word in stop_words() for term in analyse_text(word))


def analyse_query(query: str) -> list[str]:
    """Return the distinct terms of a question: those of `terms`, without stop words unless nothing else is left."""
    return list(dict.fromkeys(analyse_text(_drop_stop_words(query)) or analyse_text(query)))


def analyse_search(query: str) -> list[str]:
    """Return the distinct terms to look for in the index: as `analyse_query`, with emoji, and each word by its root."""
    if query.isascii():
        return analyse_query(query)
    words = _find_words_and_signs(query)
    asked = [word for word in words if word.lower() not in stop_words()] or words
    return list(dict.fromkeys(find_root(term) for word in asked for term in _expand_any(_undot(word))))


def _drop_stop_words(query: str) -> str:
    words = _WORD.findall(unicodedata.normalize("NFKC", query))
    return " ".join(word for word in words if word.lower() not in stop_words())
