"""Train what tells pasted lines from typed ones, and say how well it does on writers that it did not see.

    python -m bench train_pasted_lines [--write]

Learned from messages that were written for it (`data/pasted_messages.jsonl`: tickets, pages, reviews and logs beside
the user's own words, and lists of one's own that only look pasted), and from messages made of the labelled sessions:
what users say there is typed, in lines and as lists, also around lines that tools print. Lines that a project's labels
quote as to be kept were typed.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics import average_precision_score

from bench._labelled_sessions import FOLDER, LabelledProject, read_projects
from bench._shared import MarkdownTable
from bench.train_replacements import read_tree
from hyperloci.conversations.consolidation import pasted_lines
from hyperloci.conversations.consolidation.pasted_lines import PASTED, read_line_features
from hyperloci.conversations.consolidation.turn_view import ACTION, USER
from hyperloci.knowledge.contradictions.forest import pack_trees

WEIGHTS_FILE = Path(pasted_lines.__file__).parent / "data" / "pasted_lines.json"
MESSAGES_FILE = FOLDER.parent / "pasted_messages.jsonl"

TOOL_PARTS = 3
"""A tool's line: its name, what it did, what it printed."""

MOST_PRINTED = 6
MOST_TYPED = 5
"""Lines of a block of a message that is made."""

TYPED_WEIGHT = 0.1
PRINTED_WEIGHT = 0.2
"""How much a line of a message that is made counts beside one that was written, of what is typed alone and of what has
lines that tools print: there are many, and all alike. With 0.04 for both more tickets and mails were told (187 lines of
writer d's for 178), and logs less surely; with 0.3 fewer (172)."""

TREES = 200
LEAVES = 8
"""Of each: with 300 trees a hundredth more is told, with 150 two less."""

SEED = 17


@dataclass(frozen=True, slots=True)
class Message:
    """Lines of a message, and of each whether it was pasted; None where that is not known. `writer`: who wrote it."""

    lines: tuple[str, ...]
    pasted: tuple[bool | None, ...]
    writer: str

    @property
    def weight(self) -> float:
        """How much each of its lines counts in training."""
        if self.writer:
            return 1.0
        return PRINTED_WEIGHT if any(self.pasted) else TYPED_WEIGHT


def read_messages(path: Path) -> Iterator[Message]:
    """Yield the messages that were written for it."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        pasted = tuple(number in row["pasted"] for number in range(len(row["lines"])))
        yield Message(tuple(row["lines"]), pasted, row["writer"])


def make_messages(projects: Sequence[LabelledProject]) -> Iterator[Message]:
    """Yield messages made of sessions: several lines that users typed, some with lines that tools print."""
    chance = random.Random(SEED)
    turns = [turn for project in projects for session in project.sessions for turn in session]
    printed = [_read_printed(turn.view.text) for turn in turns if turn.view.speaker == ACTION]
    blocks = [lines[:MOST_PRINTED] for lines in printed if lines]
    for turn in turns:
        if turn.view.speaker != USER:
            continue
        lines = turn.view.text.split("\n")
        if len(lines) > 1 and turn.kept:
            quotes = [quote for kept in turn.kept for quote in kept.quote.split("\n") if quote.strip()]
            known = tuple(False if any(quote in line for quote in quotes) else None for line in lines)
            yield Message(tuple(lines), known, "")
        elif len(lines) == 1 and "`" not in turn.view.text:
            yield from _make_typed(turn.view.text, [one.text for one in turn.view.sentences][:MOST_TYPED], chance)
            block, typed = chance.choice(blocks), [turn.view.text]
            at = chance.randrange(2)
            whole = [*typed[:at], *block, *typed[at:]]
            yield Message(tuple(whole), tuple(line not in typed for line in whole), "")


def _make_typed(text: str, sentences: Sequence[str], chance: random.Random) -> Iterator[Message]:
    """Yield a turn of one line as people also type it: a line for each sentence, or a list."""
    if len(sentences) < 2:
        return
    mark = chance.choice(("", "", "- ", "* "))
    stop = chance.random() < 0.5
    lines = [f"{mark}{one if stop else one.rstrip('.!,')}" for one in sentences]
    yield Message(tuple(lines), (False,) * len(lines), "")


def _read_printed(text: str) -> list[str]:
    parts = text.split(" | ", TOOL_PARTS - 1)
    return [line for line in parts[-1].split("\n") if line.strip()] if len(parts) == TOOL_PARTS else []


@dataclass(frozen=True, slots=True)
class Fitted:
    """A trained model and the features that it reads."""

    vectors: DictVectorizer
    trees: HistGradientBoostingClassifier

    def estimate(self, rows: Sequence[dict[str, float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the probability that each of some lines was pasted."""
        found: np.ndarray[Any, np.dtype[np.float64]] = self.trees.predict_proba(self.vectors.transform(rows))[:, 1]
        return found

    def to_document(self) -> dict[str, Any]:
        """Return the model as `pasted_lines` reads it."""
        return {
            "features": [str(name) for name in self.vectors.get_feature_names_out()],
            "start": round(float(self.trees._baseline_prediction.item()), 4),
            "trees": pack_trees([read_tree(stage[0].nodes, 0) for stage in self.trees._predictors]),
        }


