"""Train what tells prompts that need nothing said before from requests for work, and say how well it does.

    python -m bench train_prompts [--write] [--folds 5] [--sessions DIR ...]

The prompts of `bench/data/prompt_kinds.jsonl` were written for it: requests for work, and chores, explanations, looks
and small talk. Judged by cross-validation, and with `--sessions` on the prompts of projects with gold labels beside the
words of `prompt_forms`. `--write` puts the weights into `conversations/unasked/data/prompt_scorer.json`. The same data
gives the same file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench._labelled_sessions import FOLDER
from bench._shared import MarkdownTable
from bench.push import fit_logistic
from bench.sessions import load_encoder
from hyperloci.conversations.unasked.decisive import profile_prompt
from hyperloci.conversations.unasked.quiet_prompts import WEIGHTS
from hyperloci.embedder.models.bundled import MODEL_ID

PROMPTS_FILE = FOLDER.parent / "prompt_kinds.jsonl"

WORK = "work"

RIDGE = 1.0
"""At .3 a point more is right from .5 on, and at .7 twice as many requests for work are called quiet."""

DIGITS = 3
"""Of a weight: the file is 3 KB, and no prompt's score changes by more than .002."""

GATES = (0.5, 0.6, 0.7)
"""From where on prompts are called quiet in the tables; the product weighs the score itself."""

SEED = 11


def read_prompts() -> tuple[list[str], NDArray[np.float64]]:
    """Return the prompts, and for each 1 if it is quiet."""
    rows = [json.loads(line) for line in PROMPTS_FILE.read_text(encoding="utf-8").splitlines()]
    return [row["text"] for row in rows], np.array([row["kind"] != WORK for row in rows], dtype=np.float64)


def read_session_prompts(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the prompts of projects with gold labels, and whether each needs nothing."""
    for path in sorted(folder.glob("*.json")):
        for prompt in json.loads(path.read_text(encoding="utf-8")).get("prompts", ()):
            yield prompt["prompt"], not prompt["have"]


def score_prompts(weights: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each prompt is quiet."""
    scores: NDArray[np.float64] = 1 / (1 + np.exp(-(weights[0] + vectors @ weights[1:])))
    return scores


def cross_validate(vectors: NDArray[np.float64], quiet: NDArray[np.float64], folds: int) -> NDArray[np.float64]:
    """Return the score of each prompt by weights of the others."""
    part = np.random.default_rng(SEED).integers(0, folds, len(quiet))
    scores = np.zeros(len(quiet))
    for fold in range(folds):
        weights = fit_logistic(vectors[part != fold], quiet[part != fold], ridge=RIDGE)
        scores[part == fold] = score_prompts(weights, vectors[part == fold])
    return scores


def _print_gates(scores: NDArray[np.float64], quiet: NDArray[np.float64]) -> None:
    table = MarkdownTable("quiet from", "requests for work called quiet", "others found")
    for gate in GATES:
        table.add(gate, f"{(scores[quiet == 0] > gate).mean():.2f}", f"{(scores[quiet == 1] > gate).mean():.2f}")
    table.print()


def _print_sessions(folders: Sequence[Path], weights: NDArray[np.float64]) -> None:
    encode = load_encoder()
    table = MarkdownTable("projects", "gate", "needs something, called quiet", "needs nothing, found")
    for folder in folders:
        prompts = list(read_session_prompts(folder))
        scores = score_prompts(weights, np.asarray(encode([text for text, _ in prompts]), dtype=np.float64))
        nothing = np.array([needs_nothing for _, needs_nothing in prompts])
        by_words = np.array([(profile := profile_prompt(text)) is None or profile.is_quiet for text, _ in prompts])
        for gate, quiet in (("words", by_words), *((f"from {gate}", scores >= gate) for gate in GATES)):
            cells = (f"{quiet[rows].sum()} of {rows.sum()}" for rows in (~nothing, nothing))
            table.add(f"{folder.parent.name}/{folder.name}", gate, *cells)
    table.print()


def main() -> None:
    """Train, judge, and write if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m bench train_prompts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sessions", type=Path, nargs="*", default=[], help="folders of projects with gold labels")
    options = parser.parse_args()
    texts, quiet = read_prompts()
    vectors = np.asarray(load_encoder()(texts), dtype=np.float64)
    _print_gates(cross_validate(vectors, quiet, options.folds), quiet)
    weights = fit_logistic(vectors, quiet, ridge=RIDGE)
    _print_sessions(options.sessions, weights)
    if options.write:
        rounded = [round(float(weight), DIGITS) for weight in weights]
        scorer = {"model": MODEL_ID, "bias": rounded[0], "weights": rounded[1:]}
        WEIGHTS.write_text(json.dumps(scorer) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
