"""Real chunks and questions for the scale benchmark: functions of installed packages, seen as the product sees."""

from __future__ import annotations

import ast
import itertools
import json
import pickle
import random
import site
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperloci.embedder.load import bundled_stages
from hyperloci.model.kinds import NodeKey
from hyperloci.spaces.fingerprint import Fingerprint, fingerprints
from hyperloci.spaces.query import QueryFingerprint, query_fingerprint
from hyperloci.spaces.views import Sight
from hyperloci.store import Store
from hyperloci.store.vectors import COLUMNS

BASE_CHUNKS = 8_000
"""Real chunks that all memories are made of: of a million, 125 are made of each. With 1,000 the ten nearest of a vector
were copies of one text, and told apart by noise."""

BASE_OF_MEMORY = 5_000
QUESTIONS = 60
A_FILE = 3
MIN_CHARS, MAX_CHARS = 200, 1_200
SKIPPED_PARTS = {"tests", "test", "_vendor", "vendored"}


_WHOLE = (
    "SELECT f.node_key FROM fingerprints f JOIN nodes n ON n.key = f.node_key"
    " WHERE f.e12 IS NOT NULL AND n.type <> 'entity' AND n.deleted_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class Chunk:
    title: str
    content: str
    question: str


@dataclass(frozen=True, slots=True)
class Base:
    """Chunks with their fingerprints; questions, from functions that are not among the chunks."""

    model_id: str
    dimensions: int
    chunks: list[Chunk]
    fingerprints: list[Fingerprint]
    questions: list[tuple[str, QueryFingerprint]]


def real_chunks() -> Iterator[Chunk]:
    """Yield the functions of the installed packages that have a docstring, a few of each of many files."""
    for folder in site.getsitepackages():
        paths = sorted(path for path in Path(folder).rglob("*.py") if not SKIPPED_PARTS & set(path.parts))
        random.Random(0).shuffle(paths)
        for path in paths:
            try:
                source = path.read_text(encoding="utf-8")
                tree = ast.parse(source)
            except (OSError, ValueError, SyntaxError):
                continue
            module = ".".join(path.relative_to(folder).with_suffix("").parts)
            yield from itertools.islice(_functions(tree, source, module), A_FILE)


def _functions(tree: ast.Module, source: str, module: str) -> Iterator[Chunk]:
    lines = source.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (doc := (ast.get_docstring(node) or "").strip()):
            text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            question = doc.splitlines()[0]
            if MIN_CHARS <= len(text) <= MAX_CHARS and 20 <= len(question) <= 120:
                yield Chunk(f"{module} > {node.name}", text, question)


def load_base(folder: Path, memory: Path | None = None, questions: Path | None = None) -> Base:
    """Return the base, made once and kept in `folder`.

    Args:
        folder: where it is kept.
        memory: a database whose memories and fingerprints to take, instead of making some of installed packages.
        questions: JSON lines with a `query` each, for such a database.
    """
    kept = folder / "base.pickle"
    if kept.exists():
        return pickle.loads(kept.read_bytes())  # type: ignore[no-any-return]
    *_, stage = bundled_stages("cpu")
    if memory is not None and questions is not None:
        chunks, made = _of_memory(memory)
        texts = [json.loads(line)["query"] for line in questions.open(encoding="utf-8")][:QUESTIONS]
    else:
        wanted = list(itertools.islice(real_chunks(), BASE_CHUNKS + QUESTIONS))
        texts = [chunk.question for chunk in wanted[:QUESTIONS]]
        chunks, made = wanted[QUESTIONS:], []
        for start in range(0, len(chunks), 64):
            made += fingerprints(_sights(chunks[start : start + 64]), stage.encoder)
    asked = [(text, query_fingerprint(text, stage.encoder)) for text in texts]
    base = Base(asked[0][1].model_id, stage.encoder.dimensions, chunks, made, asked)
    folder.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(base))
    return base


def _of_memory(path: Path) -> tuple[list[Chunk], list[Fingerprint]]:
    with Store.open(path, read_only=True) as store:
        keys = [NodeKey(row[0]) for row in store.connection.execute(_WHOLE)]
        chosen = sorted(random.Random(0).sample(keys, min(len(keys), BASE_OF_MEMORY)))
        nodes = store.nodes.by_keys(chosen)
        rows = store.vectors.rows(chosen, COLUMNS)
        made = [
            Fingerprint(
                {name: blob for name, blob in zip(COLUMNS, rows[key], strict=True) if blob is not None},
                store.sparse.terms_of("e13", key),
            )
            for key in chosen
        ]
        return [Chunk(nodes[key].title, nodes[key].content, "") for key in chosen], made


def _sights(chunks: Sequence[Chunk]) -> list[Sight]:
    return [Sight(content=chunk.content, title=chunk.title) for chunk in chunks]
