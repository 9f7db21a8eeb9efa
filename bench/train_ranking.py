"""Learn the weights of ranking: `python -m bench train_ranking CLONES [--keep DIR] [--write]`.

Stores what `bench._ranking_corpora` makes, asks its questions, measures every candidate as a search does
(`retrieval.reranking`), and fits the weights of each kind of content: the probability of the answers among the
candidates of a question, by a softmax over them, is made as large as possible, with an L2 penalty on weights of
standardised features. Weights are rounded to tenths. The table is of questions that the weights had not read (folds by
project or repository), with the 95 % interval of a paired bootstrap; the row of later talks is of the weights found.

Two runs on one machine come to the same bytes: the clock stands still, and no question is encoded before the embedder
has settled on one form of its model (in its first seconds it answers in another precision).

CLONES holds the clones of `bench questions`; `--keep` keeps the stored and embedded memories; `--write` writes
`server/hyperloci/retrieval/reranking/data/ranking_weights.json`. With `--kinds said` no clones are read, and the other
weights stay as they are.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from bench._ranking_corpora import LATER_TALKS, make_documents, make_talks
from bench._shared import PAUSE_SECONDS, TRIES, MarkdownTable, bench_settings
from bench.bake_off import bootstrap_difference, tell_as_facts
from bench.quality import METRICS, EvaluationCorpus, EvaluationQuestion, Named, evaluate_ranking, store_corpus
from hyperloci.embedder.client import EmbedderClient
from hyperloci.errors import EmbedderError, NotReadyError
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.filters import build_conditions
from hyperloci.retrieval.reranking.ranking_features import BESIDE, FEATURES, FORMS, measure_candidates
from hyperloci.retrieval.reranking.reranker import WEIGHTS
from hyperloci.retrieval.sources.content_kind import ContentKind
from hyperloci.retrieval.space_scorer import SpaceScorer
from hyperloci.retrieval.strategies import SearchStrategy, rank_candidates

T = TypeVar("T")

USED: Final[Mapping[ContentKind, tuple[str, ...]]] = {
    ContentKind.SAID: tuple(name for name in FEATURES if not name.startswith("title")),
    ContentKind.DOCUMENT: tuple(
        name for name in FEATURES if name not in ("nearby", *FORMS, *BESIDE, "e12", "e12_rank")
    ),
}
"""Features that can differ within a kind: turns have no title, E12 does not count for documents."""

PENALTY: Final = 10.0
"""5 to 30 are within a point of each other on questions that were not read."""

NOW: Final = 1_767_225_600_000
"""The time at which everything is stored and asked, 2026-01-01: how long a run takes is no feature."""

SETTLING_SECONDS: Final = 120

DIGITS: Final = 6
"""Of features: sums over sets differ in their last bits from process to process."""

STEPS: Final = 200
SMALLEST_STEP: Final = 1e-6


@dataclass(frozen=True)
class MeasuredQuestion:
    """A question's candidates: features times factor, which are answers, which count, and the rule's totals."""

    fold: str
    features: NDArray[np.float64]
    documents: tuple[str, ...]
    question: EvaluationQuestion
    totals: NDArray[np.float64]

    @property
    def counting(self) -> NDArray[np.bool_]:
        """Which candidates count: a section that holds the link is no wrong answer."""
        return np.array([document not in self.question.exclude for document in self.documents])

    @property
    def answers(self) -> NDArray[np.bool_]:
        """Which candidates are answers."""
        return np.array([document in self.question.relevant for document in self.documents])

    def evaluate(self, scores: NDArray[np.float64]) -> list[float]:
        """Return the metrics of the order by these scores."""
        order = np.lexsort((np.arange(len(scores)), -scores))
        return evaluate_ranking([id for row in order.tolist() if (id := self.documents[row])], self.question)


def measure_corpus(corpus: EvaluationCorpus, folder: Path, *, as_facts: bool = False) -> Iterator[MeasuredQuestion]:
    """Store a corpus in a folder, unless it is there, and yield its questions' candidates."""
    root = folder / "project"
    root.mkdir(parents=True, exist_ok=True)
    settings = bench_settings(folder, project=corpus.name, ranking="rule")
    with Memory.open(settings, root, clock=lambda: NOW) as memory:
        named = tell_as_facts(memory, corpus) if as_facts else store_corpus(memory, corpus, root)
        _try_again(memory.embed_pending)
        with memory.keep_embedder_running():
            _wait_until_settled(EmbedderClient(settings))
            for question in corpus.questions:
                yield _measure_question(memory, corpus, question, named)
    print(f"{corpus.name} measured", file=sys.stderr)


