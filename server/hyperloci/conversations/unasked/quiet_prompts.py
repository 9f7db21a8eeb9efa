"""Quiet prompts: how likely a prompt needs nothing that was said before, told by its letters, meaning and shape.

The words of `prompt_forms` know what their author thought of: of 24 small requests of six strangers they knew 16. Two
logistic regressions know more (`data/prompt_scorer.json`, made by `python -m bench train_prompts`); both see how a
prompt is put. One sees E1, where the bundled model makes the vector, the other runs of letters: that model knows
English best, and makes little of `merci beaucoup`. Their mean decides, or letters alone. Of other letters than Latin
ones that model knows next to nothing: there a third regression decides by letters alone. `why is that slow?` means what
a request to make something faster means: that it is a question of one word that tells something is in its shape. What
they find only asks more of a memory.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from hyperloci.conversations.unasked.prompt_terms import analyse_terms, list_stop_terms
from hyperloci.model.kinds import NodeKey
from hyperloci.spaces.chance_cosine import sees_meaning_by
from hyperloci.store.keywords.analysis import FIRST_WIDE
from hyperloci.system.values import dataclass
from hyperloci.text.language.questions import is_question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS: Final = Path(__file__).parent / "data" / "prompt_scorer.json"

LONG_PROMPT: Final = 3.0
"""The logarithm of some twenty words: more make a prompt no longer."""

RUNS: Final = (3, 4)
WIDE_RUNS: Final = (1, 2)
"""Of Chinese, Japanese and Korean, where a letter says as much as a syllable or a word."""

LETTER_GROUPS: Final = 4096
"""Runs of letters are counted in groups; runs of up to five are no better, and 2,048 groups a point worse
(docs/benchmarks/unasked.md, "Runs of letters")."""

LETTERS_LENGTH: Final = 2.0
"""Of the vector of letters: at 1 a point less is in order, at 3 as much."""

READ_CHARS: Final = 1000
"""Of a longer prompt the beginning is read: about what E1's model sees."""

BY_LETTERS_DOUBT: Final = 0.4
"""What is taken from the log-odds without a vector, so that .6 counts as .5: of 227 memories that decide 105 are found
by words and 4 of 132 prompts that need nothing are given something; as it is learned 100 and 3, unread 111 and 31."""

LAST_LATIN: Final = "\u024f"
FIRST_CYRILLIC: Final = "\u0400"
LAST_CYRILLIC: Final = "\u052f"
"""Beside Latin letters and wide ones. Of each other script at most 24 prompts were learned: of 19 requests in Arabic,
Persian, Hebrew, Greek and Georgian nine would be called quiet."""

QUIET_FROM: Final = 0.5
QUIET_WEIGHT: Final = 10.0
"""What quietness above .5 takes from the score of each memory, times 10: of six writers' everyday turns 50 of 115 are
given something, and 253 of 301 memories that decide are found (docs/benchmarks/unasked.md, "Runs of letters"); times 15
it was 48 and 254 before letters were read."""


@dataclass(frozen=True, slots=True)
class MeasuredPrompt:
    """A prompt's meaning.

    Attributes:
        cosines: to memories, of those that have a vector, beyond chance (`spaces.chance_cosine`).
        quietness: how likely it needs nothing that was said before, 0..1.
        bearings: of the same memories on it (`bearing`); empty for a model that was not learned from.
        chance: the cosine that the prompt has by chance.
    """

    cosines: Mapping[NodeKey, float] = field(default_factory=dict)
    quietness: float = 0.0
    bearings: Mapping[NodeKey, float] = field(default_factory=dict)
    chance: float = 0.0


def score_quietness(prompt: str, model_id: str = "", vector: NDArray[np.float32] | None = None) -> float:
    """Return how likely a prompt needs nothing that was said before, 0..1; 0 in a script that was hardly learned.

    Args:
        prompt: its text.
        model_id: of the model that made the vector; of one that was not learned from, the vector tells nothing.
        vector: the prompt's unit vector in E1; None: its letters alone tell.
    """
    if not _has_most_letters(prompt, _was_learned):
        return 0.0
    scorer, shape, is_latin = _read_scorer(), read_shape(prompt), is_mostly_latin(prompt)
    by_letters = scorer["by_letters" if is_latin else "by_other_letters"]
    told = _add_up(by_letters, shape) + math.fsum(
        by_letters["letters"][group] * value for group, value in read_letters(prompt).items()
    )
    if is_latin and vector is not None and sees_meaning_by(model_id, scorer["model"]):
        import numpy as np

        by_meaning = scorer["by_meaning"]
        told = (told + _add_up(by_meaning, shape) + float(np.asarray(by_meaning["vector"]) @ vector)) / 2
    else:
        told -= BY_LETTERS_DOUBT
    return 1 / (1 + math.exp(-told))


def _add_up(weights: Mapping[str, Any], shape: Mapping[str, float]) -> float:
    return float(weights["bias"]) + math.fsum(weights["shape"][name] * value for name, value in shape.items())


def is_mostly_latin(prompt: str) -> bool:
    """Tell whether at least half of a prompt's letters are Latin."""
    return _has_most_letters(prompt, _is_latin)


def _has_most_letters(prompt: str, is_meant: Callable[[str], bool]) -> bool:
    letters = [char for char in prompt[:READ_CHARS] if char.isalpha()]
    return 2 * sum(map(is_meant, letters)) >= len(letters)


def _is_latin(char: str) -> bool:
    return char <= LAST_LATIN


def _was_learned(char: str) -> bool:
    return char <= LAST_LATIN or FIRST_CYRILLIC <= char <= LAST_CYRILLIC or char >= FIRST_WIDE


def read_shape(prompt: str) -> dict[str, float]:
    """Return how a prompt is put, each 0..1: whether it asks, and how many of its words tell something."""
    terms = analyse_terms(prompt)
    telling = sum(term not in list_stop_terms() for term in terms)
    asks = is_question(prompt)
    return {
        "question": float(asks),
        "one word": float(telling <= 1),
        "two words": float(telling <= 2),
        "four words": float(telling <= 4),
        "length": min(1.0, math.log1p(telling) / LONG_PROMPT),
        "short question": float(asks and telling <= 2),
        "common words": 1.0 - telling / max(1, len(terms)),
    }


def read_letters(prompt: str) -> dict[int, float]:
    """Return the runs of letters of a prompt's words by their groups: a vector of length `LETTERS_LENGTH`, or empty."""
    counts: Counter[int] = Counter()
    for word in prompt[:READ_CHARS].lower().split():
        bounded = f" {word} "
        counts.update(crc32(run.encode(errors="replace")) % LETTER_GROUPS for run in _list_runs(bounded))
    norm = math.sqrt(sum(count * count for count in counts.values()))
    return {group: LETTERS_LENGTH * count / norm for group, count in counts.items()}


def _list_runs(word: str) -> Iterator[str]:
    """Yield a word's runs of letters, short ones where a wide letter is among them."""
    has_wide = max(word) >= FIRST_WIDE
    for length in (*WIDE_RUNS, *RUNS) if has_wide else RUNS:
        for start in range(len(word) - length + 1):
            run = word[start : start + length]
            if not has_wide or (length in WIDE_RUNS) == (max(run) >= FIRST_WIDE):
                yield run


def discount_quiet(quietness: float) -> float:
    """Return what is taken from the score of each memory."""
    return QUIET_WEIGHT * max(0.0, quietness - QUIET_FROM)


@functools.cache
def _read_scorer() -> Mapping[str, Any]:
    scorer: Mapping[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return scorer
