"""Find the directions in which the bundled model sees languages, and say how near it puts any two texts of each.

    python -m bench train_language_directions [--write]

The prompts of `bench/data/prompt_kinds.jsonl`, by tongue: the differences between the mean vector of each and that of
the English ones, made to stand at right angles. The table has, of requests for work, the mean cosine of two, that
beyond what either has by chance, and how often a text is taken for one in another language than English. `--write`
puts the directions into `server/hyperloci/spaces/data/language_directions.json`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from bench._shared import MarkdownTable
from bench.sessions import load_encoder
from bench.train_prompts import PROMPTS_FILE, WORK
from hyperloci.embedder.models.bundled import MODEL_ID
from hyperloci.spaces.chance_cosine import DIRECTIONS_FILE, KNOWN
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
    if options.write:
        step = float(np.abs(directions).max()) / STEPS
        numbers = pack_numbers("b", np.rint(directions / step).astype(int).ravel().tolist())
        stored = {"model": MODEL_ID, "languages": len(directions), "step": step, "numbers": numbers}
        DIRECTIONS_FILE.write_text(json.dumps(stored) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