def _wait_until_settled(client: EmbedderClient) -> None:
    """Wait until questions are encoded as all later ones will be."""
    for _ in range(SETTLING_SECONDS):
        if (status := client.status()) is not None and status.settled:
            return
        time.sleep(1)
    raise EmbedderError(f"the embedder has not settled on a model in {SETTLING_SECONDS} seconds")


def _try_again(call: Callable[[], T]) -> T:
    """Return what a call comes to: on a busy machine the embedder may miss its deadline."""
    for _ in range(TRIES - 1):
        with contextlib.suppress(EmbedderError, NotReadyError):
            return call()
        time.sleep(PAUSE_SECONDS)
    return call()


def _measure_question(
    memory: Memory, corpus: EvaluationCorpus, question: EvaluationQuestion, named: Named
) -> MeasuredQuestion:
    client = EmbedderClient(memory.settings)
    seen = _try_again(lambda: client.embed_query_spaces(question.text))
    conditions = build_conditions(project=memory.project.id, now=NOW, content_type=corpus.content_type)
    with memory.store.snapshot():
        allowed = memory.store.filters.select_allowed(conditions.where)
        look = SpaceScorer(memory.store, question.text, seen, allowed, now=NOW)
        nodes, scores = rank_candidates(
            look, SearchStrategy.MULTI_SPACE, profile="auto", limit=50, first_space="e1", settings=memory.settings
        )
        whole = memory.store.nodes.get_by_keys(nodes)
    hits = memory.get_many([whole[key].id for key in nodes])
    spaces: dict[str, dict[NodeKey, float]] = {}
    for key in nodes:
        for space, value in scores[key].spaces.items():
            spaces.setdefault(space, {})[key] = value
    factors = np.array([scores[key].factor for key in nodes])
    documents = tuple(named(hit) for hit in hits)
    return MeasuredQuestion(
        fold=_fold_of(corpus, question),
        features=(measure_candidates(question.text, spaces, nodes, scores) * factors[:, None]).round(DIGITS),
        documents=documents,
        question=question,
        totals=np.array([scores[key].total for key in nodes]).round(DIGITS),
    )


def _fold_of(corpus: EvaluationCorpus, question: EvaluationQuestion) -> str:
    answer = min(question.relevant)
    return answer.split(":")[0] if corpus.name.startswith(("talks", "later")) else corpus.name.removesuffix("-cut")


def fit_weights(questions: Sequence[MeasuredQuestion], used: Sequence[str]) -> NDArray[np.float64]:
    """Return the weight of each of FEATURES, 0 for those not used, by Newton's method with steps that help."""
    places = [FEATURES.index(name) for name in used]
    read = [(one.features[one.counting][:, places], one.answers[one.counting]) for one in questions]
    read = [(rows, answers) for rows, answers in read if answers.any() and not answers.all()]
    spread = np.concatenate([rows for rows, _ in read]).std(axis=0)
    spread[spread < 1e-9] = np.inf
    read = [(rows / spread, answers) for rows, answers in read]
    weights = np.zeros(len(places))
    for _ in range(STEPS):
        slope, curvature = PENALTY * weights, PENALTY * np.eye(len(places))
        for rows, answers in read:
            likely = _softmax(rows @ weights)
            wanted = _softmax(np.where(answers, rows @ weights, -np.inf))
            mean = likely @ rows
            slope = slope + mean - wanted @ rows
            curvature = curvature + (rows * likely[:, None]).T @ rows - np.outer(mean, mean)
        step = np.linalg.solve(curvature, slope)
        before = _measure_loss(read, weights)
        while _measure_loss(read, weights - step) > before and np.abs(step).max() > SMALLEST_STEP:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() <= SMALLEST_STEP:
            break
    found = np.zeros(len(FEATURES))
    found[places] = weights / spread
    return found


