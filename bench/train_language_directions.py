"""Find the directions in which the bundled model sees languages, and say how near it puts any two texts of each.

    python -m bench train_language_directions [--write]

The prompts of `bench/data/prompt_kinds.jsonl`, by tongue: the differences between the mean vector of each and that of
the English ones, made to stand at right angles. The table has, of requests for work, the mean cosine of two, that
beyond what either has by chance, and how often a text is taken for one in another language than English. A second table
has what requests of projects in other languages (`request_cases_tongues.jsonl`) are given, by the directions that are
in the package. `--write` puts the new ones into `server/hyperloci/spaces/data/language_directions.json`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench._labelled_sessions import FOLDER
from bench._shared import MarkdownTable
from bench.push import PushCase, encode_cases
from bench.sessions import load_encoder
from bench.train_bearing import Vectors, read_cases
from bench.train_prompts import PROMPTS_FILE, WORK
from hyperloci.conversations.capture.prompt_context import DECISIVE_ITEMS
from hyperloci.conversations.unasked.bearing import move_request
from hyperloci.conversations.unasked.decisive import (
    MemoryCandidate,
    is_worth_showing,
    profile_memory,
    profile_prompt,
    score_candidates,
)
from hyperloci.conversations.unasked.quiet_prompts import is_mostly_latin, score_quietness
from hyperloci.embedder.models.bundled import MODEL_ID
from hyperloci.spaces.chance_cosine import DIRECTIONS_FILE, KNOWN, exceed_chance, measure_chance
from hyperloci.store.keywords.analysis import analyse_text
from hyperloci.system.packed_numbers import pack_numbers

ENGLISH = "en"

FEWEST = 20
"""Prompts from which on a tongue has a mean worth naming."""

STEPS = 127
"""A number is kept as one of so many steps up and down."""

Matrix = NDArray[np.float64]


def read_tongues(kind: str | None = None) -> dict[str, list[str]]:
    """Return the prompts of each tongue, of one kind or of all."""
    tongues: defaultdict[str, list[str]] = defaultdict(list)
    for line in PROMPTS_FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if kind in (None, row["kind"]):
            tongues[row.get("tongue", ENGLISH)].append(row["text"])
    return {tongue: texts for tongue, texts in tongues.items() if len(texts) >= FEWEST}


def find_directions(vectors: dict[str, Matrix]) -> Matrix:
    """Return the directions in which the means of languages differ from that of English, (languages, dimensions)."""
    middle = vectors[ENGLISH].mean(axis=0)
    apart = [rows.mean(axis=0) - middle for tongue, rows in sorted(vectors.items()) if tongue != ENGLISH]
    directions: Matrix = np.linalg.svd(np.array(apart), full_matrices=False)[2]
    return directions


def _report(directions: Matrix) -> None:
    table = MarkdownTable("tongue", "requests", "mean cosine", "by chance", "beyond chance", "taken for foreign")
    for tongue, texts in read_tongues(WORK).items():
        rows = np.asarray(load_encoder()(texts), dtype=np.float64)
        cosines = (rows @ rows.T)[~np.eye(len(rows), dtype=bool)].reshape(len(rows), -1)
        chances = np.square(rows @ directions.T).sum(axis=1)
        taken = np.where(chances >= KNOWN, chances, 0)
        beyond = (cosines - taken[:, None]) / (1 - taken[:, None])
        cells = (cosines.mean(), chances.mean(), beyond.mean(), (taken > 0).mean())
        table.add(tongue, len(texts), *(f"{cell:.2f}" for cell in cells))
    table.print()


def _report_requests() -> None:
    table = MarkdownTable("cosines", "found", "first three", "given", "need nothing, given something")
    cases = read_cases(FOLDER.parent / "request_cases_tongues.jsonl")
    vectors = encode_cases([one.case for one in cases])
    for name in ("as they are", "beyond chance", "beyond chance, other scripts by words"):
        found = first = given = wanted = requests = quiet = false = 0
        for case in (one.case for one in cases):
            shown, ranked = _give(case, vectors, beyond=name != "as they are", by_words=name.endswith("words"))
            wanted += len(case.decisive)
            found += len(case.decisive.intersection(shown))
            first += len(case.decisive.intersection(ranked[:3]))
            requests += bool(case.decisive)
            given += len(shown) if case.decisive else 0
            quiet += not case.decisive
            false += bool(shown) and not case.decisive
        table.add(name, f"{found} of {wanted}", first, f"{given / requests:.1f}", f"{false} of {quiet}")
    table.print()


def _give(case: PushCase, vectors: Vectors, *, beyond: bool, by_words: bool) -> tuple[list[int], list[int]]:
    """Return the places of the memories that a prompt is given, and of all, the most decisive first."""
    profile, vector = profile_prompt(case.prompt), vectors[case.prompt]
    if profile is None:
        return [], []
    profile = replace(profile, quietness=score_quietness(case.prompt, MODEL_ID, vector))
    chance = measure_chance(MODEL_ID, vector) if beyond else 0.0
    moved = move_request(MODEL_ID, vector)
    sees = moved is not None and not (by_words and not is_mostly_latin(case.prompt))
    candidates = [
        MemoryCandidate(
            profile_memory(kind, " ".join(analyse_text(text))),
            exceed_chance(float(vector @ vectors[text]), chance) if sees else None,
            bearing=float(moved @ vectors[text]) if sees and moved is not None else 0.0,
        )
        for kind, text in case.memories
    ]
    scores = score_candidates(profile, candidates)
    ranked = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [at for at in ranked[:DECISIVE_ITEMS] if is_worth_showing(profile, scores[at], by_meaning=sees)], ranked


def main() -> None:
    """Find them, report, and write if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m bench train_language_directions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true", help="put the directions into the package")
    options = parser.parse_args()
    encode = load_encoder()
    directions = find_directions(
        {tongue: np.asarray(encode(texts), dtype=np.float64) for tongue, texts in read_tongues().items()}
    )
    _report(directions)
    _report_requests()
    if options.write:
        step = float(np.abs(directions).max()) / STEPS
        numbers = pack_numbers("b", np.rint(directions / step).astype(int).ravel().tolist())
        stored = {"model": MODEL_ID, "languages": len(directions), "step": step, "numbers": numbers}
        DIRECTIONS_FILE.write_text(json.dumps(stored) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
