"""Expressions of dates: their words as data, and that all readers understand the same ones."""

from __future__ import annotations

import datetime as dt
import itertools
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.clock import from_iso
from hyperloci.errors import BadRequestError
from hyperloci.retrieval.time_bounds import find_time_bounds, parse_time_bound
from hyperloci.text.language import dates
from hyperloci.text.language.dates import DateText, Form, clock_minutes, date_words, languages
from hyperloci.text.language.relative_dates import find_relative_dates
from hyperloci.text.language.told_languages import told_languages
from tests.support import NOW, examples

DATA = Path(dates.__file__).parent / "data"
TODAY = dt.date(2027, 1, 15)
NOTHING_NEW = ("this week", "this month", "this year")
HOURS = ("second", "minute", "hour")
TELLING = {"de": "sie und er", "es": "para que también", "fr": "elle et vous"}
"""Words that tell a language, and no day."""


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
        assert set(found["units"]) - {"weekend"} <= set(dates.UNIT_SECONDS)
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


def test_every_form_of_every_language_is_read_whole_in_all_its_words() -> None:
    unread = {
        text: [(each.form, each.text) for each in DateText(text).find()]
        for form, text in EXPRESSIONS
        if [(each.form, each.text) for each in DateText(text).find()] != [(form, text)]
    }
    assert unread == {}


@pytest.mark.parametrize("language", told_languages())
def test_every_form_is_read_whole_where_its_language_is_told(language: str) -> None:
    texts = {(form, text): f"{TELLING[language]} ( {text} )" for form, text in expressions(language)}
    unread = {
        text: [(each.form, each.text) for each in DateText(text).find()]
        for expected, text in texts.items()
        if [(each.form, each.text) for each in DateText(text).find()] != [expected]
    }
    assert unread == {}


def test_no_expression_is_understood_in_a_question_and_not_in_a_turn_or_the_other_way_round() -> None:
    """What a turn leaves out, it leaves out on purpose: vague, named outright, within the day, or now."""
    for _, text in EXPRESSIONS:
        (expression,) = DateText(text).find()
        assert find_time_bounds(text, NOW) is not None, text
        assert isinstance(parse_time_bound(text, NOW), int), text
        silent = (
            expression.vague
            or expression.form is Form.NAMED
            or expression.unit in HOURS
            or (expression.form is Form.DAY and expression.count == 0)
            or (expression.form is Form.THIS and expression.unit in ("week", "month", "year"))
        )
        assert bool(find_relative_dates(text, NOW)) != silent, text


def test_both_readers_mean_the_same_day_where_an_expression_is_one() -> None:
    for _, text in EXPRESSIONS:
        spoken, bounds = find_relative_dates(text, NOW), find_time_bounds(text, NOW)
        assert bounds is not None
        if bounds.before is not None and spoken and spoken[0].until - spoken[0].since == 86_400_000:
            assert (bounds.after, bounds.before) == (spoken[0].since, spoken[0].until), text


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("last January", "2026-01-01", "2026-02-01"),
        ("this January", "2027-01-01", "2027-02-01"),
        ("next January", "2028-01-01", "2028-02-01"),
        ("in February", "2026-02-01", "2026-03-01"),
        ("this February", "2027-02-01", "2027-03-01"),
        ("on Friday", "2027-01-08", "2027-01-09"),
        ("this Friday", "2027-01-15", "2027-01-16"),
        ("over the past two weeks", "2027-01-01", "2027-01-16"),
        ("позапрошлой неделе", "2026-12-28", "2027-01-04"),
        ("в последние выходные", "2027-01-09", "2027-01-11"),
        ("last autumn", "2026-09-01", "2026-12-01"),
        ("this spring", "2027-03-01", "2027-06-01"),
        ("in summer 2025", "2025-06-01", "2025-09-01"),
        ("in the fall of 2025", "2025-09-01", "2025-12-01"),
        ("this winter", "2026-12-01", "2027-03-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("next winter", "2027-12-01", "2028-03-01"),
        ("in winter 2026", "2026-12-01", "2027-03-01"),
        ("in winter 2027", "2026-12-01", "2027-03-01"),
        ("in winter 2028", "2027-12-01", "2028-03-01"),
        ("весной", "2026-03-01", "2026-06-01"),
        ("прошлой осенью", "2026-09-01", "2026-12-01"),
        ("летом 2025 года", "2025-06-01", "2025-09-01"),
        ("on 3rd of March, 2024", "2024-03-03", "2024-03-04"),
        ("5 марта 2024", "2024-03-05", "2024-03-06"),
    ],
)
def test_an_expression_means_days_of_the_calendar(text: str, first: str, end: str) -> None:
    (expression,) = DateText(text).find()
    assert [day.isoformat() for day in expression.days(TODAY)] == [first, end]


@pytest.mark.parametrize(
    "text",
    [
        "the next day",
        "on Mondays",
        "get_last_week()",
        "twenty five days ago",
        "3.5 days ago",
        "May I?",
        "go back to 2",
        "beans in Spring",
        "из лета",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert [*DateText(text).find()] == []


def test_a_month_or_year_by_itself_is_a_date_where_one_is_expected() -> None:
    assert DateText("March").read(0) is None and DateText("March").read(0, alone=True) is not None
    assert parse_time_bound("March 2026", NOW) == from_iso("2026-03-01")
    assert parse_time_bound("summer", NOW) == from_iso("2026-06-01")
    assert parse_time_bound("fall 2025", NOW) == from_iso("2025-09-01")
    assert parse_time_bound("last Friday", NOW) == from_iso("2027-01-08")
    with pytest.raises(BadRequestError):
        parse_time_bound("March of the penguins", NOW)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("3:30 pm", 930), ("3pm", 900), ("12:05am", 5), ("17:05", 1_025), ("3", None), ("3:3", None), ("noon", None)],
)
def test_a_time_of_day_is_minutes_since_midnight(text: str, minutes: int | None) -> None:
    assert clock_minutes(text) == minutes


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from([text for _, text in EXPRESSIONS] + [*"_,.'’ \n", "the", "в", "7"]), max_size=12))
def test_expressions_lie_in_order_and_hold_what_the_text_does(parts: list[str]) -> None:
    text = DateText(" ".join(parts))
    found = [*text.find()]
    for one, other in itertools.pairwise(found):
        assert one.first < one.end <= other.first < other.end
    assert all(each.text in text.text for each in found)


def test_templates_with_the_same_place_hold_one_table_of_its_words() -> None:
    templates = {id(template): template for several in dates._templates("").values() for template in several}
    places = [place for template in templates.values() for place in template[2]]
    assert len({id(said) for _, _, said in places}) < len(places) / 3
