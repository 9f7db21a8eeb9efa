"""Train what tells prompts that need nothing said before from requests for work, and say how well it does.

    python -m bench train_prompts [--write] [--folds 5] [--sessions DIR ...]

The prompts of `bench/data/prompt_kinds.jsonl`: requests for work and questions about what was said, and chores,
explanations, looks and small talk. Those with a `writer` are turns of the labelled sessions (the writer's letter) or
were written in a voice (`terse`) or by a writer of several voices (`a2`); `tongue` says which are not in English. The
others were written for it by one hand. One regression sees the vectors of those in Latin letters, one their letters,
and one the letters of the others. Judged by cross-validation, a writer left out at a time, and with `--sessions` on the
prompts of projects with gold labels beside the words of `prompt_forms`.
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
from sklearn.linear_model import LogisticRegression

from bench._labelled_sessions import FOLDER
from bench._shared import MarkdownTable
from bench.sessions import load_encoder
from hyperloci.conversations.unasked.decisive import profile_prompt
from hyperloci.conversations.unasked.quiet_prompts import (
    LETTER_GROUPS,
    WEIGHTS,
    is_mostly_latin,
    read_letters,
    read_shape,
)
from hyperloci.embedder.models.bundled import MODEL_ID

PROMPTS_FILE = FOLDER.parent / "prompt_kinds.jsonl"

WORK = "work"

INVERSE_RIDGES = (1.0, 0.5, 0.5)
"""By meaning, by letters and by other letters. By meaning, at 3 a point more is right from .5 on, and at .7 twice
as many requests for work are called quiet."""

ROUNDS = 2000
"""Far more than the fit needs."""

DIGITS = 3
"""Of a weight: the file is 62 KB, and no prompt's score changes by more than .002."""

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


@dataclass(frozen=True, slots=True)
class SeenPrompts:
    """What the scorer sees of prompts, a row each: shapes with vectors in E1, shapes with letters, and their script."""

    by_meaning: NDArray[np.float64]
    by_letters: NDArray[np.float64]
    are_latin: NDArray[np.bool_]

    def choose(self, rows: NDArray[np.bool_]) -> SeenPrompts:
        """Return some of them."""
        return SeenPrompts(self.by_meaning[rows], self.by_letters[rows], self.are_latin[rows])


def see_prompts(texts: Sequence[str]) -> SeenPrompts:
    """Return what the scorer sees of prompts."""
    vectors = np.asarray(load_encoder()(texts), dtype=np.float64)
    shapes = np.array([list(read_shape(text).values()) for text in texts])
    letters = np.zeros((len(texts), LETTER_GROUPS))
    for row, text in enumerate(texts):
        for group, value in read_letters(text).items():
            letters[row, group] = value
    are_latin = np.array([is_mostly_latin(text) for text in texts])
    return SeenPrompts(np.c_[shapes, vectors], np.c_[shapes, letters], are_latin)


@dataclass(frozen=True, slots=True)
class PromptWeights:
    """Bias and weights by what is seen of a prompt; `by_other_letters` of what isn't in Latin letters."""

    by_meaning: NDArray[np.float64]
    by_letters: NDArray[np.float64]
    by_other_letters: NDArray[np.float64]

    def score(self, seen: SeenPrompts) -> NDArray[np.float64]:
        """Return how likely each prompt is quiet."""
        letters = self._weigh_letters(seen)
        by_meaning = self.by_meaning[0] + seen.by_meaning @ self.by_meaning[1:]
        return _to_shares(np.where(seen.are_latin, (by_meaning + letters) / 2, letters))

    def score_letters(self, seen: SeenPrompts) -> NDArray[np.float64]:
        """Return how likely each prompt is quiet by its letters and its shape alone."""
        return _to_shares(self._weigh_letters(seen))

    def _weigh_letters(self, seen: SeenPrompts) -> NDArray[np.float64]:
        latin, other = (
            weights[0] + seen.by_letters @ weights[1:] for weights in (self.by_letters, self.by_other_letters)
        )
        weighed: NDArray[np.float64] = np.where(seen.are_latin, latin, other)
        return weighed


