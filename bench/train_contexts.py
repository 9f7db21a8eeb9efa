"""Train what tells which words a statement needs beside it, and say how well it does on writers that it did not see.

    python -m bench train_contexts [--write] [--unchecked]

Every statement of the user's to keep in `bench/data/sessions`, with the sentences around it that may say what it is
about; right is the one that its label names, if any. `--write` puts the weights into `data/context_scorer.json` beside
the scorer's module. The same data gives the same file.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from bench._labelled_sessions import FOLDER, KeptStatement, LabelledProject, LabelledTurn, is_quoted, read_projects
from bench._shared import MarkdownTable
from bench.train_extraction import read_writer
from hyperloci.conversations.consolidation.context import scorer
from hyperloci.conversations.consolidation.context.scorer import Candidate, Statement, list_candidates, read_features
from hyperloci.conversations.consolidation.turn_view import USER
from hyperloci.knowledge.logistic import weigh_names

WEIGHTS_FILE = Path(scorer.__file__).parent / "data" / "context_scorer.json"

STRENGTH = 0.1
"""Inverse strength of regularisation: with .03 and .3 the tables below are the same within a point."""

MIN_SEEN = 12
"""Candidates that must have a feature."""

GATES = (0.25, 0.3, 0.35, 0.45)
"""From where on words are taken in the tables."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A statement: who wrote it, whether its label names words, and its candidates: features, and whether right."""

    writer: str
    has_context: bool
    features: list[frozenset[str]]
    right: list[bool]


def read_samples(projects: Iterable[LabelledProject]) -> Iterator[Sample]:
    """Yield the statements of the user's in the projects in which labels name such words at all."""
    for project in projects:
        if any(kept.about for session in project.sessions for turn in session for kept in turn.kept):
            for session in project.sessions:
                yield from _read_session(session, read_writer(project.name))


def _read_session(session: Sequence[LabelledTurn], writer: str) -> Iterator[Sample]:
    views = [turn.view for turn in session]
    for at, turn in enumerate(session):
        for kept in turn.kept if turn.view.speaker == USER else ():
            start = turn.view.text.index(kept.quote)
            statement = Statement(views, at, start, start + len(kept.quote))
            candidates = list_candidates(statement)
            right = [_is_right(candidate, kept) for candidate in candidates]
            yield Sample(writer, kept.about is not None, read_features(statement, candidates), right)


def _is_right(candidate: Candidate, kept: KeptStatement) -> bool:
    return kept.about is not None and is_quoted(candidate.sentence, candidate.turn, kept.about)


def train(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the weights that `context.scorer` reads."""
    rows = [features for sample in samples for features in sample.features]
    right = [each for sample in samples for each in sample.right]
    seen = Counter(name for features in rows for name in features)
    vectors = DictVectorizer()
    matrix = vectors.fit_transform([{name: 1.0 for name in features if seen[name] >= MIN_SEEN} for features in rows])
    matrix.sort_indices()  # Whatever order its set has.
    model = LogisticRegression(C=STRENGTH, max_iter=5_000).fit(matrix, right)
    names = [str(name) for name in vectors.get_feature_names_out()]
    weights = zip(names, model.coef_[0], strict=True)
    return {"": round(float(model.intercept_[0]), 2), **{name: round(float(weight), 2) for name, weight in weights}}


def judge(samples: Iterable[Sample], weights: Mapping[str, float], gate: float) -> Counter[str]:
    """Return how many statements get the right words, others, none though they need some, and some though none."""
    found: Counter[str] = Counter()
    for sample in samples:
        scores = [weigh_names(weights, features) for features in sample.features]
        best = max(range(len(scores)), key=scores.__getitem__, default=-1)
        gets = best >= 0 and scores[best] >= gate
        if sample.has_context:
            found["right" if gets and sample.right[best] else "others" if gets else "none"] += 1
        else:
            found["unneeded" if gets else "rightly none"] += 1
    return found


def main() -> None:
    """Train, and report on each writer by what was learned from the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="labelled sessions")
    parser.add_argument("--unchecked", action="store_true", help="leave out the report on writers left out")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    samples = list(read_samples(read_projects(options.folder)))
    if not options.unchecked:
        _report(samples)
    if options.write:
        text = json.dumps(train(samples), ensure_ascii=False, sort_keys=True, indent=0, separators=(",", ":"))
        WEIGHTS_FILE.write_text(text + "\n", encoding="utf-8")
        print(f"{len(samples)} statements; {WEIGHTS_FILE.stat().st_size:,} bytes")


def _report(samples: Sequence[Sample]) -> None:
    writers = sorted({sample.writer for sample in samples})
    models = {writer: train([sample for sample in samples if sample.writer != writer]) for writer in writers}
    table = MarkdownTable("from", "writer left out", "need words", "right", "others", "none", "need none", "get some")
    for gate in GATES:
        told = {
            writer: judge([sample for sample in samples if sample.writer == writer], models[writer], gate)
            for writer in writers
        }
        for writer, found in (*told.items(), ("all", sum(told.values(), Counter[str]()))):
            need = found["right"] + found["others"] + found["none"]
            some = found["unneeded"]
            counts = (need, found["right"], found["others"], found["none"], some + found["rightly none"], some)
            table.add(gate, writer, *counts)
    table.print()


if __name__ == "__main__":
    main()
