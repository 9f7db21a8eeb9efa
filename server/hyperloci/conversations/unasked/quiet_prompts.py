"""Quiet prompts: how likely a prompt needs nothing that was said before, told by its meaning and its shape.

The words of `prompt_forms` know what their author thought of: of 24 small requests of six strangers they knew 16. A
logistic regression over E1 and how a prompt is put knows more (`data/prompt_scorer.json`, made by `python -m bench
train_prompts`), where the bundled model makes the vector. `why is that slow?` means what a request to make something
faster means: that it is a question of one word that tells something is in its shape. It only asks more of a memory.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.conversations.unasked.prompt_terms import analyse_terms, list_stop_terms
from hyperloci.model.kinds import NodeKey
from hyperloci.system.values import dataclass
from hyperloci.text.language.questions import is_question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS: Final = Path(__file__).parent / "data" / "prompt_scorer.json"

LONG_PROMPT: Final = 3.0
"""The logarithm of some twenty words: more make a prompt no longer."""

QUIET_FROM: Final = 0.5
QUIET_WEIGHT: Final = 10.0
"""What quietness above .5 takes from the score of each memory, times 10: of six writers' everyday turns 48 of 115 are
given something, and 255 of 301 memories that decide are found; of six others' everyday prompts 4 of 72, for 19 before
the scorer saw how a prompt is put (docs/benchmarks/unasked.md, "What decides, unasked")."""


@dataclass(frozen=True, slots=True)
class MeasuredPrompt:
    """A prompt's meaning.

    Attributes:
        cosines: to memories, of those that have a vector.
        quietness: how likely it needs nothing that was said before, 0..1; 0 where that can't be told.
        bearings: of the same memories on it (`bearing`); empty for a model that was not learned from.
    """

    cosines: Mapping[NodeKey, float] = field(default_factory=dict)
    quietness: float = 0.0
    bearings: Mapping[NodeKey, float] = field(default_factory=dict)


def score_quietness(model_id: str, vector: NDArray[np.float32], prompt: str) -> float:
    """Return how likely a prompt needs nothing that was said before, 0..1; 0 for a model that was not trained for.

    Args:
        model_id: of the model that made the vector.
        vector: the prompt's unit vector in E1.
        prompt: its text.
    """
    scorer = _read_scorer()
    if not sees_meaning_by(model_id, scorer["model"]):
        return 0.0
    import numpy as np

    put = math.fsum(scorer["shape"][name] * value for name, value in read_shape(prompt).items())
    return float(1 / (1 + np.exp(-(np.asarray(scorer["weights"]) @ vector + put + scorer["bias"]))))


def sees_meaning_by(model_id: str, learned: str) -> bool:
    """Tell whether E1's vectors of a profile's models are those that something was learned from."""
    # E1's model stands before the `+`, the other spaces' behind it (`spaces.profile.compose_model_id`).
    return model_id.partition("+")[0] == learned


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


def discount_quiet(quietness: float) -> float:
    """Return what is taken from the score of each memory."""
    return QUIET_WEIGHT * max(0.0, quietness - QUIET_FROM)


@functools.cache
def _read_scorer() -> Mapping[str, Any]:
    scorer: Mapping[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return scorer
