"""How well the judge of replacements, which learned from what is kept, tells what outdates what was said in passing.

    python -m bench passing [--folds 3] [--from .1] [--cache FILE.npz]

Labelled sessions are read as extraction reads them, with what it does not keep by itself; each pair of a later and an
earlier statement is judged by models that did not see its project, by words and meaning together. The table tells how
many changed minds reach a probability, and how many other pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench._labelled_sessions import read_projects
from bench._shared import MarkdownTable
from bench.train_replacements import (
    BEGINNING,
    CHANGES_FILES,
    CROWD,
    Said,
    Situation,
    add_beginnings,
    add_crowds,
    drop_meaning,
    embed_statements,
    estimate_kinds,
    make_all_pairs,
    read_changes,
    read_sessions,
    train,
)
from hyperloci.conversations.consolidation import heuristics
from hyperloci.conversations.consolidation.replacement.features import (
    ComparedStatement,
    WordRarity,
    compare_statements,
)
from hyperloci.conversations.consolidation.replacement.scorer import ReplacementModel
from hyperloci.conversations.consolidation.replacements import _weigh_both

LEVELS = (0.1, 0.2, 0.3, 0.5, 0.7)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A later and an earlier statement, whether the later ends the earlier one, and how likely models hold it."""

    new: Said
    old: Said
    ends: bool
    probability: float


def train_folds(sessions: Sequence[Situation], folds: int, cache: Path | None) -> Iterator[Mapping[str, Any]]:
    """Yield models by words and by meaning, each with the projects that it did not see."""
    projects = list(read_projects())
    situations = [*sessions, *add_crowds(sessions, CROWD), *add_beginnings(sessions, BEGINNING)]
    cosine = embed_statements(situations, cache)
    pairs = make_all_pairs(situations, estimate_kinds(situations, projects), cosine, 1)
    names = sorted(project.name for project in projects)
    for fold in range(folds):
        unseen = set(names[fold::folds])
        seen = [pair for pair in pairs if pair.project not in unseen]
        for_words = [drop_meaning(pair) for pair in seen]
        yield {
            "unseen": unseen,
            "words": ReplacementModel.of_document(train(for_words, min_pairs=5, strength=1.0)),
            "meaning": ReplacementModel.of_document(train(seen, min_pairs=5, strength=1.0)),
        }


def judge(situations: Sequence[Situation], models: Sequence[Mapping[str, Any]], cosine: Any) -> Iterator[JudgedPair]:
    """Yield the pairs of situations, judged by models that did not see their project."""
    for situation in situations:
        model = next(one for one in models if situation.new.project in one["unseen"])
        new, *olds = (ComparedStatement(said.quote, about=said.about) for said in (situation.new, *situation.living))
        rarity = WordRarity.of([*olds, new])
        cosines = [cosine(situation.new, old) for old in situation.living]
        by_words = model["words"].estimate(compare_statements(new, olds, rarity, None, situation.around))
        by_meaning = model["meaning"].estimate(compare_statements(new, olds, rarity, cosines, situation.around))
        for old, words, meaning in zip(situation.living, by_words, by_meaning, strict=True):
            if old.name not in situation.unclear:
                ends = old.name in situation.ended
                yield JudgedPair(situation.new, old, ends, _weigh_both(words, meaning))


def main() -> None:
    """Train without some projects at a time, and report on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=3, help="parts of cross-validation")
    parser.add_argument("--from", dest="least", type=float, default=heuristics.PASSING, help="gate of extraction")
    parser.add_argument("--cache", type=Path, help="a .npz file that keeps vectors for the next run")
    options = parser.parse_args()
    kept = [*read_sessions(read_projects()), *read_changes(CHANGES_FILES)]
    models = list(train_folds(kept, options.folds, options.cache))
    heuristics.PASSING = options.least  # type: ignore[misc]
    said = [one for one in read_sessions(read_projects(), tentative=True) if one.living]
    pairs = list(judge(said, models, embed_statements(said, None)))
    table = MarkdownTable("new", "old", "changed minds", *(f"from {level}: right, wrong" for level in LEVELS))
    for is_new in (False, True):
        for is_old in (False, True):
            of_kind = [pair for pair in pairs if (pair.new.is_passing, pair.old.is_passing) == (is_new, is_old)]
            cells = []
            for level in LEVELS:
                told = [pair.ends for pair in of_kind if pair.probability >= level]
                cells.append(f"{sum(told)}, {len(told) - sum(told)}")
            names = ("in passing" if passing else "kept" for passing in (is_new, is_old))
            table.add(*names, f"{sum(pair.ends for pair in of_kind)} of {len(of_kind)}", *cells)
    table.print()


if __name__ == "__main__":
    main()
