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
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperloci.embedder.models.profile_models import load_light_encoder
from hyperloci.store.keywords.analysis import analyse_query, analyse_text

MIN_CHARS, MAX_CHARS = 40, 400
QUESTION_WORDS = 12

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Texts:
    """Sentences that people wrote about programs: what is stored, and what is asked; unit vectors of both."""

    model: str
    stored: list[str]
    vectors: Vectors
    asked: list[str]
    asked_vectors: Vectors


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


class TermWeights:
    """What the terms of each question tell, by how rare they are in the texts, as the product weighs them."""

    def __init__(self, texts: Texts) -> None:
        stored = [set(analyse_text(text)) for text in texts.stored]
        counts = Counter(term for terms in stored for term in terms)
        self.questions = [
            {term: math.log(1 + (len(stored) + 1) / (counts[term] + 0.5)) for term in analyse_query(text)}
            for text in texts.asked
        ]
        known = sorted({term for terms in self.questions for term in terms})
        self._places = {term: place for place, term in enumerate(known)}
        self._asks = np.zeros((len(known), len(self.questions)), np.float32)
        for number, terms in enumerate(self.questions):
            for term, weight in terms.items():
                self._asks[self._places[term], number] = weight

    def weigh_rows(self, keywords: Sequence[str]) -> Vectors:
        """Return what weight of each question's terms each row has, by its index terms."""
        has = np.zeros((len(keywords), len(self._places)), np.float32)
        for row, terms in enumerate(keywords):
            has[row, [self._places[term] for term in terms.split() if term in self._places]] = 1
        return has @ self._asks


@dataclass
class ExactAnswers:
    """What a comparison with every row finds for each question: the nearest by cosine, and the greatest weights."""

    asked: Vectors
    limit: int
    ids: NDArray[Any] = field(init=False)
    cosines: Vectors = field(init=False)
    shared: Vectors = field(init=False)

    def __post_init__(self) -> None:
        self.ids = np.zeros((len(self.asked), 0), "U36")
        self.cosines = np.zeros((len(self.asked), 0), np.float32)
        self.shared = np.zeros((len(self.asked), 0), np.float32)

    def add(self, ids: Sequence[str], vectors: Vectors, weights: Vectors) -> None:
        """Take in rows: their unit vectors, and what weight of each question's terms they have."""
        cosines = np.concatenate([self.cosines, self.asked @ vectors.T], axis=1)
        best = np.argpartition(-cosines, min(self.limit, cosines.shape[1] - 1), axis=1)[:, : self.limit]
        known = self.ids.shape[1]
        new = np.array(ids, "U36")[np.maximum(best - known, 0)]
        old = np.take_along_axis(self.ids, np.minimum(best, known - 1), axis=1) if known else new
        self.ids = np.where(best < known, old, new)
        self.cosines = np.take_along_axis(cosines, best, axis=1)
        shared = np.concatenate([self.shared, weights.T], axis=1)
        self.shared = -np.sort(-shared, axis=1)[:, : self.limit]
