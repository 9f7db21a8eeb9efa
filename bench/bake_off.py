"""Bake-off of models: `python -m bench bake_off DATA_DIR --folder DIR [--sets locomo,beam] [--variants bundled,better]`.

What each space's model is worth in the product's own ranking. A fixed part of every set is stored once with the
bundled model; for a variant its database is copied, the columns of the spaces whose model changes are made anew, and
the same questions are asked. Everything else stays as it was, so that rows differ by the swapped model alone. Printed
are recall@10 and nDCG@10 with the paired bootstrap of the difference to `bundled`, bytes a memory of the swapped
columns, and processor seconds a thousand memories and a question of the swapped models.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench._shared import bench_settings
from bench.quality import LOADERS, EvaluationCorpus, EvaluationDocument, EvaluationSet, Named, store_corpus
from hyperloci.memory import Memory

SEED = 19
CORPORA = {"locomo": ("conv-26", "conv-30", "conv-41"), "beam": ("beam-100K-1", "beam-100K-2", "beam-100K-3")}
"""Of sets that are searched apart by conversation, these; of the others so many documents."""

FILES = {"pycode": 1_500, "cosqa": 1_500, "scifact": 1_000}
FACTS = ("conv-26", "conv-30")
"""Conversations that are also told turn by turn through `remember_fact`."""


def sample_sets(data: Path, names: list[str]) -> Iterator[EvaluationSet]:
    """Yield the fixed part of each set; `facts` is LoCoMo told turn by turn as facts."""
    for name in names:
        source = "locomo" if name == "facts" else name
        for evaluation in LOADERS[source](data / source):
            if evaluation.name.endswith("_verbatim"):
                continue
            wanted = FACTS if name == "facts" else CORPORA.get(name)
            corpora = [
                _cut_corpus(corpus, FILES.get(name, 10**9))
                for corpus in evaluation.corpora
                if corpus.questions and (wanted is None or corpus.name in wanted)
            ]
            yield EvaluationSet(name, corpora)


def _cut_corpus(corpus: EvaluationCorpus, size: int) -> EvaluationCorpus:
    """Return a corpus with about so many documents, whole files, the half of them answers where there are as many."""
    if len(corpus.documents) <= size:
        return corpus
    files: dict[str, list[EvaluationDocument]] = {}
    for document in corpus.documents:
        files.setdefault(document.path, []).append(document)
    answers = {id for question in corpus.questions for id in question.relevant}
    order = sorted(files)
    random.Random(SEED).shuffle(order)
    holding = [path for path in order if any(document.id in answers for document in files[path])]
    kept: dict[str, None] = {}
    for paths, limit in ((holding, size // 2), ([path for path in order if path not in kept], size)):
        for path in paths:
            if sum(len(files[chosen]) for chosen in kept) >= limit:
                break
            kept[path] = None
    documents = [document for path in kept for document in files[path]]
    known = {document.id for document in documents}
    questions = [question for question in corpus.questions if question.relevant <= known]
    return replace(corpus, documents=documents, questions=questions)


def store_once(corpus: EvaluationCorpus, folder: Path, *, as_facts: bool) -> dict[str, str]:
    """Store a corpus with the bundled model unless it is there, and return the document's id by memory id."""
    root = folder / "project"
    root.mkdir(parents=True, exist_ok=True)
    with Memory.open(bench_settings(folder, project=corpus.name), root) as memory:
        named = tell_as_facts(memory, corpus) if as_facts else store_corpus(memory, corpus, root)
        memory.embed_pending()
    return {}


def tell_as_facts(memory: Memory, corpus: EvaluationCorpus) -> Named:
    """Tell every turn as a fact, one by one."""
    names = {memory.remember_fact(document.text).id: document.id for document in corpus.documents}
    return lambda hit: names.get(hit.id, "")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench bake_off", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--sets", default="locomo,facts,mddocs,cosqa,pycode,beam,scifact")
    options = parser.parse_args()
    for evaluation in sample_sets(options.data, options.sets.split(",")):
        print(evaluation.name, [(c.name, len(c.documents), len(c.questions)) for c in evaluation.corpora], flush=True)
        for corpus in evaluation.corpora:
            store_once(corpus, options.folder / evaluation.name / corpus.name, as_facts=evaluation.name == "facts")
            print("stored", evaluation.name, corpus.name, flush=True)


if __name__ == "__main__":
    main()
