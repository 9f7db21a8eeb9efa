"""German numerals: one word, however long, and no word that only begins like one."""

from __future__ import annotations

import pytest

from hyperloci.text.language.german_numerals import read_german_numeral


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("zwei", 2),
        ("zwo", 2),
        ("zwölf", 12),
        ("zwoelf", 12),
        ("dreißig", 30),
        ("dreissig", 30),
        ("einundzwanzig", 21),
        ("hundert", 100),
        ("hunderteins", 101),
        ("hundertundzwei", 102),
        ("zwölfhundert", 1_200),
        ("zweitausendfünfhundert", 2_500),
        ("zweieinhalbtausend", 2_500),
        ("einhundertdreiundzwanzigtausendvierhundertsechsundfünfzig", 123_456),
        ("anderthalb", 1.5),
        ("eineinhalb", 1.5),
    ],
)
def test_a_number_of_one_word_is_read(word: str, number: float) -> None:
    assert read_german_numeral(word) == number


@pytest.mark.parametrize(
    "word",
    ["", "ein", "eine", "und", "achtung", "zwanzigste", "hunderte", "tausender", "einhalb", "hundertund", "einzig"],
)
def test_no_other_word_is_a_number(word: str) -> None:
    assert read_german_numeral(word) is None
