"""What learned weights are worth: `python -m bench ranking DATA_DIR [--sets locomo,facts] [--folder DIR]`.

Answers every question of a fixed part of each set (`bench bake_off` cuts it; `facts` is LoCoMo told turn by turn
through `remember_fact`) through `Memory.search`, by the rule alone and by learned weights (setting `ranking`), on one
stored memory, and prints each metric with its change in points and the 95 % interval of a paired bootstrap over
questions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from bench._shared import MarkdownTable, bench_settings
from bench.bake_off import DOCUMENTS, FACTS, bootstrap_difference, cut_corpus, tell_as_facts
from bench.leave_one_out import RememberingEncoder
from bench.quality import DEPTH, LOADERS, METRICS, EvaluationCorpus, EvaluationSet, evaluate_ranking, store_corpus
from hyperloci.memory import Memory
from hyperloci.retrieval.search import Searcher
from hyperloci.setting_values import CHOICES

SHOWN: Final = ("R@1", "R@10", "nDCG@10")


def list_sets(data: Path, name: str, documents: int) -> list[EvaluationSet]:
    """Return what is measured of a set: whole conversations and repositories, of larger ones so many documents."""
    source = "locomo" if name == "facts" else name
    found = []
    for evaluation in LOADERS[source](data / source):
        corpora = [corpus for corpus in evaluation.corpora if corpus.questions]
        if name == "facts":
            corpora = [replace(corpus, content_type="any") for corpus in corpora if corpus.name in FACTS]
        if name in DOCUMENTS:
            corpora = [cut_corpus(corpus, documents) for corpus in corpora]
        found.append(EvaluationSet("facts" if name == "facts" else evaluation.name, corpora))
    return found


def ask_both(corpus: EvaluationCorpus, folder: Path, *, as_facts: bool) -> dict[str, list[list[float]]]:
    """Store a corpus in a folder, unless it is there, and return the metrics of each question by ranking."""
    root = folder / "project"
    root.mkdir(parents=True, exist_ok=True)
    scores: dict[str, list[list[float]]] = {ranking: [] for ranking in CHOICES["ranking"]}
    with Memory.open(bench_settings(folder, project=corpus.name), root) as memory:
        named = tell_as_facts(memory, corpus) if as_facts else store_corpus(memory, corpus, root)
        memory.embed_pending()
        encoder = memory._client
        assert encoder is not None
        with memory.keep_embedder_running():
            seen = RememberingEncoder(encoder)
            for ranking in CHOICES["ranking"]:
                memory.__dict__["_searcher"] = Searcher(memory.store, seen, replace(memory.settings, ranking=ranking))
                for question in corpus.questions:
                    answer = memory.search(
                        question.text, content_type=corpus.content_type, limit=DEPTH, reinforce=False
                    )
                    if answer.mode != "hybrid":
                        raise RuntimeError(f"searched without vectors: {answer.degraded}")
                    hits = [id for hit in answer.results if (id := named(hit))]
                    scores[ranking].append(evaluate_ranking(hits, question))
    return scores


def main() -> None:
    """Parse the arguments, measure the sets that are there, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench ranking", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with locomo, beam, mddocs, pycode, cosqa, scifact")
    parser.add_argument("--sets", default="locomo,facts,beam,mddocs,pycode,cosqa,scifact")
    parser.add_argument("--documents", type=int, default=2_500, help="documents of a corpus that is searched as one")
    parser.add_argument("--folder", type=Path, help="keep the memories here and use them again")
    options = parser.parse_args()
    table = MarkdownTable("set", "n", *(part for name in SHOWN for part in (f"{name}, rule", "learned", "change")))
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as temporary:
        for name in options.sets.split(","):
            for evaluation in list_sets(options.data, name, options.documents):
                scores: dict[str, list[list[float]]] = {ranking: [] for ranking in CHOICES["ranking"]}
                for corpus in evaluation.corpora:
                    folder = (options.folder or Path(temporary)) / name / corpus.name.replace("/", "_")
                    for ranking, found in ask_both(corpus, folder, as_facts=name == "facts").items():
                        scores[ranking] += found
                rule, learned = np.array(scores["rule"]), np.array(scores["learned"])
                cells = []
                for place in (METRICS.index(metric) for metric in SHOWN):
                    change = bootstrap_difference(rule[:, place], learned[:, place])
                    cells += [f"{rule[:, place].mean():.3f}", f"{learned[:, place].mean():.3f}"]
                    cells.append("{:+.1f} ({:+.1f} to {:+.1f})".format(*change))
                table.add(evaluation.name, len(rule), *cells)
                print(f"{evaluation.name} done", file=sys.stderr)
    table.print()


if __name__ == "__main__":
    main()
