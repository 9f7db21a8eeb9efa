"""Train what the assistant's actions weigh beside what is said, for changed minds, and say how well it does.

    python -m bench train_actions [--write]

An edit that takes out what an older statement names, and puts in what the new one says, tells that the older one ends.
`bench/data/changed_minds_done.jsonl` has changes of mind with what was done then, by four writers, and
`changed_minds_played.jsonl` those of twelve whole projects by four others, as the product extracts them. What they say
is judged by the scorer as it is (`train_replacements`); here only the weights of what was done are learned, from its
log-odds on. In the table each writer's are judged by what was learned from the others. `--write` puts the weights into
`replacement_scorer.json`. The same data gives the same file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from sklearn.feature_extraction import DictVectorizer

from bench._labelled_sessions import FOLDER, read_projects
from bench._shared import MarkdownTable
from bench.train_replacements import (
    WEIGHTS_FILE,
    Pair,
    drop_meaning,
    embed_statements,
    estimate_kinds,
    make_all_pairs,
    read_changes,
    share_refined,
)
from hyperloci.conversations.consolidation.replacement.scorer import ReplacementModel

DONE_FILE = FOLDER.parent / "changed_minds_done.jsonl"
PLAYED_FILE = FOLDER.parent / "changed_minds_played.jsonl"

PLAYED = "sessions"
WRITTEN_WEIGHT = 0.03
"""How much a pair that was written apart counts beside one of a whole project: there a third of what changes nothing
was made hard on purpose (another setting with the same number), and minds change thrice as often. Of two writers'
projects left out 10 of 22 changes are found by meaning from .5 on, besides 2 others; with .1 7, besides 1."""

STRENGTH = 1.0
"""Inverse strength of regularisation."""

STEPS = 50
"""Of Newton's method, which needs some ten."""

LEAST = 1e-6
"""Probabilities nearer to 0 or 1 are as sure as this one."""

LEVELS = (0.3, 0.5, 0.6)
"""Probabilities from which on something is marked, ended by meaning, and ended by words (`replacements`)."""

ACTION = "done"
"""What the names of the features of actions begin with."""


def train_actions(pairs: Sequence[Pair], model: ReplacementModel) -> dict[str, float]:
    """Return what actions weigh beside what a model says of some pairs: a logistic regression from its log-odds on.

    By Newton's method: scikit-learn's takes no odds to begin with.
    """
    pairs = [part for pair in pairs for part in share_refined(pair)]
    vectors = DictVectorizer(sparse=False)
    rows = [{name: value for name, value in pair.features.items() if name.startswith(ACTION)} for pair in pairs]
    matrix = vectors.fit_transform(rows)
    truth, odds = np.array([float(pair.ends) for pair in pairs]), _read_odds(pairs, model)
    stakes = np.array([pair.weight for pair in pairs])
    weights = np.zeros(matrix.shape[1])
    for _ in range(STEPS):
        found = 1.0 / (1.0 + np.exp(-(odds + matrix @ weights)))
        slope = matrix.T @ (stakes * (found - truth)) + weights / STRENGTH
        curve = (matrix * (stakes * found * (1.0 - found))[:, None]).T @ matrix + np.eye(len(weights)) / STRENGTH
        weights -= np.linalg.solve(curve, slope)
    names = vectors.get_feature_names_out()
    return {str(name): round(float(value), 2) for name, value in zip(names, weights, strict=True)}


def _read_odds(pairs: Sequence[Pair], model: ReplacementModel) -> np.ndarray:
    said = np.clip(model.estimate([pair.features for pair in pairs]), LEAST, 1.0 - LEAST)
    return np.log(said / (1.0 - said))


def read_pairs(jobs: int) -> dict[str, list[Pair]]:
    """Return the pairs beside which something was done, by writer."""
    lines = [line for path in (DONE_FILE, PLAYED_FILE) for line in path.read_text("utf-8").splitlines()]
    writers = [json.loads(line)["writer"] for line in lines]
    situations = list(read_changes((DONE_FILE, PLAYED_FILE)))
    kinds = estimate_kinds(situations, list(read_projects()))
    found: dict[str, list[Pair]] = {}
    for pair in make_all_pairs(situations, kinds, embed_statements(situations, None), jobs):
        if ACTION in pair.features:
            writer = writers[int(pair.project.rpartition("/")[2])]
            weight = 1.0 if writer.startswith(PLAYED) else WRITTEN_WEIGHT
            found.setdefault(writer, []).append(replace(pair, weight=weight))
    return found


def main() -> None:
    """Report on each writer by what was learned from the others, and train on all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="processes; the same weights whatever their number")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    document = json.loads(WEIGHTS_FILE.read_text("utf-8"))
    by_meaning = read_pairs(options.jobs)
    table = MarkdownTable(
        "by", "writer", "changes", *(f"{how}, from {least}" for least in LEVELS for how in ("said", "done"))
    )
    for name, model in document.items():
        model["actions"] = {}
        scorer = ReplacementModel.of_document(model)
        pairs = (
            by_meaning
            if name == "meaning"
            else {who: list(map(drop_meaning, all_)) for who, all_ in by_meaning.items()}
        )
        for writer in pairs:
            others = [pair for other in pairs if other != writer for pair in pairs[other]]
            learned = replace(scorer, actions=train_actions(others, scorer))
            table.add(
                name, writer, str(sum(pair.ends for pair in pairs[writer])), *_count(pairs[writer], scorer, learned)
            )
        model["actions"] = train_actions([pair for writer in pairs for pair in pairs[writer]], scorer)
    table.print()
    if options.write:
        WEIGHTS_FILE.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
    print(json.dumps({name: model["actions"] for name, model in document.items()}, indent=1))


def _count(pairs: Sequence[Pair], *models: ReplacementModel) -> list[str]:
    """Return how many pairs each model finds from each probability on, and how many of them are changes."""
    found: list[Mapping[float, str]] = []
    for model in models:
        estimates = model.estimate([pair.features for pair in pairs])
        sure = {
            least: [pair for pair, value in zip(pairs, estimates, strict=True) if value >= least] for least in LEVELS
        }
        found.append({least: f"{sum(pair.ends for pair in some)} of {len(some)}" for least, some in sure.items()})
    return [counts[least] for least in LEVELS for counts in found]


if __name__ == "__main__":
    main()
