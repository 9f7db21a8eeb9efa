"""Train the replacement scorer on labelled sessions, changes and pairs, and say how well it does on unseen projects.

    python -m bench train_replacements [--write] [--folds 5]

A pair is a later statement and an earlier one of the same project; it counts if the later replaces the earlier one or
takes it back. `--write` puts the weights into
`server/hyperloci/conversations/consolidation/data/replacement_scorer.json`. The same data gives the same file.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve

from bench._labelled_sessions import FOLDER, LabelledProject, read_projects
from bench._shared import MarkdownTable
from hyperloci.conversations.consolidation import replacement_scorer
from hyperloci.conversations.consolidation.replacement_scorer import (
    ComparedStatement,
    ReplacementScorer,
    WordRarity,
    compare_statements,
)
from hyperloci.conversations.consolidation.turn_view import USER, find_reply_after

WEIGHTS_FILE = Path(replacement_scorer.__file__).parent / "data" / "replacement_scorer.json"
CHANGES_FILE = FOLDER.parent / "changed_minds.jsonl"
PAIRS_FILE = FOLDER.parent / "statement_pairs.jsonl"

ENDING = ("replaces", "withdraws")
MIN_WEIGHT = 0.02
"""Smaller weights change nothing, and make the file long."""

APART = 0.2
"""How much a pair counts that was written apart from a session: such pairs show more wordings, and how often a mind
changes they do not show."""

SEED = 17


@dataclass(frozen=True, slots=True)
class Pair:
    """A later and an earlier statement.

    Attributes:
        features: of the two.
        ends: whether the later replaces the earlier one, or takes it back.
        project: where both are from.
        weight: how much it counts in training.
    """

    features: dict[str, float]
    ends: bool
    project: str
    weight: float = 1.0


def read_session_pairs(projects: Iterable[LabelledProject]) -> Iterator[Pair]:
    """Yield every pair of labelled statements of each project."""
    for project in projects:
        living: list[tuple[str, ComparedStatement]] = []
        for session in project.sessions:
            views = [turn.view for turn in session]
            for at, turn in enumerate(session):
                for kept in turn.kept:
                    reply = find_reply_after(views, at) if turn.view.speaker == USER else None
                    new = ComparedStatement(
                        kept.quote,
                        about=kept.about or "",
                        reply=reply.text if reply else "",
                    )
                    ended = {kept.old[0]} if kept.old is not None and kept.old[1] in ENDING else set()
                    yield from _make_pairs(new, living, ended, project.name)
                    living = [(name, old) for name, old in living if name not in ended]
                    living.append((kept.name, new))


def read_change_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file of changes: what holds, and what is said then."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        living = [(str(at), ComparedStatement(text)) for at, text in enumerate(row["living"])]
        for change in row["new"]:
            new = ComparedStatement(change["text"], about=change.get("about") or "", reply=change.get("reply") or "")
            ended = {str(at) for at in change["replaces"]} if change["how"] in ENDING else set()
            yield from _make_pairs(new, living, ended, f"changes/{number}", APART)


def read_statement_pairs(path: Path, others: Sequence[str]) -> Iterator[Pair]:
    """Yield pairs of statements in plain words, each among statements of other projects; questions are left out."""
    chance = random.Random(SEED)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        is_contradiction = row["label"] == "contradiction"
        if row["kind"] == "question" or (is_contradiction and row["kind"] == "implicit"):
            continue
        living = [(str(at), ComparedStatement(text)) for at, text in enumerate(chance.sample(others, 9))]
        living.insert(5, ("old", ComparedStatement(row["old"])))
        new = ComparedStatement(row["new"])
        found = list(_make_pairs(new, living, {"old"} if is_contradiction else set(), f"pairs/{number % 60}", APART))
        yield found[5]
        yield from chance.sample([pair for pair in found if pair is not found[5]], 3)


def _make_pairs(
    new: ComparedStatement,
    living: Sequence[tuple[str, ComparedStatement]],
    ended: set[str],
    project: str,
    weight: float = 1.0,
) -> Iterator[Pair]:
    olds = [old for _, old in living]
    rows = compare_statements(new, olds, WordRarity.of([*olds, new]))
    for (name, _), row in zip(living, rows, strict=True):
        yield Pair(row, name in ended, project, weight)


def train(pairs: Sequence[Pair], *, min_pairs: int, strength: float) -> dict[str, float]:
    """Return the weights that `replacement_scorer` reads."""
    seen = Counter(name for pair in pairs if pair.ends for name in pair.features)
    vectors = DictVectorizer()
    matrix = vectors.fit_transform(
        [{name: value for name, value in pair.features.items() if seen[name] >= min_pairs} for pair in pairs]
    )
    model = LogisticRegression(C=strength, max_iter=5_000).fit(
        matrix, [pair.ends for pair in pairs], [pair.weight for pair in pairs]
    )
    weights = {"": round(float(model.intercept_[0]), 3)}
    for name, weight in sorted(zip(vectors.get_feature_names_out(), model.coef_[0], strict=True)):
        if abs(weight) >= MIN_WEIGHT:
            weights[str(name)] = round(float(weight), 2)
    return weights


def cross_validate(pairs: Sequence[Pair], folds: int, **how: Any) -> list[float]:
    """Return each pair's probability by a model that did not see its project."""
    names = sorted({pair.project for pair in pairs})
    found = [0.0] * len(pairs)
    for fold in range(folds):
        held_out = set(names[fold::folds])
        scorer = ReplacementScorer(train([pair for pair in pairs if pair.project not in held_out], **how))
        for number, pair in enumerate(pairs):
            if pair.project in held_out:
                found[number] = scorer.estimate(pair.features)
    return found


def main() -> None:
    """Train, and report by cross-validation over projects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5, help="parts of cross-validation; 0 for none")
    parser.add_argument("--pairs", type=int, default=5, help="changed minds that must have a feature")
    parser.add_argument("--strength", type=float, default=0.3, help="inverse strength of regularisation")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    projects = list(read_projects())
    others = [kept.quote for project in projects for turns in project.sessions for turn in turns for kept in turn.kept]
    pairs = [*read_session_pairs(projects), *read_change_pairs(CHANGES_FILE)]
    pairs += read_statement_pairs(PAIRS_FILE, others)
    how = {"min_pairs": options.pairs, "strength": options.strength}
    if options.folds:
        found = cross_validate(pairs, options.folds, **how)
        precision, recall, _ = precision_recall_curve([pair.ends for pair in pairs], found)
        table = MarkdownTable("changed minds", "average precision", *(f"recall at {least:.0%}" for least in LEVELS))
        reached = (f"{np.max(recall[precision >= least], initial=0.0):.2f}" for least in LEVELS)
        truth = [pair.ends for pair in pairs]
        table.add(f"{sum(truth)} of {len(truth)} pairs", f"{average_precision_score(truth, found):.3f}", *reached)
        table.print()
    if options.write:
        text = json.dumps(train(pairs, **how), ensure_ascii=False, indent=0, separators=(",", ":"))
        WEIGHTS_FILE.write_text(text + "\n", encoding="utf-8")
        print(f"{len(pairs)} pairs; {WEIGHTS_FILE.stat().st_size:,} bytes")


LEVELS = (0.9, 0.7, 0.5, 0.3)
"""Precisions at which the recall is told."""


if __name__ == "__main__":
    main()
