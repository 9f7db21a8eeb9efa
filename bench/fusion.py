"""Ways of joining the spaces: `python -m bench fusion DATA_DIR [--sets locomo,beam] [--save]`.

Stores every set once through the public `Memory` API, scores each question's candidates in every space once, and ranks
them by each space alone, by equal-weight reciprocal ranks of E1 and E6, by the weighted reciprocal ranks of the
documents' profiles, and by calibrated scores as a search does, with and without what each part of these adds. The
candidates are the same for all, so a row tells what joining is worth and not what finding is. Recall@10, and nDCG@10
for SciFact.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bench._shared import MarkdownTable, bench_settings, save_result
from bench.quality import LOADERS, METRICS, EvaluationCorpus, EvaluationQuestion, evaluate_ranking, store_corpus
from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval import scoring
from hyperloci.retrieval.filters import build_conditions
from hyperloci.retrieval.rank_fusion import fuse_spaces, reciprocal_rank_fusion
from hyperloci.retrieval.scoring import combine_scores
from hyperloci.retrieval.space_scorer import Ranked, SpaceScorer
from hyperloci.retrieval.speakers import find_target_speaker
from hyperloci.retrieval.strategies import search_all_spaces

ALONE = ("e1", "e6", "e7", "e9", "e10", "e12", "e13")
"""Spaces that order memories by themselves; the others speak to few questions."""


@dataclass(frozen=True)
class ScoredQuestion:
    """One question with the scores of its candidates by space, and the document of each."""

    set: str
    question: EvaluationQuestion
    spaces: Mapping[str, Ranked]
    nodes: Mapping[NodeKey, SearchCandidate]
    documents: Mapping[NodeKey, str]
    settings: Settings

    def metrics_of(self, totals: Mapping[NodeKey, float]) -> list[float]:
        """Return the metrics of the candidates in the order of their totals."""
        order = sorted(totals, key=lambda key: (-totals[key], key))
        return evaluate_ranking([id for key in order if (id := self.documents[key])], self.question)


Way = Callable[[ScoredQuestion], Mapping[NodeKey, float]]


def rank_alone(space: str) -> Way:
    """Return the order of one space."""
    return lambda asked: asked.spaces.get(space, {})


def rank_equally(asked: ScoredQuestion) -> Mapping[NodeKey, float]:
    """Return equal-weight reciprocal ranks of meaning and words."""
    lists = {space: sorted(found, key=lambda key: -found[key]) for space, found in _two_ranks(asked).items()}
    return reciprocal_rank_fusion(lists)


def rank_by_profile(asked: ScoredQuestion) -> Mapping[NodeKey, float]:
    """Return the reciprocal ranks of all spaces by the documents' weights."""
    return fuse_spaces(asked.spaces, "auto", asked.settings)


def calibrated_scores(asked: ScoredQuestion) -> Mapping[NodeKey, float]:
    """Return the scores of a search."""
    scores = combine_scores(
        asked.spaces, asked.nodes, profile="auto", target_speaker=find_target_speaker(asked.question.text)
    )
    return {key: found.total for key, found in scores.items()}


def changed_scores(**constants: Any) -> Way:
    """Return the scores of a search with other constants of `scoring`."""

    def way(asked: ScoredQuestion) -> Mapping[NodeKey, float]:
        with mock.patch.multiple(scoring, **constants):
            return calibrated_scores(asked)

    return way


def _two_ranks(asked: ScoredQuestion) -> dict[str, Ranked]:
    return {space: asked.spaces.get(space, {}) for space in ("e1", "e6")}


WAYS: dict[str, Way] = {
    **{f"{space} alone": rank_alone(space) for space in ALONE},
    "equal reciprocal ranks, e1 + e6": rank_equally,
    "profile's reciprocal ranks, all": rank_by_profile,
    "calibrated": calibrated_scores,
    "calibrated, no speaker": changed_scores(SPEAKER_FACTOR=1.0),
    "calibrated, no turn beside": changed_scores(ADJACENT_TURN_WEIGHT=0.0),
    "calibrated, no e12": changed_scores(CODE_VIEW_WEIGHTS={}, SAID_VIEW_WEIGHTS={}),
    "calibrated, no e7": changed_scores(CODE_LIFT=0.0),
    "calibrated, no bonuses": changed_scores(BONUS={}),
}


def ask_corpus(name: str, corpus: EvaluationCorpus, folder: Path) -> Iterator[ScoredQuestion]:
    """Store one corpus and yield its questions with the scores of their candidates."""
    root = folder / "project"
    root.mkdir()
    with Memory.open(bench_settings(folder, project=corpus.name), root) as memory:
        named = store_corpus(memory, corpus, root)
        memory.embed_pending()
        with memory.keep_embedder_running():
            for question in corpus.questions:
                yield _score_candidates(memory, name, corpus, question, named)


def _score_candidates(
    memory: Memory, name: str, corpus: EvaluationCorpus, question: EvaluationQuestion, named: Callable[[Any], str]
) -> ScoredQuestion:
    seen = EmbedderClient(memory.settings).embed_query_spaces(question.text)
    now = system_clock()
    conditions = build_conditions(project=memory.project.id, now=now, content_type=corpus.content_type)
    with memory.store.snapshot():
        allowed = memory.store.filters.select_allowed(conditions.where)
        look = SpaceScorer(memory.store, question.text, seen, allowed, now=now)
        spaces = search_all_spaces(look)
        nodes = memory.store.nodes.get_candidates({key for found in spaces.values() for key in found})
        spaces |= look.score_spaces(look.applicable_spaces(), nodes)
    whole = memory.store.nodes.get_by_keys(nodes)
    hits = memory.get_many([node.id for node in whole.values()])
    documents = {key: named(hit) for key, hit in zip(whole, hits, strict=True)}
    return ScoredQuestion(name, question, spaces, nodes, documents, memory.settings)


def measure_ways(data: Path, sets: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Return the mean metrics by way and set."""
    found: dict[str, dict[str, list[list[float]]]] = {way: {} for way in WAYS}
    for evaluation in (one for name in sets if (data / name).is_dir() for one in LOADERS[name](data / name)):
        for corpus in evaluation.corpora:
            with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
                for asked in ask_corpus(evaluation.name, corpus, Path(folder)) if corpus.questions else ():
                    for way, order in WAYS.items():
                        found[way].setdefault(asked.set, []).append(asked.metrics_of(order(asked)))
        print(f"{evaluation.name} done", file=sys.stderr)
    return {
        way: {name: np.mean(rows, axis=0).round(4).tolist() for name, rows in by_set.items()}
        for way, by_set in found.items()
    }


def main() -> None:
    """Parse the arguments and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench fusion", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with locomo, beam, mddocs, pycode, cosqa, scifact")
    parser.add_argument("--sets", default=",".join(LOADERS), help="which sets, by commas")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    answer = measure_ways(options.data, options.sets.split(","))
    names = list(next(iter(answer.values())))
    table = MarkdownTable("way", *names)
    for way, by_set in answer.items():
        column = {name: METRICS.index("nDCG@10" if name == "scifact" else "R@10") for name in names}
        table.add(way, *(f"{by_set[name][column[name]]:.3f}" for name in names))
    table.print()
    if options.save:
        save_result("fusion", answer)


if __name__ == "__main__":
    main()
