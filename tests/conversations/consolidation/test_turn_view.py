"""What extraction reads of a turn, and what it passes over."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.turn_view import (
    ACTION,
    ASSISTANT,
    MAX_READ_CHARS,
    MAX_SENTENCE_CHARS,
    USER,
    TurnView,
    find_reply_after,
    find_reply_before,
    read_sentences,
)


def sentences_of(text: str) -> list[str]:
    return [sentence.text for sentence in read_sentences(text)]


def test_sentences_know_where_they_stand() -> None:
    text = "  We drop the queue. Nobody reads it!\n\nIs that fine?"
    found = read_sentences(text)
    assert [sentence.text for sentence in found] == ["We drop the queue.", "Nobody reads it!", "Is that fine?"]
    assert [text[sentence.start : sentence.end] for sentence in found] == [sentence.text for sentence in found]
    assert [sentence.is_question for sentence in found] == [False, False, True]


PASSED_OVER = {
    "code": "```\nWe decided to drop it.\n```",
    "a quotation": "> We decided to drop it.",
    "a table": "| We decided | to drop it |",
    "a title": "# We decided to drop it",
    "a log": "2027-01-15 13:30:00 We decided to drop it",
    "a level": "[WARN] We decided to drop it",
    "a traceback": 'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: We decided to drop it',
    "a command": "$ git commit -m 'We decided to drop it'",
    "a difference": "+++ b/we decided",
    "a statement of a language": "return we_decided(to_drop);",
    "markup": "<log>We decided to drop it.</log>",
    "signs": "--- !!! ???",
}


@pytest.mark.req("B.17")
@pytest.mark.parametrize("text", PASSED_OVER.values(), ids=PASSED_OVER)
def test_what_was_pasted_is_passed_over_and_what_is_beside_it_is_read(text: str) -> None:
    assert sentences_of(f"First this.\n{text}\nThen that.") == ["First this.", "Then that."]


def test_an_element_that_is_never_closed_hides_nothing() -> None:
    assert sentences_of("Use List<int> here. It is faster.") == ["Use List<int> here.", "It is faster."]


def test_elements_of_one_name_hide_what_is_in_each_of_them_alone() -> None:
    assert sentences_of("<a>one.</a>\nWe keep two.\n<a>three.</a>") == ["We keep two."]


def test_a_sentence_without_an_end_and_what_lies_far_behind_are_passed_over() -> None:
    assert sentences_of("word " * MAX_SENTENCE_CHARS + "end. Short one.") == ["Short one."]
    assert "Far away." not in sentences_of("Near. " * MAX_READ_CHARS + "Far away.")


TURNS = [
    TurnView(0, USER, "Which queue?"),
    TurnView(1, ASSISTANT, "The mail queue."),
    TurnView(2, ACTION, "Read queue.py"),
    TurnView(3, USER, "drop it"),
    TurnView(4, USER, "now"),
    TurnView(5, ACTION, "Edit queue.py"),
    TurnView(6, ASSISTANT, "Dropped."),
]


@pytest.mark.parametrize(("at", "before", "after"), [(0, None, 1), (3, 1, None), (4, None, 6)])
def test_what_was_answered_and_what_came_after_skip_actions_but_no_words(
    at: int, before: int | None, after: int | None
) -> None:
    found = (find_reply_before(TURNS, at), find_reply_after(TURNS, at))
    assert [None if turn is None else turn.seq for turn in found] == [before, after]


def test_a_suspicious_reply_is_no_context() -> None:
    turns = [TurnView(0, ASSISTANT, "Always push to main, yes?", is_flagged=True), TurnView(1, USER, "yes")]
    assert find_reply_before(turns, 1) is None


TOLD_AND_ASKED = {
    "We have 48 guests now, can you book the larger room?": ["We have 48 guests now", "can you book the larger room?"],
    "The rent went up to 940 in July and I was wondering if that is legal": [
        "The rent went up to 940 in July",
        "and I was wondering if that is legal",
    ],
    "If we take the larger room, can you book it?": ["If we take the larger room, can you book it?"],
    "sorry, but can you book it?": ["sorry, but can you book it?"],
}


@pytest.mark.parametrize("text", TOLD_AND_ASKED)
def test_what_the_user_tells_and_what_they_ask_in_one_sentence_are_two(text: str) -> None:
    parts = TurnView(0, USER, text).sentences
    assert [part.text for part in parts] == TOLD_AND_ASKED[text]
    assert [text[part.start : part.end] for part in parts] == TOLD_AND_ASKED[text]
    assert len(TurnView(0, ASSISTANT, text).sentences) == 1


def test_a_sentence_knows_whether_it_stands_in_a_quotation() -> None:
    turn = TurnView(0, USER, 'She wrote: "Please use the old port. It is free from May on." We keep ours.')
    quoted = [sentence.text for number, sentence in enumerate(turn.sentences) if turn.is_quoted(number)]
    assert quoted[-1].startswith("It is free")
    assert "We keep ours." not in quoted


@pytest.mark.parametrize(
    "text",
    [
        "from now on: always squash-merge pull requests.",
        "Error messages are always in German, never in English",
        "let's use Postgres (version 15) for it",
        "at standup 9:30 we decided to drop it",
        "use tabs; nothing else;",
        "Exception handling stays in the middleware: never swallow one",
        "import the csv nightly: 3 am",
        "return codes: 0 is fine; 1 is not",
        "class names: PascalCase",
        "public holidays: no deploys",
        "#412 is settled, we take the second",
    ],
)
def test_what_people_begin_as_code_does_is_read(text: str) -> None:
    assert sentences_of(text)


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: x is not a function",
        "    at foo (/a/b.js:12:3)",
        "at com.x.Y.z(Y.java:10)",
        "let y = z;",
        "return x;",
        "foo(bar);",
        "def foo(self):",
        "class Foo:",
        "from a.b import c",
        "import x from 'y'",
        "SELECT a FROM b",
        "public static void main(String[] args) {",
    ],
)
def test_a_line_of_code_or_of_a_trace_is_passed_over(line: str) -> None:
    assert sentences_of(line) == []
