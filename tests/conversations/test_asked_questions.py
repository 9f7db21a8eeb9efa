"""Asked questions: whatever a question or an answer holds, both come back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.asked_questions import (
    MAX_ANSWER_CHARS,
    MAX_QUESTION_CHARS,
    format_answers,
    format_questions,
    read_answers,
)
from tests.support import examples

SHORT = st.text(max_size=60)


@given(st.dictionaries(SHORT, SHORT, max_size=4))
@hypothesis_settings(max_examples=examples(200))
def test_answers_are_read_as_they_were_given(answers: dict[str, str]) -> None:
    assert dict(read_answers(format_answers(answers))) == answers


def test_an_answer_stays_with_its_question_whatever_both_hold() -> None:
    answers = {
        "Where do tokens live -> and why?": "SQLite; it is one file",
        "How often should a call retry? " + "Details. " * 60: 'five times, "backoff" doubled',
        "Which queue?": "RabbitMQ",
    }
    (first, second, third) = read_answers(format_answers(answers))
    assert first == ("Where do tokens live -> and why?", "SQLite; it is one file")
    assert second[1] == 'five times, "backoff" doubled' and len(second[0]) <= MAX_QUESTION_CHARS + 2
    assert third == ("Which queue?", "RabbitMQ")


def test_of_a_long_answer_the_beginning_is_kept_and_what_follows_it_whole() -> None:
    (first, second) = read_answers(format_answers({"One?": "long " * 400, "Two?": "RabbitMQ"}))
    assert first[1].startswith("long long") and MAX_ANSWER_CHARS - 5 < len(first[1]) <= MAX_ANSWER_CHARS + 2
    assert second == ("Two?", "RabbitMQ")
    ((_, unbroken),) = read_answers(format_answers({"One?": "x" * 2_000}))
    assert unbroken == f"{'x' * MAX_ANSWER_CHARS} …"


def test_a_line_that_was_cut_gives_what_is_whole_and_questions_alone_give_nothing() -> None:
    line = format_answers({"One?": "yes", "Two?": "no"})
    assert list(read_answers(line[:-3])) == [("One?", "yes")]
    assert list(read_answers(format_questions(["One?", "Two?"]))) == []
    assert list(read_answers(format_questions(['"tabs" -> "spaces"?']))) == []
    assert list(read_answers("Bash: make")) == []
