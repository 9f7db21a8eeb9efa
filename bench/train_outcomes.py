"""Train what tells an assistant's sentences on what a session did, found out and left, and say how well it does.

    python -m bench train_outcomes [--write]

`bench/data/session_ends.jsonl`: sessions in ten languages, each by one writer: `turns` of the user, of tools (`name`,
`input`, `failed`) and of the assistant, whose sentences stand under `done`, `found` and `left` where they tell so;
`best` are those that a colleague wants to read who takes over, and `request` is the number of the turn that tells what
the session was for. Judged over sessions left out. `--write` puts the weights into
`conversations/data/outcome_weights.txt`. The same data gives the same file.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold

from bench._labelled_sessions import FOLDER
from bench._shared import MarkdownTable
from hyperloci.conversations.capture.last_session import LEFT_FROM, MAX_DONE, MAX_LEFT, TOLD_FROM, choose_outcomes
from hyperloci.conversations.capture.tool_use import describe_tool_use
from hyperloci.conversations.session_outcomes import (
    GOES_ON,
    NONE,
    RECORDED,
    UNRECORDED,
    WEIGHTS,
    OutcomeKind,
    SessionTurn,
    ToldOutcome,
    read_answers,
    read_outcome_features,
    weigh_outcome,
)
from hyperloci.knowledge.weight_table import WeightTable
from hyperloci.model.turn import Speaker

ENDS_FILE = FOLDER.parent / "session_ends.jsonl"

STRENGTH = 0.3
"""Inverse strength of regularisation; with 1.0 average precision is a hundredth less."""

MIN_SENTENCES = 2
"""Sentences that must have a feature."""

MIN_WEIGHT = 0.02
"""Smaller weights change nothing."""

FOLDS = 8

LEAST_SHARED = 0.5
"""A sentence is one that a label quotes if it holds the label, or is half of it."""

_BLANKS = re.compile(r"[\s*_`#>-]+")


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence of an assistant's: its features, what it tells, whether it is among the best, and where it stands."""

    features: frozenset[str]
    text: str
    label: str
    is_best: bool
    session: int
    at: int
    place: int
    is_english: bool
    is_unrecorded: bool


def read_turns(row: dict[str, Any]) -> Iterator[tuple[SessionTurn, dict[str, Any]]]:
    """Yield the turns of a session as the memory keeps them, with their labels: what only reads is not kept."""
    for turn in row["turns"]:
        if turn["role"] != "tool":
            yield SessionTurn(Speaker(turn["role"]), turn["text"]), turn
            continue
        key = "command" if turn["name"] == "Bash" else "file_path"
        use = describe_tool_use(turn["name"], {key: turn["input"]}, error="Exit code 1" if turn.get("failed") else None)
        if use is not None:
            yield SessionTurn(None, use.line), turn


