"""Learn which statements bear on a request, and say how well that does on writers that were left out.

    python -m bench train_bearing [--write]

`bench/data/request_cases.jsonl`: invented projects by several writers, each with statements that stand (kind, text) and
requests with the places of those that decide them, none for a request that needs nothing; `request_cases_unread.jsonl`
is by writers of whom nothing is learned. A map of low rank over the
bundled model's vectors is learned, so that among a project's statements those that decide are nearest to the moved
request (softmax over the project; gradient descent with momentum and scaling, as Adam). `--write` puts it into
`conversations/unasked/data/bearing.json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench._labelled_sessions import FOLDER
from bench._shared import MarkdownTable
from bench.push import KINDS, PushCase, encode_cases
from hyperloci.conversations.capture.prompt_context import DECISIVE_ITEMS
from hyperloci.conversations.unasked.bearing import MAP_FILE, BearingMap, pack_map
from hyperloci.conversations.unasked.decisive import (
    MemoryCandidate,
    is_worth_showing,
    profile_memory,
    profile_prompt,
    score_candidates,
)
from hyperloci.embedder.models.bundled import MODEL_ID
from hyperloci.store.keywords.analysis import analyse_text

CASES_FILE = FOLDER.parent / "request_cases.jsonl"
UNREAD_FILE = FOLDER.parent / "request_cases_unread.jsonl"

RANK = 48
DECAY = 0.01
EPOCHS = 20
"""The more of either, the closer to the writers who were read (docs/benchmarks/unasked.md, "What bears on a
request")."""

TEMPERATURE = 0.1
STEP = 0.005
BATCH = 64
SEED = 0
MOMENTUM, SCALING = 0.9, 0.999

Vectors = dict[str, NDArray[np.float32]]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WrittenCase:
    """A case and who wrote it."""

    writer: str
    case: PushCase


@dataclass(slots=True)
class _Matrix:
    """A matrix that is learned: its numbers, and the means of its gradients and of their squares."""

    numbers: Matrix
    mean: Matrix
    square: Matrix

    @classmethod
    def make(cls, chance: np.random.Generator, rows: int) -> _Matrix:
        shape = (rows, RANK)
        return cls(chance.normal(0, 0.05, shape), np.zeros(shape), np.zeros(shape))

    def step(self, gradient: Matrix, count: int) -> None:
        gradient = gradient + DECAY * self.numbers
        self.mean = MOMENTUM * self.mean + (1 - MOMENTUM) * gradient
        self.square = SCALING * self.square + (1 - SCALING) * gradient**2
        size = np.sqrt(self.square / (1 - SCALING**count)) + 1e-8
        self.numbers = self.numbers - STEP * self.mean / (1 - MOMENTUM**count) / size


def read_cases(path: Path = CASES_FILE) -> list[WrittenCase]:
    """Return the requests of all projects in a file."""
    cases = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        memories = tuple((KINDS.get(kind, kind), text) for kind, text in row["statements"])
        cases += [
            WrittenCase(
                row["writer"], PushCase(row["project"], request["text"], memories, frozenset(request["decides"]))
            )
            for request in row["requests"]
        ]
    return cases


def learn_map(cases: Sequence[PushCase], vectors: Vectors) -> BearingMap:
    """Return the map that puts what decides before the rest of a project."""
    rows = [
        (
            vectors[case.prompt].astype(np.float64),
            np.array([vectors[text] for _, text in case.memories], np.float64),
            np.array([place in case.decisive for place in range(len(case.memories))]) / len(case.decisive),
        )
        for case in cases
        if case.decisive
    ]
    chance = np.random.default_rng(SEED)
    requests, memories = (_Matrix.make(chance, len(rows[0][0])) for _ in range(2))
    count = 0
    for _ in range(EPOCHS):
        order = chance.permutation(len(rows))
        for start in range(0, len(order), BATCH):
            batch = [rows[place] for place in order[start : start + BATCH]]
            gradients = [_find_gradients(row, requests.numbers, memories.numbers) for row in batch]
            count += 1
            requests.step(np.mean([one for one, _ in gradients], axis=0), count)
            memories.step(np.mean([other for _, other in gradients], axis=0), count)
    return BearingMap(MODEL_ID, requests.numbers.astype(np.float32), memories.numbers.astype(np.float32))


def _find_gradients(row: tuple[Matrix, Matrix, Matrix], requests: Matrix, memories: Matrix) -> tuple[Matrix, Matrix]:
    """Return the gradients of one request's loss by both matrices; `row`: its vector, its memories', what decides."""
    prompt, told, truth = row
    seen, places = prompt @ requests, told @ memories
    scores = (told @ prompt + places @ seen) / TEMPERATURE
    shares = np.exp(scores - scores.max())
    errors = (shares / shares.sum() - truth) / TEMPERATURE
    return np.outer(prompt, errors @ places), np.outer(errors @ told, seen)


@dataclass(slots=True)
class Tally:
    """What requests are given: statements that decide, those given and those among three, requests that need nothing,
    and those of them that are given something."""

    wanted: int = 0
    found: int = 0
    first: int = 0
    quiet: int = 0
    false: int = 0


def tally_cases(cases: Sequence[PushCase], vectors: Vectors, learned: BearingMap | None) -> Tally:
    """Count what requests are given by the product's weights, without the scorer of quiet prompts."""
    tally = Tally()
    for case in cases:
        tally.wanted += len(case.decisive)
        tally.quiet += not case.decisive
        prompt = profile_prompt(case.prompt)
        if prompt is None:
            continue
        moved = None if learned is None else learned.move(vectors[case.prompt])
        candidates = [
            MemoryCandidate(
                profile_memory(kind, " ".join(analyse_text(text))),
                float(vectors[case.prompt] @ vectors[text]),
                bearing=0.0 if moved is None else float(moved @ vectors[text]),
            )
            for kind, text in case.memories
        ]
        scores = score_candidates(prompt, candidates)
        ranked = sorted(range(len(scores)), key=lambda place: -scores[place])
        given = [place for place in ranked[:DECISIVE_ITEMS] if is_worth_showing(prompt, scores[place], by_meaning=True)]
        tally.found += len(case.decisive.intersection(given))
        tally.first += len(case.decisive.intersection(ranked[:3]))
        tally.false += bool(given) and not case.decisive
    return tally


def _report(written: Sequence[WrittenCase], unread: Sequence[WrittenCase], vectors: Vectors) -> None:
    table = MarkdownTable(
        "writer left out", "decide", "found before", "now", "first three before", "now", "false", "now"
    )
    for writer in sorted({one.writer for one in (*written, *unread)}):
        theirs = [one.case for one in (*written, *unread) if one.writer == writer]
        learned = learn_map([one.case for one in written if one.writer != writer], vectors)
        before, now = (tally_cases(theirs, vectors, which) for which in (None, learned))
        false = (f"{tally.false} of {tally.quiet}" for tally in (before, now))
        table.add(writer, now.wanted, before.found, now.found, before.first, now.first, *false)
    table.print()


def main() -> None:
    """Learn, judge with each writer left out, and write if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m bench train_bearing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the map into the package")
    parser.add_argument("--unchecked", action="store_true", help="leave out the report on writers left out")
    options = parser.parse_args()
    written, unread = read_cases(), read_cases(UNREAD_FILE)
    vectors = encode_cases([one.case for one in (*written, *unread)])
    if not options.unchecked:
        _report(written, unread, vectors)
    if options.write:
        MAP_FILE.write_text(pack_map(learn_map([one.case for one in written], vectors)) + "\n", encoding="utf-8")
        print(f"{len(written)} requests; {MAP_FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
