"""Spelling (E9): a text as 1,024 bits that change little with typos, word order and cut words.

Hyperdimensional computing (Kanerva 2009; Joshi, Halseth & Kanerva 2016): every character has a random vector of signs.
A trigram binds three of them, each rotated by its place; a text is the sum of its distinct words' trigrams, and its
bits are the signs of that sum. A word with one wrong letter keeps all but three of its trigrams, so texts that are
spelt alike agree in far more than half of their bits. No model, no vocabulary, the same bits on every machine.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.store.keywords.analysis import stop_words
from hyperloci.store.vectors.bits import unpack_signs

SIGNATURE_BITS: Final = 1_024
NGRAM_CHARS: Final = 3

SIGN_COSINE: Final = float(np.sqrt(2 / np.pi))
"""The cosine of a sum of many trigrams with its own signs, about: a text compared with itself scores 1 after all."""

MAX_WORDS: Final = 256
"""Distinct words of a text that count, the first ones: more trigrams than that drown each other in 1,024 bits."""

_WORD: Final = re.compile(r"[^\W_]+")


def spelling_words(text: str) -> list[str]:
    """Return a text's distinct words, folded, without stop words unless nothing else is left."""
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return list(dict.fromkeys([word for word in found if word not in stop_words()] or found))[:MAX_WORDS]


def trigram_signature(text: str) -> NDArray[np.float32] | None:
    """Return the sum of a text's trigrams, shape (1024,); None for a text without a letter or digit."""
    grams = {gram for word in spelling_words(text) for gram in _trigrams_of(word)}
    if not grams:
        return None
    total = np.zeros(SIGNATURE_BITS, np.int32)
    for gram in sorted(grams):
        total += _bind_trigram(gram)
    return total.astype(np.float32)


def signature_bits(text: str) -> bytes | None:
    """Return a text's 1,024 bits, 128 bytes; None for a text without a letter or digit."""
    total = trigram_signature(text)
    return None if total is None else np.packbits(total > 0, bitorder="little").tobytes()


def spelling_signs(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    """Return packed bits as -1 and 1, shape (len(blobs), 1024)."""
    return unpack_signs(blobs, SIGNATURE_BITS)


def spelling_cosines(query: NDArray[np.float32], blobs: Sequence[bytes]) -> NDArray[np.float32]:
    """Return the cosine of a query's signature (or signs) with each text's signs, -1..1."""
    norm = float(np.linalg.norm(query)) * np.sqrt(SIGNATURE_BITS)
    return np.asarray(spelling_signs(blobs) @ query.astype(np.float32) / np.float32(norm or 1.0), dtype=np.float32)


def _trigrams_of(word: str) -> list[str]:
    padded = f" {word} "
    return [padded[start : start + NGRAM_CHARS] for start in range(len(padded) - NGRAM_CHARS + 1)]


@functools.lru_cache(maxsize=16_384)  # A project has some ten thousand distinct trigrams; 1 KB each.
def _bind_trigram(gram: str) -> NDArray[np.int8]:
    """Return the product of a trigram's letters, each rotated by its place."""
    vector = np.ones(SIGNATURE_BITS, np.int8)
    for place, character in enumerate(gram):
        vector *= _letter_signs(character, place)
    return vector


@functools.lru_cache(maxsize=4_096)
def _letter_signs(character: str, place: int) -> NDArray[np.int8]:
    """Return a character's random signs, rotated by its place: the same everywhere, from a hash of it."""
    seed = hashlib.shake_128(character.encode("utf-8", "surrogatepass")).digest(SIGNATURE_BITS // 8)
    signs: NDArray[np.int8] = np.unpackbits(np.frombuffer(seed, np.uint8)).astype(np.int8) * 2 - 1
    return np.roll(signs, place)
