"""Related words: nearest words in the bundled model's vocabulary, to expand a question's terms (E13)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hyperloci.embedder.models.bert import WORDS

SMALLEST_COSINE: Final = 0.38
"""`error` - `exception` has 0.40, `error` - `correct` 0.36; below, neighbours share a topic and not a sense."""

_MIN_LETTERS: Final = 3


class WordVectors:
    """Input embeddings of whole words. Satisfies `spaces.term_expansion.WordNeighbours`."""

    def __init__(self, weights: Path, tokenizer: Tokenizer) -> None:
        """Remember where the words are; they are read when first needed (33 MB)."""
        self._weights = weights
        self._tokenizer = tokenizer
        self.nearest_words = functools.lru_cache(maxsize=4_096)(self._find_nearest_words)

    @functools.cached_property
    def _tokens(self) -> dict[str, int]:
        """Whole words and their rows in the model's table, in its order."""
        known = self._tokenizer.get_vocab()
        whole = (word for word in known if word.isascii() and word.isalpha() and word.islower())
        words = sorted((word for word in whole if len(word) >= _MIN_LETTERS), key=known.__getitem__)
        return {word: known[word] for word in words}

    @functools.cached_property
    def _words(self) -> list[str]:
        return list(self._tokens)

    @functools.cached_property
    def _row_of_word(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self._words)}

    @functools.cached_property
    def _matrix(self) -> NDArray[np.float32]:
        from safetensors import safe_open

        with safe_open(self._weights, framework="np") as tensors:
            table = tensors.get_tensor(WORDS)
        rows: NDArray[np.float32] = table[list(self._tokens.values())]
        # In place and without squares of all: this is half of what a cold question takes.
        rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        return rows

    def _find_nearest_words(self, word: str, count: int) -> list[tuple[str, float]]:
        """Return the nearest words and their cosines, best first; none for a word it does not hold."""
        place = self._row_of_word.get(word)
        if place is None:
            return []
        cosines = np.einsum("ij,j->i", self._matrix, self._matrix[place])
        cosines[place] = -1
        best = np.argsort(-cosines, kind="stable")[:count]
        return [(self._words[at], float(cosines[at])) for at in best if cosines[at] >= SMALLEST_COSINE]
