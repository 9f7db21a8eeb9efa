"""Which sentences lean on what was said before them, and which name what they are about."""

from __future__ import annotations

import pytest

from hyperloci.conversations.referents import count_subject_words, lacks_subject, leans_on_context

LEANING = ["make it 20", "delete the 3 not", "die 3", "that is too slow", "drop them", "не трогай их", "lass das so"]
STANDING = [
    "libyaml",
    "it must work offline",
    "never deploy it to the staging cluster",
    "make the pool 20",
    "`retry_all` stays, keep it",
    "we had that with the old scheduler too, in the spring, and it cost us a week of night shifts",
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize("text", LEANING)
def test_what_points_to_a_thing_without_its_name_leans_on_context(text: str) -> None:
    assert leans_on_context(text)


@pytest.mark.parametrize("text", STANDING)
def test_what_names_its_subject_leans_on_nothing(text: str) -> None:
    assert not leans_on_context(text)


def test_pronouns_numbers_days_and_words_of_degree_are_no_subject() -> None:
    assert count_subject_words("make it 20 by Friday, please, it is much too low") == 0
    assert count_subject_words("The pool has 10 connections") == 2
    assert count_subject_words("four then, or half of eighteen") == 0
    assert count_subject_words("mach zwölfhundert statt achthundert") == 0


def test_an_empty_text_leans_on_nothing() -> None:
    assert not leans_on_context("")


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    "text", [*LEANING, "4.99", "02:14", "20-30 s", "called it. make it 1-15s random", "No, that's it. Drop it then."]
)
def test_a_figure_or_sentences_that_all_lean_cannot_stand_alone(text: str) -> None:
    assert lacks_subject(text)


@pytest.mark.parametrize(
    "text", [*STANDING, "Postgres 16.2", "min ios 16", "Sessions go to Redis. It is fast enough.", "v2.1", ""]
)
def test_one_sentence_that_names_its_subject_is_enough(text: str) -> None:
    assert not lacks_subject(text)
