"""Forms of expressions: each is read in all its words, and all readers understand the same ones."""

from __future__ import annotations

import pytest

from hyperloci.retrieval.time_bounds import find_time_bounds, parse_time_bound
from hyperloci.text.language.dates import DateText, Form, forms
from hyperloci.text.language.relative_dates import find_relative_dates
from hyperloci.text.language.told_languages import told_languages
from tests.support import NOW
from tests.text.language.dates.written_expressions import EXPRESSIONS, HOURS, expressions

TELLING = {"de": "sie und er", "es": "para que también", "fr": "elle et vous"}
"""Words that tell a language, and no day."""


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


def test_templates_with_the_same_place_hold_one_table_of_its_words() -> None:
    templates = {id(template): template for several in forms._templates("").values() for template in several}
    places = [place for template in templates.values() for place in template[2]]
    assert len({id(said) for _, _, said in places}) < len(places) / 3
