"""Texts with vectors for a team's database, as many as are asked for, and what a search of all of them would find."""

from __future__ import annotations

import ast
import contextlib
import json
import math
import random
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperloci.embedder.models.profile_models import load_light_encoder
from hyperloci.store.keywords.analysis import analyse_query, analyse_text

MIN_CHARS, MAX_CHARS = 40, 400
QUESTION_WORDS = 12
BLOCK = 10_000

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Texts:
    """Sentences that people wrote about programs: what is stored, and what is asked; unit vectors of both."""

    model: str
    stored: list[str]
    vectors: Vectors
    asked: list[str]
    asked_vectors: Vectors


@dataclass(frozen=True)
class Block:
    """Some rows: texts, index terms, unit vectors, and what weight of terms each shares with each question."""

    texts: list[str]
    keywords: list[str]
    vectors: NDArray[np.float16]
    shared: Vectors


def load_texts(settings: Any, count: int, asked: int, kept: Path) -> Texts:
    """Return texts and vectors as a file keeps them, made where there is none."""
    if kept.exists():
        values = json.loads(kept.read_text())
        arrays = {name: np.array(values[name], np.float32) for name in ("vectors", "asked_vectors")}
        return Texts(**{**values, **arrays})
    texts = read_texts(settings, count, asked)
    arrays = {"vectors": texts.vectors.tolist(), "asked_vectors": texts.asked_vectors.tolist()}
    kept.write_text(json.dumps({**texts.__dict__, **arrays}))
    return texts


def read_texts(settings: Any, count: int, asked: int) -> Texts:
    """Read docstrings of the standard library and of what is installed, and encode them."""
    found = sorted(set(_read_docstrings(count + asked)))
    random.Random(0).shuffle(found)
    encoder = load_light_encoder(settings)
    found[:asked] = [" ".join(text.split()[:QUESTION_WORDS]) for text in found[:asked]]
    vectors = np.concatenate([encoder.encode(found[i : i + 64]) for i in range(0, len(found), 64)])
    return Texts(encoder.model_id, found[asked:], vectors[asked:], found[:asked], vectors[:asked])


def _read_docstrings(wanted: int) -> list[str]:
    paths = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")) + sorted(
        Path(sysconfig.get_path("purelib")).glob("*/*.py")
    )
    random.Random(0).shuffle(paths)
    found: dict[str, None] = {}
    for path in paths:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8", errors="replace"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    text = " ".join((ast.get_docstring(node) or "").split())[:MAX_CHARS]
                    if len(text) >= MIN_CHARS and "\0" not in text:
                        found[text] = None
        if len(found) >= wanted:
            break
    return list(found)[:wanted]


class Mixture:
    """Makes rows of real texts: those themselves first, then the beginning of one with the end of another.

    A row's vector is the sum of its two texts' and of a third one's, in shares drawn at random.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        words = [text.split() for text in texts.stored]
        self._heads = [" ".join(one[: len(one) * 2 // 3]) for one in words]
        self._tails = [" ".join(one[len(one) // 2 :]) for one in words]
        self._terms = [analyse_text(text) for text in texts.stored]
        self._head_terms = [analyse_text(text) for text in self._heads]
        self._tail_terms = [analyse_text(text) for text in self._tails]
        counts = Counter(term for terms in self._terms for term in set(terms))
        self.questions = [sorted(analyse_query(text), key=lambda term: counts[term]) for text in texts.asked]
        """The terms of each question, the rarest first, as the product asks."""
        self.weights = {term: math.log(1 + (len(words) + 1) / (count + 0.5)) for term, count in counts.items()}
        """What each term tells, by how rare it is, as the product weighs them."""
        known = {term: place for place, term in enumerate(sorted({term for one in self.questions for term in one}))}
        self._asks = np.zeros((len(self.questions), len(known)), np.float32)
        for number, terms in enumerate(self.questions):
            self._asks[number, [known[term] for term in terms]] = [self.weigh(term) for term in terms]
        self._has = [_mark_terms(terms, known) for terms in (self._terms, self._head_terms, self._tail_terms)]

    def weigh(self, term: str) -> float:
        """Return the weight of a term."""
        return self.weights.get(term, math.log(3 + 2 * len(self._heads)))

    def make_blocks(self, count: int, rng: np.random.Generator, size: int = BLOCK) -> Iterator[Block]:
        """Make `count` rows in blocks."""
        base = len(self._texts.stored)
        for start in range(0, count, size):
            rows = np.arange(start, min(count, start + size))
            one, two, three = rows % base, rng.integers(0, base, len(rows)), rng.integers(0, base, len(rows))
            mixed = rows >= base
            scale = rng.uniform(0.2, 0.7, (len(rows), 1)).astype(np.float32) * mixed[:, None]
            vectors = self._texts.vectors[one] + scale * self._texts.vectors[two]
            vectors += scale / 2 * self._texts.vectors[three]
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            whole, heads, tails = self._has
            has = np.where(mixed[:, None], heads[one] | tails[two], whole[one])
            texts, keywords = [], []
            for first, second, is_mixed in zip(one.tolist(), two.tolist(), mixed.tolist(), strict=True):
                terms = self._head_terms[first] + self._tail_terms[second] if is_mixed else self._terms[first]
                texts.append(f"{self._heads[first]} {self._tails[second]}" if is_mixed else self._texts.stored[first])
                keywords.append(" ".join(dict.fromkeys(terms)))
            yield Block(texts, keywords, vectors.astype(np.float16), has.astype(np.float32) @ self._asks.T)


def _mark_terms(texts: list[list[str]], known: dict[str, int]) -> NDArray[np.bool_]:
    marks = np.zeros((len(texts), len(known)), np.bool_)
    for number, terms in enumerate(texts):
        marks[number, [known[term] for term in terms if term in known]] = True
    return marks


@dataclass
class ExactAnswers:
    """What a search of every row finds for each question: the nearest by cosine, and the greatest weights."""

    asked: Vectors
    limit: int
    ids: NDArray[Any] = field(init=False)
    cosines: Vectors = field(init=False)
    shared: Vectors = field(init=False)

    def __post_init__(self) -> None:
        self.ids = np.zeros((len(self.asked), 0), "U36")
        self.cosines = np.zeros((len(self.asked), 0), np.float32)
        self.shared = np.zeros((len(self.asked), 0), np.float32)

    def add(self, ids: list[str], block: Block) -> None:
        """Take in a block of rows."""
        ids_there = np.broadcast_to(np.array(ids, "U36"), (len(self.asked), len(ids)))
        cosines = np.concatenate([self.cosines, self.asked @ block.vectors.astype(np.float32).T], axis=1)
        best = np.argsort(-cosines, axis=1, kind="stable")[:, : self.limit]
        self.ids = np.take_along_axis(np.concatenate([self.ids, ids_there], axis=1), best, axis=1)
        self.cosines = np.take_along_axis(cosines, best, axis=1)
        self.shared = -np.sort(-np.concatenate([self.shared, block.shared.T], axis=1), axis=1)[:, : self.limit]
