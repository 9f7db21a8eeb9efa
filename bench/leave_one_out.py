"""What each space is worth: `python -m bench leave_one_out DATA_DIR [--questions 100] [--folder DIR]`.

Answers a fixed sample of every set's questions (`bench.quality`) with all spaces, then with each one left out, and
prints recall@10 and its change in points. Fingerprints are made once, and a question is embedded once for all runs.
Corpora whose documents are files of their own keep the sample's answers and fill up to `--documents` in a fixed order.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench._shared import MarkdownTable, bench_settings, save_result
from bench.quality import (
    DEPTH,
    LOADERS,
    METRICS,
    EvaluationCorpus,
    EvaluationQuestion,
    EvaluationSet,
    Named,
    evaluate_ranking,
    store_corpus,
)
from hyperloci.memory import Memory
from hyperloci.retrieval.search import Searcher
from hyperloci.spaces.query import QueryFingerprint, SearchEncoder
from hyperloci.spaces.space import SPACES

SEED = 13
CORPORA = 3
"""Of sets that are searched apart by conversation or repository, the first so many; each costs its own memory."""

METRIC = METRICS.index("R@10")


class RememberingEncoder:
    """A query encoder that sees every question once."""

    def __init__(self, encoder: SearchEncoder) -> None:
        self._encoder = encoder
        self._seen: dict[str, QueryFingerprint] = {}

    def embed_query(self, text: str) -> tuple[str, NDArray[np.float32]]:
        """Return E1's vector of a question."""
        return self._encoder.embed_query(text)

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        """Return what every space sees of a question."""
        if text not in self._seen:
            self._seen[text] = self._encoder.embed_query_spaces(text)
        return self._seen[text]


def sample_set(evaluation: EvaluationSet, questions: int, documents: int) -> EvaluationSet:
    """Return a set with at most so many questions, and what has to be searched for them."""
    rng = random.Random(SEED)
    corpora = [corpus for corpus in evaluation.corpora if corpus.questions][:CORPORA]
    pairs = [(number, question) for number, corpus in enumerate(corpora) for question in corpus.questions]
    chosen = rng.sample(pairs, min(questions, len(pairs)))
    return EvaluationSet(
        evaluation.name,
        [
            _cut_corpus(corpus, [question for place, question in chosen if place == number], documents, rng)
            for number, corpus in enumerate(corpora)
        ],
    )


def _cut_corpus(
    corpus: EvaluationCorpus, questions: list[EvaluationQuestion], documents: int, rng: random.Random
) -> EvaluationCorpus:
    shared = max(Counter(document.path for document in corpus.documents).values())
    if shared > 1 or len(corpus.documents) <= documents:
        # Turns belong together, and functions of one file stand at their lines.
        return replace(corpus, questions=questions)
    needed = frozenset[str]().union(*(question.relevant | question.exclude for question in questions))
    others = [document.id for document in corpus.documents if document.id not in needed]
    kept = needed | set(rng.sample(others, max(0, min(len(others), documents - len(needed)))))
    return replace(
        corpus, documents=[document for document in corpus.documents if document.id in kept], questions=questions
    )


def measure_set(evaluation: EvaluationSet, folder: Path) -> dict[str, float]:
    """Return recall@10 of one set with all spaces (`all`) and without each."""
    found: dict[str, list[float]] = {}
    for corpus in evaluation.corpora:
        if corpus.questions:
            with _open_stored(corpus, folder / corpus.name.replace("/", "_")) as (memory, named):
                for name, values in _without_each(memory, named, corpus).items():
                    found.setdefault(name, []).extend(values)
    return {name: float(np.mean(values)) for name, values in found.items()}


@contextmanager
def _open_stored(corpus: EvaluationCorpus, folder: Path) -> Iterator[tuple[Memory, Named]]:
    root = folder / "project"
    root.mkdir(parents=True, exist_ok=True)
    with Memory.open(bench_settings(folder, project=corpus.name), root) as memory:
        named = store_corpus(memory, corpus, root)
        memory.embed_pending()
        with memory.keep_embedder_running():
            yield memory, named


def _without_each(memory: Memory, named: Named, corpus: EvaluationCorpus) -> dict[str, list[float]]:
    encoder = memory._client
    assert encoder is not None
    seen = RememberingEncoder(encoder)
    answers: dict[str, list[float]] = {}
    for name in ("all", *SPACES):
        without = frozenset() if name == "all" else frozenset({name})
        # The façade has no such switch: nobody but this benchmark searches with a space left out.
        memory.__dict__["_searcher"] = Searcher(memory.store, seen, memory.settings, without=without)
        answers[name] = [_recall_of(memory, named, corpus, question) for question in corpus.questions]
    return answers


def _recall_of(memory: Memory, named: Named, corpus: EvaluationCorpus, question: EvaluationQuestion) -> float:
    answer = memory.search(question.text, content_type=corpus.content_type, limit=DEPTH, reinforce=False)
    if answer.mode != "hybrid":
        raise RuntimeError(f"searched without vectors: {answer.degraded}")
    return evaluate_ranking([named(hit) for hit in answer.results], question)[METRIC]


def main() -> None:
    """Measure the sets that are there and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench leave_one_out", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with locomo, beam, mddocs, pycode, cosqa, scifact")
    parser.add_argument("--sets", default=",".join(LOADERS), help="which sets, by commas")
    parser.add_argument("--questions", type=int, default=100, help="questions a set")
    parser.add_argument(
        "--documents", type=int, default=1_500, help="documents a corpus of files, at least the answers"
    )
    parser.add_argument("--folder", type=Path, help="keep the memories here and use them again")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    answer: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as temporary:
        for name in options.sets.split(","):
            for evaluation in LOADERS[name](options.data / name) if (options.data / name).is_dir() else ():
                cut = sample_set(evaluation, options.questions, options.documents)
                n = sum(len(corpus.questions) for corpus in cut.corpora)
                answer[cut.name] = {"n": n, **measure_set(cut, (options.folder or Path(temporary)) / name)}
                print(f"{cut.name} done", answer[cut.name], file=sys.stderr)
    _print_table(answer)
    if options.save:
        save_result("leave_one_out", answer)


def _print_table(answer: dict[str, Any]) -> None:
    table = MarkdownTable("set", "n", "all", *(f"-{space.upper()}" for space in SPACES))
    for name, found in answer.items():
        changes = [f"{100 * (found[space] - found['all']):+.1f}" for space in SPACES]
        table.add(name, found["n"], f"{found['all']:.3f}", *changes)
    table.print()


if __name__ == "__main__":
    main()
