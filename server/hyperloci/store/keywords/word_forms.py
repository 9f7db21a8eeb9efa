"""Word forms: under which further terms a word that is not ASCII is found.

Nobody writes accents in a hurry, and capitals lose them (`ΣΥΜΒΑΝΤΑ`, `IŞIK`); other languages inflect what English does
not. So such a word is also indexed without accents and by its stem, beside itself. It is asked once, by its root, the
most general of its forms.
ASCII words are stemmed by `analysis`, and only in a Turkish text by this too, whose words are mostly ASCII.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

import Stemmer

from hyperloci.system.late_patterns import compile_late
from hyperloci.text.language.word_tables import word_set

MAX_KNOWN_WORDS: Final = 16_384
"""Words whose forms are kept at hand."""

MIN_STEM: Final = 3
"""Letters that must be left of a Turkish or Hebrew word without its endings."""

MIN_FORM: Final = 2
"""Letters of the shortest form: a lone `é` or `à` stays as it is."""

TURKISH_SHARE: Final = 5
"""A text is Turkish where one word in so many has a letter that few other languages have."""

_ACCENTS: Final = compile_late("(?<![иИіІ])[\u0300-\u036f\u0653-\u0655]")
"""`й` and `ї` are letters of their own; `ё` is written `е` by most, `أ` is written `ا`."""
_LETTERS: Final = str.maketrans({"ı": "i", "ł": "l", "đ": "d", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe"})
"""Letters that Unicode takes for no accented ones, as those write them who lack them; after `casefold`."""
_TURKISH: Final = compile_late("[ğışĞİŞ]")
_PERHAPS_TURKISH: Final = compile_late("[çöü]")
_PLURAL: Final = compile_late("(?:[eiöü][^aeiouöü]{0,3}ler|[aou][^aeiouöü]{0,3}lar)$")
"""All that is cut from a word that may be Turkish but has none of its own letters."""
_ARABIC_ARTICLE: Final = compile_late("^(?:[وفبك]?ال)+(?=.{3})")
_HEBREW_PREFIXES: Final = "ובלמכש"
_HEBREW_ENDINGS: Final = ("יות", "ים", "ות", "יה", "ה", "ת")

_PLAIN: Final = compile_late("[a-z]+")


@functools.cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)


def _stem(language: str, word: str) -> str:
    return str(_stemmer(language).stemWord(word)) or word


def find_forms(term: str) -> tuple[str, ...]:
    """Return the further terms of a word in small letters that is not ASCII, without itself."""
    return tuple(form for form in _list_forms(term) if form != term)


def find_root(term: str) -> str:
    """Return the most general form of a word in small letters, under which all its forms are found; ASCII is its own.

    A word's root depends on nothing but the word, so whatever text has the word has its root.
    """
    return term if term.isascii() else _list_forms(term)[-1]


@functools.lru_cache(maxsize=MAX_KNOWN_WORDS)
def _list_forms(term: str) -> tuple[str, ...]:
    """Return the forms of a word, the most general last."""
    folded = fold_word(term)
    script = next((name for first, last, name in _SCRIPTS if first <= folded[0] <= last), "")
    if script == "hebrew":
        return tuple(dict.fromkeys(_hebrew_forms(folded)))
    if script:
        # The stemmer takes the article or a first letter like it, not both: a word lost what one with its article kept.
        stem = _stem(script, _ARABIC_ARTICLE.sub("", folded) if script == "arabic" else folded)
        return (stem if len(stem) >= MIN_FORM else folded,)
    plain = _as_asked(folded)
    if len(folded) < MIN_FORM or folded in word_set("stop.words"):
        return (term,)
    if _TURKISH.search(term):
        return plain, *find_turkish_forms(term)
    if _PERHAPS_TURKISH.search(term) and _PLURAL.search(term) and len(folded) >= MIN_STEM + len("ler"):
        return plain, _as_asked(folded[: -len("ler")])
    return (plain,)


def _as_asked(form: str) -> str:
    """Return a word as `analysis` has it if it is asked in ASCII."""
    return _stem("porter", form) if _PLAIN.fullmatch(form) else form


_SCRIPTS: Final = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0590", "\u05ff", "hebrew"),
    ("\u0600", "\u06ff", "arabic"),
)
"""First and last letter of writings, and whose endings are known; Russian's are those of its neighbours too."""


def fold_word(term: str) -> str:
    """Return a word without accents, in small letters; what has none stays composed."""
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", term)))
    return bare.casefold().translate(_LETTERS) or term


def is_turkish(words: Sequence[str]) -> bool:
    """Tell whether the words of a text are Turkish, by the letters that they have."""
    return sum(_TURKISH.search(word) is not None for word in words) * TURKISH_SHARE >= len(words) > 0


def find_turkish_forms(term: str) -> Iterator[str]:
    """Yield a Turkish word without its endings, the shortest last: of a stem the stemmer takes more than of a word."""
    word = term
    while len(stem := _stem("turkish", word)) >= MIN_STEM and stem != word:
        word = stem
        form = _as_asked(fold_word(word))
        if len(form) < MIN_STEM or form in word_set("stop.words"):
            return
        yield form


def _hebrew_forms(word: str) -> Iterator[str]:
    """Yield a word without the preposition or conjunction before it, and with it: each without article and ending."""
    if word[0] in _HEBREW_PREFIXES and len(word) > MIN_STEM:
        yield _strip_hebrew(word[1:])
    yield _strip_hebrew(word)


def _strip_hebrew(word: str) -> str:
    word = _strip_article(word)
    ending = next((each for each in _HEBREW_ENDINGS if word.endswith(each)), "")
    return _strip_article(word.removesuffix(ending)) if len(word) - len(ending) >= MIN_STEM else word


def _strip_article(word: str) -> str:
    """Return a word without what may be its article, also where that is its first letter: all its forms lose it."""
    while word[0] == "ה" and len(word) > MIN_STEM:
        word = word[1:]
    return word
