"""Chance cosine: how near E1 puts a text to any other of its language, where its model hardly knows that language.

The bundled model learned English. Of another language it sees above all that it is another one: two requests on
different things have a mean cosine of .08 in English, .28 in German, .42 in Spanish, .53 in Russian, .57 in Korean
(docs/benchmarks/unasked.md, "Other languages"), so that every floor on a cosine lets everything pass. The directions in
which the means of languages lie apart (`data/language_directions.json`, made by `python -m bench
train_language_directions`; Mu and Viswanath 2018 take such directions off) tell how much of a vector is its language:
the square of its length along them is about the cosine that it has by chance.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hyperloci.system.packed_numbers import unpack_numbers
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIRECTIONS_FILE: Final = Path(__file__).parent / "data" / "language_directions.json"

KNOWN: Final = 0.2
"""Below it a text is taken for one in English, whose cosines are meant as they are: of 3,300 English questions one is
above it, of 270 German prompts four in five, of Russian and Chinese ones 97 and 94 in a hundred."""


@dataclass(frozen=True, slots=True)
class LanguageDirections:
    """Directions of languages in a model's space: `rows`, (languages, dimensions), at right angles, of length 1."""

    model: str
    rows: NDArray[np.float32]


def sees_meaning_by(model_id: str, learned: str) -> bool:
    """Tell whether E1's vectors of a profile's models are those that something was learned from."""
    # E1's model stands before the `+`, the other spaces' behind it (`spaces.profile.compose_model_id`).
    return model_id.partition("+")[0] == learned


def measure_chance(model_id: str, vector: NDArray[np.float32]) -> float:
    """Return the cosine that a text has by chance with others of its language, 0..1; 0 where it is English.

    Args:
        model_id: of the model that made the vector; of one that was not learned from, nothing is known.
        vector: the text's unit vector in E1.
    """
    directions = _read_directions()
    if not sees_meaning_by(model_id, directions.model):
        return 0.0
    along = directions.rows @ vector
    chance = float(along @ along)
    return chance if KNOWN <= chance < 1 else 0.0


def exceed_chance(cosine: float, chance: float) -> float:
    """Return how far a cosine goes beyond chance: 0 at chance, 1 at 1; the cosine itself where there is no chance."""
    return (cosine - chance) / (1 - chance)


def add_chance(floor: float, chance: float) -> float:
    """Return the cosine that goes beyond chance as far as a floor: the inverse of `exceed_chance`."""
    return floor + (1 - floor) * chance


@functools.cache
def _read_directions() -> LanguageDirections:
    import numpy as np

    stored = json.loads(DIRECTIONS_FILE.read_text(encoding="utf-8"))
    numbers = np.array(unpack_numbers("b", stored["numbers"]), np.float32) * stored["step"]
    return LanguageDirections(stored["model"], numbers.reshape(stored["languages"], -1))
