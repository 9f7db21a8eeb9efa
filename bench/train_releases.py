"""Train what tells that a condition has come until which a statement holds, and how well that does on unseen writers.

    python -m bench train_releases [--write]

`bench/data/releases.jsonl`: statements that hold until something happens, what tells later that it has, and what only
speaks of the same thing. Sentences of the labelled sessions, which speak of other things, stand beside them. `--write`
puts the weights into `server/hyperloci/conversations/consolidation/replacement/data/release_scorer.json`. The same data
gives the same file.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from bench._labelled_sessions import FOLDER, read_projects
from bench._shared import MarkdownTable
from hyperloci.conversations.consolidation.replacement import releases
from hyperloci.conversations.consolidation.replacement.releases import (
    BEGINS,
    read_condition,
    read_release_features,
    split_passages,
)
from hyperloci.conversations.consolidation.turn_view import USER

CASES_FILE = FOLDER.parent / "releases.jsonl"
WEIGHTS_FILE = Path(releases.__file__).parent / "data" / "release_scorer.json"

OTHERS = 40
"""Passages on other things beside each statement: of a project's turns hardly one in forty releases anything."""

OPEN_PASSAGES = 2
"""Passages that are read of what only speaks of the same thing."""

MIN_PAIRS = 4
"""Pairs that must have a feature."""

STRENGTH = 1.0
"""Inverse strength of regularisation; with .3 a tenth less is told from .7 on, at as many false ones."""

MIN_WEIGHT = 0.1
"""Smaller weights change nothing: area and shares are the same to a hundredth."""

SEED = 2
GATES = (0.5, 0.6, 0.7, 0.8)


@dataclass(frozen=True, slots=True)
class ReleasePair:
    """A statement and a passage: their features, whether it releases it, whether it speaks of it at all, its writer."""

    features: dict[str, float]
    releases: bool
    is_near: bool
    has_condition: bool
    writer: str


def read_pairs() -> Iterator[ReleasePair]:
    """Yield statements with what releases them, what does not, and passages on other things."""
    chance = random.Random(SEED)
    others = sorted(
        {
            passage
            for project in read_projects()
            for session in project.sessions
            for turn in session
            if turn.view.speaker == USER
            for passage in split_passages(turn.view.text)
        }
    )
    for line in CASES_FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        statement = row["statement"]
        told = [(split_passages(text)[0], True, True) for text in row["released"]]
        told += [(passage, False, True) for text in row["open"] for passage in split_passages(text)[:OPEN_PASSAGES]]
        told += [(passage, False, False) for passage in chance.sample(others, OTHERS)]
        for passage, is_released, is_near in told:
            features = read_release_features(statement, passage)
            yield ReleasePair(features, is_released, is_near, read_condition(statement) is not None, row["writer"])


def train(pairs: Sequence[ReleasePair]) -> dict[str, float]:
    """Return the weights as `replacement.releases` reads them."""
    seen = Counter(name for pair in pairs for name in pair.features)
    vectors = DictVectorizer()
    matrix = vectors.fit_transform(
        [{name: value for name, value in pair.features.items() if seen[name] >= MIN_PAIRS} for pair in pairs]
    )
    matrix.sort_indices()  # In a set's order its sums would differ in their last digits, and weights in the second.
    model = LogisticRegression(C=STRENGTH, max_iter=5_000).fit(matrix, [pair.releases for pair in pairs])
    return {"": round(float(model.intercept_[0]), 3)} | {
        str(name): round(float(weight), 2)
        for name, weight in sorted(zip(vectors.get_feature_names_out(), model.coef_[0], strict=True))
        if abs(weight) >= MIN_WEIGHT
    }


def weigh(pairs: Sequence[ReleasePair], weights: dict[str, float]) -> Any:
    """Return the probability of each pair."""
    odds = [
        weights[""] + sum(weights.get(name, 0.0) * value for name, value in pair.features.items()) for pair in pairs
    ]
    return 1.0 / (1.0 + np.exp(-np.array(odds)))


def report(pairs: Sequence[ReleasePair]) -> None:
    """Print how well each writer's releases are told by what the others taught, of statements with a condition."""
    found = np.zeros(len(pairs))
    for writer in sorted({pair.writer for pair in pairs}):
        at = [number for number, pair in enumerate(pairs) if pair.writer == writer]
        weights = train([pair for pair in pairs if pair.writer != writer])
        found[at] = weigh([pairs[number] for number in at], weights)
    asked = np.array([pair.has_condition and BEGINS in pair.features for pair in pairs])
    truth, near = (np.array([getattr(pair, name) for pair in pairs]) for name in ("releases", "is_near"))
    of_condition = np.array([pair.has_condition for pair in pairs])
    print(f"{truth.sum()} releases; average precision {average_precision_score(truth, found):.3f}")
    table = MarkdownTable("from", "released, told", "the same thing, told", "other things, told")
    for gate in GATES:
        told = (found >= gate) & asked
        rows = (truth & of_condition, ~truth & near & of_condition, ~near & of_condition)
        table.add(str(gate), *(f"{told[row].sum()} of {row.sum()}" for row in rows))
    table.print()


def main() -> None:
    """Train, and report on each writer by what was learned from the others."""
    parser = argparse.ArgumentParser(
        prog="python -m bench train_releases", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    pairs = list(read_pairs())
    report(pairs)
    if options.write:
        weights = train(pairs)
        WEIGHTS_FILE.write_text(json.dumps(weights, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        print(f"{len(weights)} weights, {WEIGHTS_FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