def _measure_loss(read: Sequence[tuple[NDArray[np.float64], NDArray[np.bool_]]], weights: NDArray[np.float64]) -> float:
    """Return how unlikely the answers are, in logarithms, with the penalty."""
    loss = PENALTY * float(weights @ weights) / 2
    for rows, answers in read:
        scores = rows @ weights
        loss += float(np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[answers]))
    return loss


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum())


def evaluate_unread(
    questions: Sequence[MeasuredQuestion], used: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the metrics of the rule and of weights that did not read the question's fold."""
    found = []
    for fold in sorted({one.fold for one in questions}):
        weights = fit_weights([one for one in questions if one.fold != fold], used)
        found.append(evaluate_weights([one for one in questions if one.fold == fold], weights))
    return np.concatenate([rule for rule, _ in found]), np.concatenate([learned for _, learned in found])


def evaluate_weights(
    questions: Sequence[MeasuredQuestion], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the metrics of the rule and of these weights."""
    rule = [one.evaluate(one.totals) for one in questions]
    return np.array(rule), np.array([one.evaluate(one.features @ weights) for one in questions])


def list_corpora(kind: ContentKind, clones: Path) -> list[tuple[EvaluationCorpus, bool]]:
    """Return what is read for a kind, and whether it is told as facts."""
    if kind is ContentKind.DOCUMENT:
        return [(corpus, False) for corpus in make_documents(clones)]
    return _store_both_ways(make_talks())


def _store_both_ways(talks: Iterable[EvaluationCorpus]) -> list[tuple[EvaluationCorpus, bool]]:
    """Return talks as turns, then told as facts."""
    turns = list(talks)
    facts = [replace(corpus, name=f"{corpus.name}-facts", content_type="any") for corpus in turns]
    return [*((corpus, False) for corpus in turns), *((corpus, True) for corpus in facts)]


def _measure_all(corpora: Iterable[tuple[EvaluationCorpus, bool]], folder: Path) -> list[MeasuredQuestion]:
    return [
        one for corpus, as_facts in corpora for one in measure_corpus(corpus, folder / corpus.name, as_facts=as_facts)
    ]


def _add_row(table: MarkdownTable, name: str, rule: NDArray[np.float64], learned: NDArray[np.float64]) -> None:
    changes = [
        "{:+.1f} ({:+.1f} to {:+.1f})".format(*bootstrap_difference(rule[:, place], learned[:, place]))
        for place in range(0, len(METRICS), 2)
    ]
    table.add(name, len(rule), *(f"{value:.3f}" for value in rule.mean(axis=0)[::2]), *changes)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench train_ranking", description="Learn the weights of ranking.")
    parser.add_argument("clones", type=Path, help="folder with got, gin and ripgrep")
    parser.add_argument("--keep", type=Path, help="keep the memories here and use them again")
    parser.add_argument("--write", action="store_true", help="write the weights that the server reads")
    parser.add_argument("--kinds", default="said,document", help="learn of these alone")
    options = parser.parse_args()
    table = MarkdownTable(
        "kind", "n", *(f"{name}, rule" for name in METRICS[::2]), *(f"{name}, learned" for name in METRICS[::2])
    )
    weights: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as temporary:
        folder = options.keep or Path(temporary)
        for kind in (ContentKind(name) for name in options.kinds.split(",")):
            questions = _measure_all(list_corpora(kind, options.clones), folder)
            _add_row(table, kind, *evaluate_unread(questions, USED[kind]))
            found = fit_weights(questions, USED[kind]).round(1)
            weights[str(kind)] = {name: float(found[FEATURES.index(name)]) for name in USED[kind]}
            if kind is ContentKind.SAID:
                later = _measure_all(_store_both_ways(make_talks(LATER_TALKS, "later")), folder)
                _add_row(table, "said, later talks", *evaluate_weights(later, found))
    table.print()
    text = json.dumps(weights, indent=2) + "\n"
    if options.write:
        WEIGHTS.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
