"""Every expression of a date that the files of languages tell of."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperloci.text.language import word_tables
from hyperloci.text.language.dates import Form, date_words, languages

DATA = Path(word_tables.__file__).parent / "data"
HOURS = ("second", "minute", "hour")


def table(language: str) -> dict[str, Any]:
    """Return a language's tables of dates."""
    with (DATA / f"{language}.toml").open("rb") as file:
        return tomllib.load(file)["dates"]  # type: ignore[no-any-return]


def words_of(language: str, place: str) -> list[str]:
    """Return what may stand in a place of a form, the commonest first."""
    words = date_words(language)
    tables: Mapping[str, list[str]] = {
        "{count}": ["2", *words.counts, *words.vague_counts],
        "{unit}": sorted(
            (word for word, unit in words.units.items() if unit in (*HOURS, "day", "week", "month", "year")),
            key=lambda word: words.units[word] in HOURS,
        ),
        "{period}": [word for word, unit in words.units.items() if unit in ("week", "month", "year", "weekend")],
        "{weekday}": [*words.weekdays],
        "{short_weekday}": [*words.short_weekdays],
        "{any_weekday}": [*words.weekdays],
        "{month_number}": ["10", "08"],
        "{span}": [word for word, unit in words.units.items() if unit != "weekend"],
        "{month}": [*words.months],
        "{sure_month}": [month for month in words.months if month not in words.unsure_months],
        "{season}": [*words.seasons],
        "{sure_season}": [season for season in words.seasons if season not in words.unsure_seasons],
        "{ordinal}": [*words.ordinal_words],
        "{day}": ["5", *(f"5{ending}" for ending in words.ordinals)],
        "{year}": ["2026"],
    }
    optional, place = place.endswith("?"), place.removesuffix("?")
    found = [word for name in place.split("|") for word in tables.get(name, [name])]
    return [*found, ""] if optional else found


def expressions(language: str) -> Iterator[tuple[Form, str]]:
    """Yield every form of a language with every word in each of its places, the others' being the commonest."""
    forms = [(Form.DAY, texts) for texts in table(language)["days"].values()]
    forms += [(Form(form), texts) for form, texts in table(language)["forms"].items() if form != Form.ALONE]
    for form, texts in forms:
        for text in texts:
            places = [words_of(language, place) for place in text.split() if not place.startswith("!")]
            for varied, place in enumerate(places):
                for word in place:
                    chosen = [word if at == varied else each[0] for at, each in enumerate(places)]
                    yield form, " ".join(filter(None, chosen))


EXPRESSIONS = sorted({(form, text) for language in languages() for form, text in expressions(language)})
