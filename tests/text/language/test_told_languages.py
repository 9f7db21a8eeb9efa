"""Languages whose days are read only where a text tells that it is in them."""

from __future__ import annotations

import pytest

from hyperloci.text.language.dates import DateText
from hyperloci.text.language.told_languages import find_told, is_told, told_languages


def test_german_spanish_and_french_are_told() -> None:
    assert told_languages() == ("de", "es", "fr")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("was haben wir entschieden", "de"),
        ("seit gestern", "de"),
        ("qu'est-ce qu'on a décidé", "fr"),
        ("qué decidimos ayer", "es"),
    ],
)
def test_a_short_text_tells_its_language_and_no_other(text: str, language: str) -> None:
    words = DateText(text).words
    assert language in find_told(words)
    assert [each for each in told_languages() if is_told(each, words)] == [language]


@pytest.mark.parametrize(
    "text",
    [
        "what did we decide last week",
        "I am 12, so do in 2026 what you will",
        "my brother reads a book with the title 'gestern' in it",
        "a de facto standard",
        "la la la",
    ],
)
def test_english_and_what_is_of_several_languages_tells_none(text: str) -> None:
    assert not any(is_told(language, DateText(text).words) for language in told_languages())


@pytest.mark.parametrize(
    "text",
    [
        "hier ist mein Skript, und das hier kam gestern",
        "Der Drucker hier faucht wie eine Katze.",
        "el mar 5 es un nombre de tabla",
        "We keep the mai value in 7 jours of the config, and in 2 ans.",
        "Guten Morgen, am Morgen laufen die Backups langsam.",
        "Chaque lundi on lance le rapport, le vendredi aussi.",
        "Cada mañana se reinicia el servidor, y los lunes también.",
        "La fonction semaine_derniere() et la branche vendredi-fix, le canal #lundi.",
        "Wir nutzen Python 3.11. Danach kommt das Update.",
        "Il y a sept tests qui échouent, en sept minutes.",
        "Cela a été passé en revue par les équipes.",
    ],
)
def test_words_of_one_language_are_no_days_in_anothers_text(text: str) -> None:
    assert {found.text for found in DateText(text).find()} <= {"gestern"}


@pytest.mark.parametrize(
    "text", ["Der Commit vom 3 March 2026 ist das.", "Le commit du 5 May 2026 est dans la branche."]
)
def test_an_english_day_is_one_in_anothers_text(text: str) -> None:
    assert [found.year for found in DateText(text).find()] == [2026]
