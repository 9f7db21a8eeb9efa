"""Chance cosine: what a floor means in a language that the bundled model hardly knows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.embedder.models.profile_models import load_light_encoder
from hyperloci.spaces.chance_cosine import add_chance, exceed_chance, measure_chance

# Two that have nothing in common; the directions were learned from neither.
ENGLISH = ("The map tiles are cached for a day.", "send the invoices now")
GERMAN = ("Die Kartenkacheln cachen wir einen Tag.", "verschick jetzt die Rechnungen")
SPANISH = ("Los mosaicos del mapa se cachean un día.", "envía ahora las facturas")
RUSSIAN = ("Плитки карты кэшируем на день.", "отправь сейчас счета")


@pytest.mark.parametrize("told", [GERMAN, SPANISH, RUSSIAN], ids=["German", "Spanish", "Russian"])
def test_what_has_nothing_in_common_but_its_language_is_not_near(settings: Settings, told: tuple[str, str]) -> None:
    encoder = load_light_encoder(settings)
    statement, request = encoder.encode(told)
    cosine = float(request @ statement)
    assert exceed_chance(cosine, measure_chance(encoder.model_id, request)) < 0.25 < cosine


def test_english_cosines_stay_as_they_are(settings: Settings) -> None:
    encoder = load_light_encoder(settings)
    assert [measure_chance(encoder.model_id, vector) for vector in encoder.encode(ENGLISH)] == [0.0, 0.0]


def test_of_a_model_that_was_not_learned_from_nothing_is_by_chance() -> None:
    assert measure_chance("another/384", np.full(384, 384**-0.5, dtype=np.float32)) == 0.0


@given(st.floats(-1, 1), st.floats(0, 0.9))
def test_a_floor_with_chance_is_met_by_what_exceeds_chance_as_far(floor: float, chance: float) -> None:
    assert exceed_chance(add_chance(floor, chance), chance) == pytest.approx(floor, abs=1e-9)
