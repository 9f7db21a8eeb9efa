"""Train what tells prompts that need nothing said before from requests for work, and say how well it does.

    python -m bench train_prompts [--write] [--folds 5] [--sessions DIR ...]

The prompts of `bench/data/prompt_kinds.jsonl`: requests for work and questions about what was said, and chores,
explanations, looks and small talk. Those with a `writer` are turns of the labelled sessions (the writer's letter) or
were written in a voice (`terse`); the others were written for it by one hand. Judged by cross-validation, a writer left
out at a time, and with `--sessions` on the prompts of projects with gold labels beside the words of `prompt_forms`.
`--write` puts the weights into `conversations/unasked/data/prompt_scorer.json`. The same data gives the same file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench._labelled_sessions import FOLDER
from bench._shared import MarkdownTable
from bench.push import fit_logistic
from bench.sessions import load_encoder
from hyperloci.conversations.unasked.decisive import profile_prompt
from hyperloci.conversations.unasked.quiet_prompts import WEIGHTS, read_shape
from hyperloci.embedder.models.bundled import MODEL_ID

PROMPTS_FILE = FOLDER.parent / "prompt_kinds.jsonl"

WORK = "work"

RIDGE = 1.0
"""At .3 a point more is right from .5 on, and at .7 twice as many requests for work are called quiet."""

DIGITS = 3
"""Of a weight: the file is 3 KB, and no prompt's score changes by more than .002."""

GATES = (0.5, 0.6, 0.7)
"""From where on prompts are called quiet in the tables; the product weighs the score itself."""

KEPT = (0.8, 0.9)
"""Shares of the requests for work that are left alone, where the quiet prompts that are not told are counted."""

SEED = 11


@dataclass(frozen=True, slots=True)
class LabelledPrompts:
    """Prompts; for each 1 if it is quiet, and who wrote it ('' for the one hand)."""

    texts: list[str]
    quiet: NDArray[np.float64]
    writers: NDArray[np.str_]


def read_prompts() -> LabelledPrompts:
    """Return the prompts to train on."""
    rows = [json.loads(line) for line in PROMPTS_FILE.read_text(encoding="utf-8").splitlines()]
    return LabelledPrompts(
        [row["text"] for row in rows],
        np.array([row["kind"] != WORK for row in rows], dtype=np.float64),
        np.array([row.get("writer", "") for row in rows]),
    )


def read_session_prompts(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the prompts of projects with gold labels, and whether each needs nothing."""
    for path in sorted(folder.glob("*.json")):
        for prompt in json.loads(path.read_text(encoding="utf-8")).get("prompts", ()):
            yield prompt["prompt"], not prompt["have"]


def see_prompts(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return what the scorer sees of prompts: their vectors in E1, then their shapes."""
    shapes = np.array([list(read_shape(text).values()) for text in texts])
    seen: NDArray[np.float64] = np.c_[np.asarray(load_encoder()(texts), dtype=np.float64), shapes]
    return seen


def score_prompts(weights: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each prompt is quiet."""
    scores: NDArray[np.float64] = 1 / (1 + np.exp(-(weights[0] + vectors @ weights[1:])))
    return scores


def cross_validate(vectors: NDArray[np.float64], prompts: LabelledPrompts, folds: int) -> NDArray[np.float64]:
    """Return the score of each prompt by weights of others: other writers, and other folds of the one hand."""
    fold = np.random.default_rng(SEED).integers(0, folds, len(prompts.texts)).astype(str)
    part = np.where(prompts.writers == "", fold, prompts.writers)
    scores = np.zeros(len(part))
    for name in sorted(set(part)):
        rest = part != name
        scores[~rest] = score_prompts(fit_logistic(vectors[rest], prompts.quiet[rest], ridge=RIDGE), vectors[~rest])
    return scores


def measure_order(scores: NDArray[np.float64], quiet: NDArray[np.float64]) -> float:
    """Return how often a quiet prompt scores above a request for work (the area under the curve)."""
    one, other = scores[quiet == 1][:, None], scores[quiet == 0]
    return float(((one > other) + 0.5 * (one == other)).mean())


def measure_noise(scores: NDArray[np.float64], quiet: NDArray[np.float64], kept: float) -> float:
    """Return the share of quiet prompts that are not told where a share of the requests for work is left alone."""
    return float((scores[quiet == 1] <= np.quantile(scores[quiet == 0], kept)).mean())


def _print_writers(scores: NDArray[np.float64], prompts: LabelledPrompts) -> None:
    noise = (f"quiet and not told at {kept:.0%} of the requests" for kept in KEPT)
    table = MarkdownTable("writer", "prompts", "order", *noise, "requests from .5", "others from .5")
    for writer in sorted(set(prompts.writers)):
        rows = prompts.writers == writer
        some, quiet = scores[rows], prompts.quiet[rows]
        shares = [measure_order(some, quiet), *(measure_noise(some, quiet, kept) for kept in KEPT)]
        shares += [float((some[quiet == kind] > 0.5).mean()) for kind in (0, 1)]
        table.add(writer or "the one hand", int(rows.sum()), *(f"{share:.2f}" for share in shares))
    table.print()


def _print_sessions(folders: Sequence[Path], weights: NDArray[np.float64]) -> None:
    table = MarkdownTable("projects", "gate", "needs something, called quiet", "needs nothing, found")
    for folder in folders:
        prompts = list(read_session_prompts(folder))
        scores = score_prompts(weights, see_prompts([text for text, _ in prompts]))
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
    prompts = read_prompts()
    vectors = see_prompts(prompts.texts)
    _print_writers(cross_validate(vectors, prompts, options.folds), prompts)
    weights = fit_logistic(vectors, prompts.quiet, ridge=RIDGE)
    _print_sessions(options.sessions, weights)
    if options.write:
        names = list(read_shape(""))
        bias, *rounded = (round(float(weight), DIGITS) for weight in weights)
        shape = dict(zip(names, rounded[-len(names) :], strict=True))
        scorer = {"model": MODEL_ID, "bias": bias, "weights": rounded[: -len(names)], "shape": shape}
        WEIGHTS.write_text(json.dumps(scorer) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