def read_known_lines(messages: Iterable[Message]) -> Iterator[tuple[dict[str, float], bool, float]]:
    """Yield the features of each line of which it is known, whether it was pasted, and how much it counts."""
    for message in messages:
        for number, features in read_line_features(message.lines):
            if (pasted := message.pasted[number]) is not None:
                yield features, pasted, message.weight


def fit(messages: Iterable[Message]) -> Fitted:
    """Return a model of the lines of some messages."""
    rows, truth, weights = zip(*read_known_lines(messages), strict=True)
    vectors = DictVectorizer(sparse=False, dtype=np.float32)
    trees = HistGradientBoostingClassifier(
        max_iter=TREES,
        max_leaf_nodes=LEAVES,
        learning_rate=0.08,
        min_samples_leaf=15,
        l2_regularization=5.0,
        early_stopping=False,
        random_state=0,
    )
    trees.fit(vectors.fit_transform(rows), np.array(truth), sample_weight=np.array(weights))
    return Fitted(vectors, trees)


def judge(table: MarkdownTable, name: str, fitted: Fitted, unseen: Sequence[Message]) -> None:
    """Add how many lines of some messages are told rightly."""
    rows, truth, _ = zip(*read_known_lines(unseen), strict=True)
    found, pasted = fitted.estimate(rows), np.array(truth)
    told = found >= PASTED
    table.add(
        name,
        f"{average_precision_score(pasted, found):.3f}",
        f"{told[pasted].sum()} of {pasted.sum()}",
        f"{told[~pasted].sum()} of {(~pasted).sum()}",
    )


def main() -> None:
    """Train, and report on each writer by what was learned from the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    messages = list(read_messages(MESSAGES_FILE))
    projects = list(read_projects())
    made = list(make_messages(projects))
    table = MarkdownTable("left out", "average precision", "pasted, told", "typed, left out")
    for writer in sorted({message.writer for message in messages}):
        others = [message for message in messages if message.writer != writer]
        unseen = [message for message in messages if message.writer == writer]
        judge(table, f"writer {writer}", fit([*others, *made]), unseen)
    half = len(projects) // 2
    learned = [*messages, *make_messages(projects[:half])]
    judge(table, "half of the sessions", fit(learned), list(make_messages(projects[half:])))
    table.print()
    if options.write:
        text = json.dumps(fit([*messages, *made]).to_document(), separators=(",", ":"))
        WEIGHTS_FILE.write_text(text + "\n", encoding="utf-8")
        print(f"{len(messages)} messages, {len(made)} made; {WEIGHTS_FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
