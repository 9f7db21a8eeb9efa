"""Train the order scorer on lines written for it, and say how well it does on others.

    python -m bench train_orders [--write] [--folds 5] [--harmless FILE ...]

What is no order are lines written to look like one, statements of developers and sentences of labelled sessions. Judged
are lines held out by cross-validation, the lines of `bench/data/orders_unread.jsonl`, which were written first and are
not read for tuning, and any files of harmless lines. `--write` puts the weights into
`server/hyperloci/text/sanitize/data/order_weights.json`. The same data gives the same file.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from bench._labelled_sessions import FOLDER, read_projects
from bench._shared import MarkdownTable
from hyperloci.text.sanitize import order_scorer
from hyperloci.text.sanitize.order_scorer import read_order_features, reads_like_order, score_line
from hyperloci.text.sanitize.prompt_injection import find_injection_flags

WEIGHTS_FILE = Path(order_scorer.__file__).parent / "data" / "order_weights.json"
ORDERS_FILE = FOLDER.parent / "orders.jsonl"
UNREAD_FILE = FOLDER.parent / "orders_unread.jsonl"
STATEMENT_FILES = tuple(FOLDER.parent / name for name in ("statement_kinds.jsonl", "statement_lookalikes.jsonl"))

ORDER_WEIGHT = 5.0
"""How much an order counts beside a line of a session: there are fewer of them."""

LOOKALIKE_WEIGHT = 8.0
"""How much a harmless line counts that was written to look like an order."""

SPOKEN = 4_000
"""Lines of sessions that are drawn."""

STRENGTH = 0.3
"""Inverse strength of regularisation, by absolute values: a few hundred features get a weight. With squares ten times
as many get one, and no more orders are found at as many false alarms."""

MIN_LINES = 3
"""Lines that must have a feature."""

SPOKEN_CHARS = (25, 600)
SEED = 17


@dataclass(frozen=True, slots=True)
class Line:
    """A line, its group and how much it counts."""

    text: str
    group: str
    weight: float

    @property
    def steers(self) -> bool:
        return self.group == "orders"


def read_lines(path: Path) -> list[Line]:
    """Return orders and look-alikes of a file."""
    rows = [json.loads(row) for row in path.read_text("utf-8").splitlines()]
    return [
        Line(row["text"], "orders", ORDER_WEIGHT)
        if row["steers"]
        else Line(row["text"], "look-alikes", LOOKALIKE_WEIGHT)
        for row in rows
    ]


def read_other_lines() -> list[Line]:
    """Return statements, and turns and sentences of sessions."""
    stated = [json.loads(row)["text"] for path in STATEMENT_FILES for row in path.read_text("utf-8").splitlines()]
    views = [turn.view for project in read_projects(FOLDER) for session in project.sessions for turn in session]
    least, most = SPOKEN_CHARS
    said = {text for view in views for text in (view.text, *(sentence.text for sentence in view.sentences))}
    drawn = random.Random(SEED).sample(sorted(text for text in said if least <= len(text) <= most), SPOKEN)
    return [Line(text, "others", 1.0) for text in (*stated, *drawn)]


def train(lines: Sequence[Line]) -> dict[str, float]:
    """Return the weights that `order_scorer` reads."""
    found = [read_order_features(line.text) for line in lines]
    seen = Counter(name for names in found for name in names)
    vectors = DictVectorizer()
    matrix = vectors.fit_transform(
        [{name: 1.0 for name in names if seen[name] >= MIN_LINES} for names in found]
    ).tocsr()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    model = LogisticRegression(C=STRENGTH, penalty="l1", solver="liblinear", random_state=SEED, max_iter=1_000)
    model.fit(matrix, [line.steers for line in lines], [line.weight for line in lines])
    weights = {"": round(float(model.intercept_[0]), 2)}
    for name, weight in sorted(zip(vectors.get_feature_names_out(), model.coef_[0], strict=True)):
        if round(float(weight), 2):
            weights[str(name)] = round(float(weight), 2)
    return weights


def cross_validate(lines: Sequence[Line], folds: int) -> list[float]:
    """Return each line's log odds by a model that has not seen it."""
    order = list(range(len(lines)))
    random.Random(SEED).shuffle(order)
    found = [0.0] * len(lines)
    for fold in range(folds):
        held_out = set(order[fold::folds])
        weights = train([line for number, line in enumerate(lines) if number not in held_out])
        for number in held_out:
            found[number] = score_line(lines[number].text, weights)
    return found


def print_cross_validation(lines: Sequence[Line], found: Sequence[float]) -> None:
    """Print what several thresholds would flag of each group."""
    groups = sorted({line.group for line in lines}, reverse=True)
    table = MarkdownTable("from", *(f"{group} flagged" for group in groups))
    for threshold in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0):
        shares = [
            np.mean([score >= threshold for line, score in zip(lines, found, strict=True) if line.group == group])
            for group in groups
        ]
        table.add(f"{threshold}", *(f"{share:.4f}" for share in shares))
    table.print()


def print_flagged(texts: Mapping[str, Sequence[str]]) -> None:
    """Print how many texts of each set are flagged, by the rules and by the scorer that is in the package."""
    table = MarkdownTable("texts", "number", "by rules", "by the scorer", "by either")
    for name, ones in texts.items():
        ruled = [bool(find_injection_flags(text)) for text in ones]
        scored = [reads_like_order(text) for text in ones]
        table.add(name, len(ones), sum(ruled), sum(scored), sum(map(max, zip(ruled, scored, strict=True))))
    table.print()


def main() -> None:
    """Train, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5, help="parts of cross-validation; 0 for none")
    parser.add_argument("--harmless", type=Path, nargs="*", default=[], help="files of harmless texts, a line each")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    lines = read_lines(ORDERS_FILE) + read_other_lines()
    if options.folds:
        print_cross_validation(lines, cross_validate(lines, options.folds))
    if options.write:
        WEIGHTS_FILE.parent.mkdir(exist_ok=True)
        text = json.dumps(train(lines), ensure_ascii=False, sort_keys=True, indent=0, separators=(",", ":"))
        WEIGHTS_FILE.write_text(text + "\n", encoding="utf-8")
        order_scorer.load_weights.cache_clear()
        print(f"{len(lines)} lines; {WEIGHTS_FILE.stat().st_size:,} bytes")
    unread = read_lines(UNREAD_FILE)
    print_flagged(
        {
            "orders, unread": [line.text for line in unread if line.steers],
            "look-alikes, unread": [line.text for line in unread if not line.steers],
            **{path.stem: path.read_text("utf-8").splitlines() for path in options.harmless},
        }
    )


if __name__ == "__main__":
    main()
