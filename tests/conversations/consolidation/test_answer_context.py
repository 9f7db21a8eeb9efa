"""What a short answer answers, and when it answers nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.answer_context import (
    MAX_CONTEXT_CHARS,
    chooses_option,
    find_answer_context,
    list_written_lines,
)
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, TurnView
from tests.support import examples

LISTED = "Three ways:\n\n1. Redis with a lock per tenant\n2. an advisory lock in Postgres\n3. nothing, and retry"
LETTERED = "Two ways:\na) keep the raw bytes\nb) normalise them on write"
INLINE = "Either (a) keep the raw bytes, or (b) normalise them on write"
COUNTED = "Both would do. 1. Metabase: you have it already. 2. Lightdash: reads the models"
QUESTION = "The tokens need a place. Should they live in Redis or in PostgreSQL?"
OFFER = "The parser is slow. I'd cache the parsed headers. The tests take a minute."


PLACED = (
    "I see two ways. First: keep the limit and try once more. Second: wait up to 1.5 seconds and do not try again. "
    "The second doubles nothing."
)
STEPS = "First: I read the module. Second: I raised the limit to 5. What is next?"


def context_of(answer: str, reply: str) -> str | None:
    return find_answer_context(answer, TurnView(0, ASSISTANT, reply))


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
def test_an_answer_that_names_an_option_answers_that_option(answer: str, reply: str, option: str) -> None:
    assert context_of(answer, reply) == option


@pytest.mark.parametrize(("reply", "about"), [(LISTED, None), (f"{LISTED}\n\nHow often?", "How often?")])
@pytest.mark.parametrize("answer", ["7", "(7)", "12."])
def test_a_number_that_no_option_has_answers_a_question_or_nothing(answer: str, reply: str, about: str | None) -> None:
    assert context_of(answer, reply) == about


def test_a_list_of_one_offers_no_choice() -> None:
    assert context_of("1, yes", "1. Should I drop the queue?") == "1. Should I drop the queue?"


@pytest.mark.parametrize("answer", ["PostgreSQL", "in PostgreSQL, we have no other store and want none of them"])
def test_a_question_is_what_is_answered(answer: str) -> None:
    assert context_of(answer, QUESTION) == "Should they live in Redis or in PostgreSQL?"


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("answer", "reply", "about"),
    [
        (
            "3",
            "Polling each minute empties the batteries. Keep it?",
            "Polling each minute empties the batteries. Keep it?",
        ),
        ("no, assets", "Fonts go into `public`. OK?", "Fonts go into `public`. OK?"),
        ("14", "Files stay for ten days. Or 14 for safety?", "Files stay for ten days. Or 14 for safety?"),
        ("0.01", "Understood. Which tolerance?", "Which tolerance?"),
        ("Postgres 16", "The index is rebuilt. Which database server do you run?", "Which database server do you run?"),
        ("no", f"{'The worker takes the lock of the row, then ' * 10}stops. OK?", "OK?"),
        ("no", "The worker takes the lock:\n```\nlock(row)\n```\nOK?", "OK?"),
    ],
)
def test_a_question_that_names_nothing_comes_with_the_sentence_before_it(answer: str, reply: str, about: str) -> None:
    assert context_of(answer, reply) == about


def test_of_several_questions_the_last_is_answered() -> None:
    assert context_of("yes", "Does it hang? I think so. Shall I restart it?") == "Shall I restart it?"


@pytest.mark.parametrize(
    ("answer", "about"),
    [
        ("yes, cache them", "I'd cache the parsed headers."),
        ("go ahead", "The tests take a minute."),
        ("never cache anything in here, the headers change with every request that comes", None),
        ("btw the release is on May 3, the customer asked for it again yesterday", None),
    ],
    ids=["shares a word", "bare assent", "names its subject", "about something else"],
)
def test_without_a_question_a_bare_answer_answers_what_shares_its_words(answer: str, about: str | None) -> None:
    assert context_of(answer, OFFER) == about


@pytest.mark.parametrize(
    ("remark", "reply"),
    [
        ("5 lives", "The board is 7x7."),
        ("watchdog 4 s", "Understood, I wait until the current is below 1 A."),
        ("hillshading runs server side please", "Agreed, the banner isn't needed."),
    ],
)
@pytest.mark.req("B.17")
def test_a_few_words_that_name_their_subject_do_not_answer_what_was_only_said_before_them(
    remark: str, reply: str
) -> None:
    assert context_of(remark, reply) is None
    assert context_of(remark, f"{reply} What else is open?") is not None


def test_nothing_was_said_and_nothing_is_answered() -> None:
    assert context_of("yes", "```\nx = 1\n```") is None


def test_a_long_question_is_cut_at_a_word() -> None:
    question = f"Shall I {'really ' * 60}delete it?"
    about = context_of("yes", question)
    assert about is not None
    assert len(about) <= MAX_CONTEXT_CHARS
    assert question.startswith(f"{about} ")


@given(st.text(max_size=80), st.text(max_size=500))
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_said_the_context_stands_in_the_reply_word_for_word(answer: str, reply: str) -> None:
    about = context_of(answer, reply)
    assert about is None or (about in reply and len(about) <= MAX_CONTEXT_CHARS)


def test_a_long_answer_that_passes_over_a_question_is_not_put_with_it() -> None:
    reply = TurnView(0, "assistant", "Here is the plan. Would you like any additional guidance?")
    told = "I moved the appointment with the notary to March 3 at two because my brother is away on Monday"
    assert find_answer_context(told, reply) is None
    assert find_answer_context("no, that is all", reply) == "Would you like any additional guidance?"


def test_steps_that_were_taken_are_no_options_for_an_answer_of_more_than_their_place() -> None:
    assert not chooses_option("first fix the tests, then merge it", TurnView(0, ASSISTANT, STEPS))
    assert chooses_option("the first", TurnView(0, ASSISTANT, STEPS))


EDIT = "Edit src/config.py: +1 -1 lines: `MAX_RETRIES = 3` became `MAX_RETRIES = 5`"
HEALTH = 'Edit deploy/app.json: +1 -1 lines: `{"path": "/health", "every": 3}` became `{"path": "/health", "every": 5}`'


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("action", "lines"),
    [
        (EDIT, ["config.py: `MAX_RETRIES = 5`"]),
        (EDIT.replace("src/", "C:\\shop\\"), ["config.py: `MAX_RETRIES = 5`"]),
        ("Edit a.py: +2 -2 lines: `A = 1` became `A = 2`, `B = 4` became `B = 5`", ["a.py: `B = 5`"]),
        ("Write a.py: 12 lines: `A = 1` became `A = 5`, `B = 4` became `B = 5`", ["a.py: `A = 5`", "a.py: `B = 5`"]),
        (HEALTH, ['app.json: `{"path": "/health", "every": 5}`']),
        ("Edit k8s.yml: +1 -1 lines: `image: reg/test/app:1` became `image: reg/test/app:5`", [
            "k8s.yml: `image: reg/test/app:5`"
        ]),
        ("Edit tests/test_config.py: +1 -1 lines: `assert retries == 3` became `assert retries == 5`", []),
        ("Edit C:\\tests\\config.py: +1 -1 lines: `RETRIES = 3` became `RETRIES = 5`", []),
        ("Edit alarm.conf: +1 -1 lines: `pin=5678 retries=3` became `pin=5678 retries=5`", []),
        ("Edit a.py and 2 more: +3 -3 lines: `A = 1` became `A = 5`", []),
        ("Edit src/config.py: +1 -1 lines: `MAX_RETRIES = 5` became `MAX_RETRIES = 6`", []),
        ("Edit src/config.py: +1 -1 lines", []),
        ("Bash: set-retries 5", []),
    ],
)  # fmt: skip
def test_the_lines_that_a_figure_came_into_are_told_with_their_file(action: str, lines: list[str]) -> None:
    assert list_written_lines(action, "make it 5") == lines


@pytest.mark.parametrize(
    ("said", "written", "is_told"),
    [("five minutes", "TTL = 300", True), ("one day", "SIZE = 24", False), ("a day, one day", "TTL = 86400", True)],
)
def test_a_figure_in_another_unit_is_told_from_where_it_is_no_chance(said: str, written: str, is_told: bool) -> None:
    edit = f"Edit a.py: +1 -1 lines: `{written.partition('=')[0]}= 7` became `{written}`"
    assert bool(list_written_lines(edit, said)) is is_told
