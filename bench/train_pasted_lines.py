"""Train what tells pasted lines from typed ones, and say how well it does on projects that it did not see.

    python -m bench train_pasted_lines [--write]

Lines that tools print, of the labelled sessions, are what people paste; what users and assistants say there is typed,
whole turns and single sentences, also as the items of a list and without their full stops.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from bench._labelled_sessions import LabelledProject, read_projects
from hyperloci.conversations.consolidation import pasted_lines
from hyperloci.conversations.consolidation.pasted_lines import MIN_WORDS, PASTED, read_line_features
from hyperloci.conversations.consolidation.turn_view import ACTION

WEIGHTS_FILE = Path(pasted_lines.__file__).parent / "data" / "pasted_lines.json"

TOOL_PARTS = 3
"""A tool's line: its name, what it did, what it printed."""

FOLDS = 5


def read_lines(projects: Sequence[LabelledProject]) -> Iterator[tuple[str, bool, str]]:
    """Yield lines, whether a tool printed them, and their project."""
    for project in projects:
        for turn in (turn for session in project.sessions for turn in session):
            text = turn.view.text
            if turn.view.speaker == ACTION:
                parts = text.split(" | ", TOOL_PARTS - 1)
                yield from ((line, True, project.name) for line in parts[-1].split("\n") if _is_long(line))
            elif "\n" not in text and "`" not in text:
                yield text, False, project.name
                for sentence in turn.view.sentences:
                    bare = sentence.text.rstrip(".!,")
                    yield from ((line, False, project.name) for line in (sentence.text, bare, f"- {bare}"))


def _is_long(line: str) -> bool:
    return len(line.split()) >= MIN_WORDS


def fit(lines: Sequence[tuple[str, bool, str]]) -> tuple[DictVectorizer, LogisticRegression]:
    """Return a model of some lines, to which a line beneath another is as likely printed as typed."""
    vectors = DictVectorizer()
    matrix = vectors.fit_transform([read_line_features(line) for line, _, _ in lines])
    model = LogisticRegression(C=1.0, max_iter=5_000, fit_intercept=False, class_weight="balanced")
    return vectors, model.fit(matrix, [printed for _, printed, _ in lines])


def main() -> None:
    """Train, and report by cross-validation over projects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    lines = list(read_lines(list(read_projects())))
    names = sorted({project for _, _, project in lines})
    wrong = {True: 0, False: 0}
    for fold in range(FOLDS):
        held_out = set(names[fold::FOLDS])
        vectors, model = fit([line for line in lines if line[2] not in held_out])
        unseen = [line for line in lines if line[2] in held_out]
        found = model.predict_proba(vectors.transform([read_line_features(line) for line, _, _ in unseen]))[:, 1]
        for (_, printed, _), probability in zip(unseen, found, strict=True):
            wrong[printed] += (probability >= PASTED) != printed
    for printed, what in ((True, "printed"), (False, "typed")):
        total = sum(line[1] == printed for line in lines)
        print(f"{what}: {total} lines, {wrong[printed] / total:.1%} on the wrong side")
    if options.write:
        vectors, model = fit(lines)
        weights = dict(zip(vectors.get_feature_names_out(), np.round(model.coef_[0], 2).tolist(), strict=True))
        WEIGHTS_FILE.write_text(json.dumps(weights, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
