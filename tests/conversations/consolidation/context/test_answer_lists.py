"""Answer lists: each numbered item of an answer stands behind the question that it answers."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.context.answer_lists import (
    QUESTION_CHARS,
    AnsweredQuestion,
    find_answered_questions,
)
from hyperloci.conversations.consolidation.context.finder import find_context
from hyperloci.conversations.consolidation.context.options import find_choice
from hyperloci.conversations.consolidation.context.scorer import Statement
from hyperloci.conversations.consolidation.statement_reading import describe_sentence
from hyperloci.conversations.consolidation.turn_view import ACTION, ASSISTANT, USER, TurnView

REPLY = """Good idea! Let me clarify a few things:

1. **Storage**: Should tickets live in their own table, or as JSON on the event?

2. **Deletion**: When an organiser removes one:
   - Should it be gone for good?
   - Or only hidden?

3. **Scanning** - Which phones do the people at the door have?

Let me know and I'll build it!"""
ANSWER = "1. own table\n2. only hidden\n3. old androids, android 9 at best"


def read_answers(answer: str, *replies: str) -> tuple[AnsweredQuestion, ...]:
    """Return what an answer to some messages of the assistant's answers."""
    turns = [TurnView(0, USER, "tickets please"), *(TurnView(1, ASSISTANT, reply) for reply in replies)]
    return find_answered_questions([*turns, TurnView(9, USER, answer)], len(turns))


@pytest.mark.req("B.17")
def test_each_item_is_told_with_the_question_of_its_mark() -> None:
    asked = read_answers(ANSWER, REPLY)
    assert [each.text for each in asked] == [
        "1. Storage: Should tickets live in their own table, or as JSON on the event?",
        "2. Deletion: When an organiser removes one: … Should it be gone for good?",
        "3. Scanning - Which phones do the people at the door have?",
    ]
    assert [ANSWER[each.start : each.end].strip() for each in asked] == ANSWER.splitlines()


@pytest.mark.parametrize(
    ("answer", "marks"),
    [("1. own table\n3. old androids", ["1", "3"]), ("ok:\n\n2) hidden\n3) old ones\n\nthanks", ["2", "3"])],
)
def test_some_of_the_questions_may_be_left_out(answer: str, marks: list[str]) -> None:
    assert [each.text[0] for each in read_answers(answer, REPLY)] == marks


def test_numbered_headings_and_letters_are_lists_too() -> None:
    guests = "### A. **Guests**\n- **Confirm**: one order for each guest, correct?"
    reply = f"{guests}\n\n### B. **Receipts**\nWhose name is on them?"
    told = [each.text for each in read_answers("a) yes\nb) the guest's", reply)]
    assert told == ["a. Guests … Confirm: one order for each guest, correct?", "b. Receipts … Whose name is on them?"]


@pytest.mark.parametrize(
    ("reply", "answer", "told"),
    [
        (
            "Before I begin: 1. which part hurts most? 2. may I change the database? Then I start.",
            "1 the stock. 2 yes, but not in 2 weeks",
            {"1. which part hurts most?": "1 the stock.", "2. may I change the database?": "2 yes, but not in 2 weeks"},
        ),
        (
            "Two things:\n1. Who signs?\n2. Mail or pager?",
            "1 Mrs Adeyemi 2 later",
            {"1. Who signs?": "1 Mrs Adeyemi", "2. Mail or pager?": "2 later"},
        ),
        (
            "a) Which names? b) Which pictures?",
            "a no names. b only the dress",
            {"a. Which names?": "a no names.", "b. Which pictures?": "b only the dress"},
        ),
    ],
)
def test_marks_may_stand_within_a_line(reply: str, answer: str, told: dict[str, str]) -> None:
    assert {each.text: answer[each.start : each.end].strip() for each in read_answers(answer, reply)} == told


def test_of_several_lists_the_one_that_asks_is_answered() -> None:
    reply = f"1. I added a table.\n2. I ran it.\n3. All is green.\n\n{REPLY}\n\n1. first this\n2. then that\n3. ok"
    assert read_answers(ANSWER, reply)[0].text.startswith("1. Storage")


