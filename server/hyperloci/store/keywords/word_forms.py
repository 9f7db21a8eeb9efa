"""Word forms: under which further terms a word that is not ASCII is found.

Nobody writes accents in a hurry, and capitals lose them (`ΣΥΜΒΑΝΤΑ`, `IŞIK`); other languages inflect what English does
not. So such a word is also indexed without accents and by its stem, beside itself: what is asked is treated alike.
ASCII words are stemmed by `analysis`, and only in a Turkish text by this too, whose words are mostly ASCII.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

import Stemmer

MAX_KNOWN_WORDS: Final = 16_384
"""Words whose forms are kept at hand."""

MIN_STEM: Final = 2
"""Letters that must be left of a Hebrew word without its prefix or ending."""

TURKISH_SHARE: Final = 5
"""A text is Turkish where one word in so many has a letter that few other languages have."""

_ACCENTS: Final = re.compile("(?<![иИіІ])[\u0300-\u036f]")
"""`й` and `ї` are letters of their own; `ё` is written `е` by most."""
_LETTERS: Final = str.maketrans({"ı": "i", "ł": "l", "đ": "d", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe"})
"""Letters that Unicode takes for no accented ones, as those write them who lack them; after `casefold`."""
_TURKISH: Final = re.compile("[çğıöşü\u0307]|i̇")
_MOSTLY_TURKISH: Final = re.compile("[ğışĞİŞ]")
_HEBREW_PREFIXES: Final = "הובלמכש"
_HEBREW_ENDINGS: Final = ("יות", "ים", "ות", "יה", "ה", "ת")

_PLAIN: Final = re.compile("[a-z]+")


@functools.cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)


def _stem(language: str, word: str) -> str:
    return str(_stemmer(language).stemWord(word)) or word


@functools.lru_cache(maxsize=MAX_KNOWN_WORDS)
def find_forms(term: str) -> tuple[str, ...]:
    """Return the further terms of a word in small letters that is not ASCII, without itself."""
    folded = fold_word(term)
    script = next((name for first, last, name in _SCRIPTS if first <= folded[0] <= last), "")
    forms: Sequence[str] = (folded,)
    if script == "hebrew":
        forms = (folded, *_hebrew_forms(folded))
    elif script == "arabic":
        forms = (folded, _stem(script, folded))
    elif script:
        forms = (_stem(script, folded),)
    elif _TURKISH.search(term):
        forms = (folded, *find_turkish_forms(term))
    plain = (_stem("porter", form) if _PLAIN.fullmatch(form) else form for form in forms)
    return tuple(form for form in dict.fromkeys(plain) if form != term)


_SCRIPTS: Final = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0590", "\u05ff", "hebrew"),
    ("\u0600", "\u06ff", "arabic"),
)
"""First and last letter of writings, and whose endings are known; Russian's are those of its neighbours too."""


def fold_word(term: str) -> str:
    """Return a word without accents, in small letters."""
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", term)).casefold().translate(_LETTERS) or term


def is_turkish(words: Sequence[str]) -> bool:
    """Tell whether the words of a text are Turkish, by the letters that they have."""
    return sum(_MOSTLY_TURKISH.search(word) is not None for word in words) * TURKISH_SHARE >= len(words) > 0


def find_turkish_forms(term: str) -> Iterator[str]:
    """Yield a Turkish word without its endings: the stemmer takes one more from a stem than from the whole word."""
    word = term.replace("i̇", "i")
    for _ in range(2):
        word = _stem("turkish", word)
        yield fold_word(word)


def _hebrew_forms(word: str) -> Iterator[str]:
    """Yield a word without the article, the preposition or the conjunction before it, and without its ending."""
    starts = [word]
    if word[0] in _HEBREW_PREFIXES and len(word) > MIN_STEM + 1:
        starts.append(word[1:])
    for start in starts:
        ending = next((each for each in _HEBREW_ENDINGS if start.endswith(each)), "")
        yield start
        yield start.removesuffix(ending) if ending and len(start) - len(ending) >= MIN_STEM else start