def _to_shares(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
    return shares


def fit_prompts(seen: SeenPrompts, quiet: NDArray[np.float64]) -> PromptWeights:
    """Return the weights that tell quiet prompts."""
    latin = seen.are_latin
    parts = (seen.by_meaning, latin), (seen.by_letters, latin), (seen.by_letters, ~latin)
    models = (
        LogisticRegression(C=inverse, max_iter=ROUNDS).fit(rows[chosen], quiet[chosen])
        for inverse, (rows, chosen) in zip(INVERSE_RIDGES, parts, strict=True)
    )
    return PromptWeights(*(np.r_[model.intercept_, model.coef_[0]] for model in models))


def cross_validate(
    seen: SeenPrompts, prompts: LabelledPrompts, folds: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the score of each prompt, and that by its letters, by weights of other writers and other folds."""
    fold = np.random.default_rng(SEED).integers(0, folds, len(prompts.texts)).astype(str)
    part = np.where(prompts.writers == "", fold, prompts.writers)
    scores, by_letters = np.zeros(len(part)), np.zeros(len(part))
    for name in sorted(set(part)):
        rest = part != name
        weights, left_out = fit_prompts(seen.choose(rest), prompts.quiet[rest]), seen.choose(~rest)
        scores[~rest], by_letters[~rest] = weights.score(left_out), weights.score_letters(left_out)
    return scores, by_letters


def measure_order(scores: NDArray[np.float64], quiet: NDArray[np.float64]) -> float:
    """Return how often a quiet prompt scores above a request for work (the area under the curve)."""
    one, other = scores[quiet == 1][:, None], scores[quiet == 0]
    return float(((one > other) + 0.5 * (one == other)).mean())


def measure_noise(scores: NDArray[np.float64], quiet: NDArray[np.float64], kept: float) -> float:
    """Return the share of quiet prompts that are not told where a share of the requests for work is left alone."""
    return float((scores[quiet == 1] <= np.quantile(scores[quiet == 0], kept)).mean())


def _print_writers(scores: NDArray[np.float64], by_letters: NDArray[np.float64], prompts: LabelledPrompts) -> None:
    noise = (f"quiet and not told at {kept:.0%} of the requests" for kept in KEPT)
    table = MarkdownTable("writer", "prompts", "order", "by letters", *noise, "requests from .5", "others from .5")
    for writer in sorted(set(prompts.writers)):
        rows = prompts.writers == writer
        some, quiet = scores[rows], prompts.quiet[rows]
        shares = [measure_order(some, quiet), measure_order(by_letters[rows], quiet)]
        shares += [measure_noise(some, quiet, kept) for kept in KEPT]
        shares += [float((some[quiet == kind] > 0.5).mean()) for kind in (0, 1)]
        table.add(writer or "the one hand", int(rows.sum()), *(f"{share:.2f}" for share in shares))
    table.print()


def _print_sessions(folders: Sequence[Path], weights: PromptWeights) -> None:
    table = MarkdownTable("projects", "gate", "needs something, called quiet", "needs nothing, found")
    for folder in folders:
        prompts = list(read_session_prompts(folder))
        scores = weights.score(see_prompts([text for text, _ in prompts]))
        nothing = np.array([needs_nothing for _, needs_nothing in prompts])
        by_words = np.array([(profile := profile_prompt(text)) is None or profile.is_quiet for text, _ in prompts])
        for gate, quiet in (("words", by_words), *((f"from {gate}", scores >= gate) for gate in GATES)):
            cells = (f"{quiet[rows].sum()} of {rows.sum()}" for rows in (~nothing, nothing))
            table.add(f"{folder.parent.name}/{folder.name}", gate, *cells)
    table.print()


def describe_weights(weights: PromptWeights) -> dict[str, object]:
    """Return the weights as the product reads them (`quiet_prompts`)."""
    names = list(read_shape(""))

    def round_all(values: NDArray[np.float64]) -> list[float]:
        return [round(float(value), DIGITS) for value in values]

    def describe(values: NDArray[np.float64], rest: str) -> dict[str, object]:
        bias, *told = round_all(values)
        return {"bias": bias, "shape": dict(zip(names, told[: len(names)], strict=True)), rest: told[len(names) :]}

    return {
        "model": MODEL_ID,
        "by_meaning": describe(weights.by_meaning, "vector"),
        "by_letters": describe(weights.by_letters, "letters"),
        "by_other_letters": describe(weights.by_other_letters, "letters"),
    }


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
    seen = see_prompts(prompts.texts)
    _print_writers(*cross_validate(seen, prompts, options.folds), prompts)
    weights = fit_prompts(seen, prompts.quiet)
    _print_sessions(options.sessions, weights)
    if options.write:
        WEIGHTS.write_text(json.dumps(describe_weights(weights)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