def test_questions_are_found_behind_which_the_assistant_went_on() -> None:
    (first, *_) = read_answers(ANSWER, REPLY, "Meanwhile I look at the schema.")
    assert first.turn.text == REPLY


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("1. rename it\n2. push it", "1. I added a table.\n2. I ran the migration."),
        ("1. own table\n2. hidden\n3. old ones\n4. and a logo", REPLY),
        ("2. hidden", REPLY),
        ("2. hidden\n1. own table", REPLY),
        ("own table, hidden, old androids", REPLY),
        (ANSWER, "Which of them?"),
        ("1 and 2 please", REPLY),
        ("in 1 week 2 of us leave", REPLY),
        ("a table of 2 columns", "1. One table? 2. Two columns?"),
    ],
    ids=[
        "nothing was asked",
        "more than was asked",
        "one alone",
        "out of order",
        "no list",
        "no list was asked",
        "two are chosen",
        "no mark begins it",
        "a word like a mark",
    ],
)
def test_other_lists_answer_nothing(answer: str, reply: str) -> None:
    assert read_answers(answer, reply) == ()


def test_what_was_asked_before_the_users_last_words_is_answered_already() -> None:
    turns = [TurnView(0, ASSISTANT, REPLY), TurnView(1, USER, "later"), TurnView(2, ASSISTANT, "Fine.")]
    assert find_answered_questions([*turns, TurnView(3, USER, ANSWER)], 3) == ()
    assert find_answered_questions([TurnView(0, USER, ANSWER)], 0) == ()


def test_what_follows_the_last_item_behind_an_empty_line_answers_no_question() -> None:
    answer = "1. own table\n\n2. only hidden\n\nAlso, we never deploy on Fridays."
    turns = [TurnView(0, ASSISTANT, REPLY), TurnView(1, USER, answer)]
    assert [answer[each.start : each.end].strip() for each in find_answered_questions(turns, 1)] == [
        "1. own table",
        "2. only hidden",
    ]
    before, _ = describe_sentence(turns, 1, len(turns[1].sentences) - 1)
    assert not before.startswith("2. Deletion")


def test_an_item_goes_on_the_last_list_that_lacks_it() -> None:
    reply = "1. Which colours?\n1. Red?\n2. Or blue?\n2. Which fonts?\n3. Which size?"
    assert [each.text for each in read_answers("1. red\n2. mono\n3. ten", reply)] == [
        "1. Which colours?",
        "2. Which fonts?",
        "3. Which size?",
    ]


def test_a_long_question_is_cut_at_a_word() -> None:
    asked = read_answers("1. yes\n2. no", f"1. {'Is this so, and that too ' * 20}?\n2. Is it?")
    assert len(asked[0].text) <= QUESTION_CHARS + len("1. ")
    assert asked[0].text.endswith(("Is", "this", "so,", "and", "that", "too"))


@pytest.mark.req("B.17")
def test_a_statement_of_several_items_is_told_with_their_questions() -> None:
    turns = [TurnView(0, ASSISTANT, REPLY), TurnView(1, ACTION, "Bash: ls"), TurnView(2, USER, ANSWER)]
    context = find_context(Statement(turns, 2, ANSWER.index("2."), len(ANSWER)), with_lines=True)
    assert context is not None
    assert context.turn is turns[0]
    assert context.text == (
        "2. Deletion: When an organiser removes one: … Should it be gone for good? … "
        "3. Scanning - Which phones do the people at the door have?"
    )


def test_an_item_is_read_behind_its_question_and_chooses_no_option() -> None:
    turns = [TurnView(0, ASSISTANT, REPLY), TurnView(1, USER, "1. own table\n2. hidden")]
    before, told = describe_sentence(turns, 1, len(turns[1].sentences) - 1)
    assert before.startswith("2. Deletion: When an organiser removes one")
    assert told.endswith("hidden")
    assert find_choice(turns, 1) is None