def read_sentences() -> Iterator[LabelledSentence]:
    """Yield every sentence that assistants say, and once more as if nobody had told what was done."""
    for number, line in enumerate(ENDS_FILE.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        turns = list(read_turns(row))
        yield from _read_session(number, turns, is_english=row.get("tongue", "en") == "en", is_unrecorded=False)
        told = [(turn, labels) for turn, labels in turns if turn.speaker is not None]
        if len(told) < len(turns):
            yield from _read_session(number, told, is_english=row.get("tongue", "en") == "en", is_unrecorded=True)


def _read_session(
    number: int, turns: Sequence[tuple[SessionTurn, dict[str, Any]]], *, is_english: bool, is_unrecorded: bool
) -> Iterator[LabelledSentence]:
    for answer in read_answers([turn for turn, _ in turns]):
        labels = turns[answer.at][1]
        quotes = [(kind, quote) for kind in OutcomeKind for quote in labels.get(kind, ())]
        for place, text in enumerate(answer.sentences):
            told = next((kind.value for kind, quote in quotes if _is_quoted(text, quote)), NONE)
            is_best = any(_is_quoted(text, quote) for quote in labels.get("best", ()))
            features = frozenset(read_outcome_features(answer, place))
            yield LabelledSentence(features, text, told, is_best, number, answer.at, place, is_english, is_unrecorded)


def _is_quoted(text: str, quote: str) -> bool:
    one, other = (_BLANKS.sub(" ", part).strip().lower() for part in (text, quote))
    return bool(other) and (other in one or (one in other and len(one) > LEAST_SHARED * len(other)))


def train(sentences: Sequence[LabelledSentence]) -> WeightTable:
    """Return the weights: a column for each kind and for none, of sessions with known actions and of others."""
    columns = dict[str, dict[str, float]]()
    for begin, is_unrecorded in ((RECORDED, False), (UNRECORDED, True)):
        some = [one for one in sentences if one.is_unrecorded == is_unrecorded]
        seen = Counter(name for one in some for name in one.features)
        vectors = DictVectorizer()
        matrix = vectors.fit_transform(
            [{name: 1.0 for name in one.features if seen[name] >= MIN_SENTENCES} for one in some]
        )
        matrix.sort_indices()  # In a set's order its sums would differ in their last digits.
        model = LogisticRegression(C=STRENGTH, max_iter=5_000).fit(matrix, [one.label for one in some])
        names = vectors.get_feature_names_out()
        for kind, intercept, row in zip(model.classes_, model.intercept_, model.coef_, strict=True):
            columns[f"{begin}{kind}"] = {"": round(float(intercept), 3)} | {
                str(name): round(float(weight), 2)
                for name, weight in zip(names, row, strict=True)
                if abs(weight) >= MIN_WEIGHT
            }
    return WeightTable.of_columns(columns)


def weigh(sentences: Sequence[LabelledSentence], weights: WeightTable) -> list[ToldOutcome]:
    """Return each sentence with how likely it is of each kind."""
    shares = [weigh_outcome(weights, one.features, not one.is_unrecorded) for one in sentences]
    return [
        ToldOutcome(one.at, one.place, one.text, share, GOES_ON in one.features)
        for one, share in zip(sentences, shares, strict=True)
    ]


def report(sentences: Sequence[LabelledSentence]) -> None:
    """Print how well sentences are told by what was learned from other sessions, and what would be shown."""
    outcomes = dict[int, ToldOutcome]()
    groups = [one.session for one in sentences]
    for learned, left_out in GroupKFold(FOLDS).split(sentences, groups=groups):
        weights = train([sentences[at] for at in learned])
        outcomes.update(zip(map(int, left_out), weigh([sentences[at] for at in left_out], weights), strict=True))
    precision = MarkdownTable("what was done", "tells", "sentences", "average precision", "of it English", "others")
    shown = MarkdownTable("what was done", "lines", "shown", "right", "of the best")
    for name, is_unrecorded in (("is known", False), ("is not known", True)):
        rows = [at for at, one in enumerate(sentences) if one.is_unrecorded == is_unrecorded]
        some, told = [sentences[at] for at in rows], [outcomes[at] for at in rows]
        _add_precision(precision, name, some, told)
        _add_shown(shown, name, some, told)
    precision.print()
    shown.print()


def _read_told(one: ToldOutcome) -> float:
    return one.told if one.told > one.left else 0.0


def _read_left(one: ToldOutcome) -> float:
    return one.left if one.left >= one.told else 0.0


_LINES = (
    ("done, found", (OutcomeKind.DONE, OutcomeKind.FOUND), _read_told, TOLD_FROM, MAX_DONE),
    ("left", (OutcomeKind.LEFT,), _read_left, LEFT_FROM, MAX_LEFT),
)


def _add_precision(
    table: MarkdownTable, name: str, sentences: Sequence[LabelledSentence], outcomes: Sequence[ToldOutcome]
) -> None:
    english = np.array([one.is_english for one in sentences])
    for line, kinds, *_ in _LINES:
        truth = np.array([one.label in kinds for one in sentences])
        scores = np.array([sum(one.shares[kind] for kind in kinds) for one in outcomes])
        rows = (np.ones(len(truth), dtype=bool), english, ~english)
        found = (f"{average_precision_score(truth[row], scores[row]):.3f}" for row in rows)
        table.add(name, line, int(truth.sum()), *found)


def _add_shown(
    table: MarkdownTable, name: str, sentences: Sequence[LabelledSentence], outcomes: Sequence[ToldOutcome]
) -> None:
    by_session: dict[int, list[int]] = {}
    for at, one in enumerate(sentences):
        by_session.setdefault(one.session, []).append(at)
    for line, kinds, score, least, most in _LINES:
        chosen: list[LabelledSentence] = []
        for rows in by_session.values():
            places = {(sentences[at].at, sentences[at].place): sentences[at] for at in rows}
            told = choose_outcomes([outcomes[at] for at in rows], score, least, most)
            chosen += [places[one.at, one.place] for one in told]
        right = sum(one.label in kinds for one in chosen)
        best = sum(one.is_best and one.label in kinds for one in sentences)
        table.add(name, line, len(chosen), right, f"{sum(one.is_best for one in chosen)} of {best}")


def main() -> None:
    """Train, and report over sessions left out."""
    parser = argparse.ArgumentParser(
        prog="python -m bench train_outcomes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    sentences = list(read_sentences())
    report(sentences)
    if options.write:
        weights = train(sentences)
        WEIGHTS.write_bytes(weights.packed)
        print(f"{sum(1 for _ in weights.list_rows())} features, {WEIGHTS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
