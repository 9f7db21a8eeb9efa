"""Memories about known themes, and an encoder that sees which words a text is made of."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyperloci.clock import Clock, system_clock
from hyperloci.config import Settings
from hyperloci.embedder.process.embedding_queue import drain_queue
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey
from hyperloci.store import Store
from tests.support import NOW, FakeEncoder, add, vector_of

THEMES = {
    "database": "postgres migration schema index transaction rollback vacuum replica",
    "frontend": "react component button stylesheet render browser layout animation",
    "deploy": "kubernetes container rollout helm cluster ingress registry pipeline",
    "billing": "invoice payment stripe refund currency tax subscription receipt",
}


class WordEncoder(FakeEncoder):
    """An encoder whose vector is the mean of its words': texts that share words are near."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [np.sum([vector_of(word) for word in text.lower().split() or ["-"]], axis=0) for text in texts]
        matrix = np.asarray(rows, np.float32).reshape(len(rows), self.dimensions)
        return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), np.float32)


def sentence(theme: str, number: int) -> str:
    """Return a text of one theme, another for each number."""
    words = random.Random(f"{theme}{number}").sample(THEMES[theme].split(), 5)
    return " ".join([*words, f"note{number}"])


def fill(store: Store, each: int, *, start: int = 0, scope: str = GLOBAL_SCOPE) -> dict[str, list[NodeKey]]:
    """Store so many memories of each theme; return their keys by theme."""
    return {
        theme: [
            add(store, sentence(theme, number), scope=scope, place=f"{theme}{number}", now=NOW).key
            for number in range(start, start + each)
        ]
        for theme in THEMES
    }


def embed(settings: Settings, encoder: FakeEncoder, clock: Clock = system_clock) -> None:
    """Give all that wait their fingerprints; topics are looked for at the end, where they are due."""
    while drain_queue(settings.database, encoder, lambda: False, clock):
        pass


def model_of(store: Store) -> int:
    """Return the key of the model in use."""
    return int(store.connection.execute("SELECT max(key) FROM models").fetchone()[0])
