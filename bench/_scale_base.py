"""Real chunks and questions for the scale benchmark: functions of installed packages, seen as the product sees."""

from __future__ import annotations

import itertools
import json
import pickle
import random
import site
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperloci.embedder.models.loader import load_bundled_stages
from hyperloci.indexing.file_reader import TITLE_SEPARATOR
from hyperloci.model.chunk import CodeFacts
from hyperloci.model.kinds import NodeKey
from hyperloci.spaces.fingerprint import Fingerprint, compute_fingerprints
from hyperloci.spaces.query import QueryFingerprint, fingerprint_query
from hyperloci.spaces.views import EncoderInput
from hyperloci.store import Store
from hyperloci.store.vectors import float16
from hyperloci.store.vectors.fingerprints import COLUMNS
from hyperloci.text.chunking.chunker import chunk_file

BASE_CHUNKS = 5_000
"""Real chunks that all memories are made of: of a million, 200 are made of each. With 1,000 the ten nearest of a vector
were copies of one text, and told apart by noise."""

QUESTIONS = 60
QUESTIONS_FILE = "questions.pickle"
A_FILE = 3
MIN_CHARS, MAX_CHARS = 200, 1_200
MAX_FILE_CHARS = 200_000
SKIPPED_PARTS = {"tests", "test", "_vendor", "vendored"}


_WHOLE = (
    "SELECT f.node_key FROM fingerprints f JOIN nodes n ON n.key = f.node_key"
    " WHERE f.e12 IS NOT NULL AND n.type <> 'entity' AND n.deleted_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class ScaleChunk:
    title: str
    content: str
    question: str
    path: str | None = None
    facts: CodeFacts | None = None


@dataclass(frozen=True, slots=True)
class ScaleBase:
    """Chunks with their fingerprints; questions, from functions that are not among the chunks."""

    model_id: str
    dimensions: int
    chunks: list[ScaleChunk]
    fingerprints: list[Fingerprint]
    questions: list[tuple[str, QueryFingerprint]]


def real_chunks() -> Iterator[ScaleChunk]:
    """Yield the functions of the installed packages that have a docstring, a few of each of many files."""
    for folder in site.getsitepackages():
        paths = sorted(path for path in Path(folder).rglob("*.py") if not SKIPPED_PARTS & set(path.parts))
        random.Random(0).shuffle(paths)
        for path in paths:
            try:
                source = path.read_text(encoding="utf-8")
            except (OSError, ValueError):
                continue
            if len(source) <= MAX_FILE_CHARS:
                yield from itertools.islice(_functions_of(path.relative_to(folder).as_posix(), source), A_FILE)


def _functions_of(path: str, source: str) -> Iterator[ScaleChunk]:
    for chunk in chunk_file(path, source):
        facts = chunk.code
        if facts is not None and facts.kind in ("function", "method") and facts.docstring:
            question = facts.docstring.splitlines()[0]
            if MIN_CHARS <= len(chunk.text) <= MAX_CHARS and 20 <= len(question) <= 120:
                yield ScaleChunk(TITLE_SEPARATOR.join(chunk.breadcrumb), chunk.text, question, path, facts)


def load_base(folder: Path, memory: Path | None = None, questions: Path | None = None) -> ScaleBase:
    """Return the base, made once and kept in `folder`.

    Args:
        folder: where it is kept.
        memory: a database whose memories and fingerprints to take, instead of making some of installed packages.
        questions: JSON lines with a `query` each, for such a database.
    """
    kept, questions_kept = folder / "chunks.pickle", folder / QUESTIONS_FILE
    if kept.exists() and questions_kept.exists():
        model_id, dimensions, chunks, made = pickle.loads(kept.read_bytes())
        base = ScaleBase(model_id, dimensions, chunks, made, load_questions(folder))
        if len(base.fingerprints[0].columns["e1"]) != float16.BYTES_PER_DIMENSION * base.dimensions:
            raise SystemExit(f"{kept} is of an older format: delete it.")
        return base
    *_, stage = load_bundled_stages("auto")
    if memory is not None and questions is not None:
        chunks, made = _of_memory(memory)
        texts = [json.loads(line)["query"] for line in questions.open(encoding="utf-8")][:QUESTIONS]
    else:
        wanted = list(itertools.islice(real_chunks(), BASE_CHUNKS + QUESTIONS))
        texts = [chunk.question for chunk in wanted[:QUESTIONS]]
        chunks, made = wanted[QUESTIONS:], []
        for start in range(0, len(chunks), 64):
            made += compute_fingerprints(_sights_of(chunks[start : start + 64]), stage.encoder)
    asked = [(text, fingerprint_query(text, stage.encoder)) for text in texts]
    folder.mkdir(parents=True, exist_ok=True)
    parts = (asked[0][1].model_id, stage.encoder.dimensions, chunks, made)
    kept.write_bytes(pickle.dumps(parts))
    questions_kept.write_bytes(pickle.dumps(asked))
    return ScaleBase(*parts, asked)


def load_questions(folder: Path) -> list[tuple[str, QueryFingerprint]]:
    """Return the questions of a base that was made, without its chunks, which a measurement of memory would count."""
    questions: list[tuple[str, QueryFingerprint]] = pickle.loads((folder / QUESTIONS_FILE).read_bytes())
    return questions


def _of_memory(path: Path) -> tuple[list[ScaleChunk], list[Fingerprint]]:
    with Store.open(path, read_only=True) as store:
        keys = [NodeKey(row[0]) for row in store.connection.execute(_WHOLE)]
        chosen = sorted(random.Random(0).sample(keys, min(len(keys), BASE_CHUNKS)))
        nodes = store.nodes.get_by_keys(chosen)
        rows = store.vectors.get_rows(chosen, COLUMNS)
        made = [
            Fingerprint(
                {name: blob for name, blob in zip(COLUMNS, rows[key], strict=True) if blob is not None},
                store.sparse_index.get_terms("e13", key),
            )
            for key in chosen
        ]
        return [ScaleChunk(nodes[key].title, nodes[key].content, "") for key in chosen], made


def _sights_of(chunks: Sequence[ScaleChunk]) -> list[EncoderInput]:
    return [
        EncoderInput(content=chunk.content, title=chunk.title, path=chunk.path, facts=chunk.facts) for chunk in chunks
    ]
