"""Words for dates: every language has the same tables, and no word in two places."""

from __future__ import annotations

import pytest

from hyperloci.text.language.dates import UNIT_SECONDS, languages
from hyperloci.text.language.told_languages import told_languages
from tests.text.language.dates.written_expressions import table


def test_each_language_has_the_same_tables() -> None:
    shapes = {
        language: {name: sorted(value) if name == "forms" else type(value) for name, value in table(language).items()}
        for language in (*languages(), *told_languages())
    }
    assert len(shapes) >= 2 and len({str(sorted(shape.items())) for shape in shapes.values()}) == 1
    for language in (*languages(), *told_languages()):
        found = table(language)
        assert [len(found[name]) for name in ("weekdays", "short_weekdays", "plural_weekdays")] == [7, 7, 7]
        assert [len(found[name]) for name in ("months", "seasons")] == [12, 4]
        assert set(found["units"]) - {"weekend"} <= set(UNIT_SECONDS)
        bounds = {"since", "starting", "after", "before", "by", "due", "between", "and", "from", "to"}
        assert set(found["bounds"]) == bounds
        assert set(found["days"]) == {"-2", "-1", "0", "1", "2"}


@pytest.mark.parametrize("language", (*languages(), *told_languages()))
def test_no_word_stands_for_two_days_months_units_or_numbers(language: str) -> None:
    found = table(language)
    for lists in (
        [*found["weekdays"], *found["short_weekdays"], *found["plural_weekdays"], *found["months"], *found["seasons"]],
        [*found["units"].values()],
        [*found["numerals"].values()],
    ):
        words = [word for words in lists for word in words.split()]
        assert len(words) == len(set(words)) and all(word == word.lower() for word in words)
