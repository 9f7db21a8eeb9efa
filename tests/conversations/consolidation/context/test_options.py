"""What a reply offers to choose from, and which of it an answer names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.context.options import find_option, names_no_option
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, TurnView
from tests.support import examples

LISTED = "Three ways:\n\n1. Redis with a lock per tenant\n2. an advisory lock in Postgres\n3. nothing, and retry"
LETTERED = "Two ways:\na) keep the raw bytes\nb) normalise them on write"
INLINE = "Either (a) keep the raw bytes, or (b) normalise them on write"
COUNTED = "Both would do. 1. Metabase: you have it already. 2. Lightdash: reads the models"
PLACED = (
    "I see two ways. First: keep the limit and try once more. Second: wait up to 1.5 seconds and do not try again. "
    "The second doubles nothing."
)
STEPS = "First: I read the module. Second: I raised the limit to 5. What is next?"


def option_of(answer: str, reply: str) -> str | None:
    option = find_option(answer, TurnView(0, ASSISTANT, reply))
    if option is None:
        return None
    assert reply[option.start :].lstrip().startswith(option.text)
    return option.text


OPTIONS = [
    ("2", LISTED, "an advisory lock in Postgres"),
    ("2. we have no redis", LISTED, "an advisory lock in Postgres"),
    ("1) then", LISTED, "Redis with a lock per tenant"),
    ("b, always", LETTERED, "normalise them on write"),
    ("(B) it is", LETTERED, "normalise them on write"),
    ("(a) please", INLINE, "keep the raw bytes, or"),
    ("the first one", LISTED, "Redis with a lock per tenant"),
    ("let's take the third", LISTED, "nothing, and retry"),
    ("the last one, it's simplest", LISTED, "nothing, and retry"),
    ("the latter", LETTERED, "normalise them on write"),
    ("второй вариант", LISTED, "an advisory lock in Postgres"),
    ("i take the first, is more easy", LISTED, "Redis with a lock per tenant"),
    ("option b for now", LETTERED, "normalise them on write"),
    ("number 3 please", LISTED, "nothing, and retry"),
    ("die zwei", LISTED, "an advisory lock in Postgres"),
    ("the second, she will be glad", COUNTED, "Lightdash: reads the models"),
    ("1", COUNTED, "Metabase: you have it already."),
    ("The second.", PLACED, "wait up to 1.5 seconds and do not try again."),
    ("first one please", PLACED, "keep the limit and try once more."),
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("answer", "reply", "option"), OPTIONS)
def test_an_answer_names_an_option_by_its_mark_or_place(answer: str, reply: str, option: str) -> None:
    assert option_of(answer, reply) == option


@pytest.mark.parametrize("answer", ["7", "(7)", "12."])
def test_a_number_that_no_option_has_names_none(answer: str) -> None:
    assert option_of(answer, LISTED) is None
    assert names_no_option(answer, TurnView(0, ASSISTANT, LISTED))
    assert not names_no_option(answer, TurnView(0, ASSISTANT, "How many?"))


def test_an_option_without_words_is_none() -> None:
    assert option_of("the first", "First: Second: keep the limit") is None


def test_a_list_of_one_offers_no_choice() -> None:
    assert option_of("1, yes", "1. Should I drop the queue?") is None


def test_steps_that_were_taken_are_no_options_for_an_answer_of_more_than_their_place() -> None:
    assert option_of("first fix the tests, then merge it", STEPS) is None
    assert option_of("the first", STEPS) == "I read the module."


@given(st.text(max_size=80), st.text(max_size=500))
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_said_an_option_stands_in_the_reply_word_for_word(answer: str, reply: str) -> None:
    option = option_of(answer, reply)
    assert option is None or option in reply
