"""Train what tells a change of a part from one of the whole, and say how well it does on unseen projects.

    python -m bench train_parts [--write]

A pair is a later statement and the earlier one that its label says it replaces, takes back (the whole) or refines (a
part), as extraction makes both of the labelled sessions. `--write` puts the weights into
`server/hyperloci/conversations/consolidation/replacement/data/part_scorer.json`. The same data gives the same file.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from bench._labelled_sessions import FOLDER, LabelledProject, read_projects
from bench._shared import MarkdownTable
from bench.train_replacements import read_sessions
from hyperloci.conversations.consolidation.replacement import parts
from hyperloci.conversations.consolidation.replacement.features import read_statement
from hyperloci.conversations.consolidation.replacement.parts import read_part_features

WEIGHTS_FILE = Path(parts.__file__).parent / "data" / "part_scorer.json"

MIN_PAIRS = 8
"""Pairs that must have a feature."""

STRENGTH = 0.3
"""Inverse strength of regularisation."""

MIN_WEIGHT = 0.02
"""Smaller weights change nothing."""

FOLDS = 8
GATES = (0.5, 0.6, 0.7)


@dataclass(frozen=True, slots=True)
class ChangedPair:
    """An earlier statement and what changes it: their features, whether only a part changes, and their project."""

    features: dict[str, float]
    is_part: bool
    project: str


def read_pairs(projects: Iterable[LabelledProject]) -> Iterator[ChangedPair]:
    """Yield the labelled changes of some projects."""
    for situation in read_sessions(projects):
        new = read_statement(situation.new.quote, situation.new.about)
        for old in situation.living:
            if old.name in situation.ended | situation.refined:
                features = read_part_features(new, read_statement(old.quote, old.about), situation.around)
                yield ChangedPair(features, old.name in situation.refined, situation.new.project)


def main() -> None:
    """Train, and report by cross-validation over projects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="labelled sessions")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    pairs = list(read_pairs(read_projects(options.folder)))
    seen = Counter(name for pair in pairs for name in pair.features)
    vectors = DictVectorizer()
    matrix = vectors.fit_transform(
        [{name: value for name, value in pair.features.items() if seen[name] >= MIN_PAIRS} for pair in pairs]
    )
    truth = np.array([pair.is_part for pair in pairs])
    model = LogisticRegression(C=STRENGTH, max_iter=5_000)
    folds = GroupKFold(FOLDS).split(matrix, truth, [pair.project for pair in pairs])
    found = cross_val_predict(model, matrix, truth, cv=folds, method="predict_proba")[:, 1]
    print(f"{len(pairs)} changes, {truth.sum()} of a part; area under the curve {roc_auc_score(truth, found):.3f}")
    table = MarkdownTable("from", "told", "of them of a part", "of all of a part")
    for gate in GATES:
        told = found >= gate
        table.add(str(gate), str(told.sum()), f"{truth[told].mean():.2f}", f"{told[truth].mean():.2f}")
    table.print()
    model.fit(matrix, truth)
    weights = {"": round(float(model.intercept_[0]), 3)} | {
        str(name): round(float(weight), 2)
        for name, weight in sorted(zip(vectors.get_feature_names_out(), model.coef_[0], strict=True))
        if abs(weight) >= MIN_WEIGHT
    }
    if options.write:
        WEIGHTS_FILE.write_text(json.dumps(weights, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        print(f"{len(weights)} weights, {WEIGHTS_FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
