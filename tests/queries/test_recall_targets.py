"""What a question asks of the memory itself."""

from __future__ import annotations

import pytest

from hyperloci.queries.recall_targets import RecallTarget, read_recall_request


@pytest.mark.parametrize(
    "query",
    [
        "What happened in the last session?",
        "where did we leave off?",
        "recap the previous conversation",
        "what did we work on yesterday?",
        "bring me up to speed",
        "what's left to do from last time?",
        "на чём остановились?",
    ],
)
def test_a_question_about_a_session_asks_for_sessions(query: str) -> None:
    request = read_recall_request(query)
    assert request is not None and request.target is RecallTarget.SESSIONS


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("What should I not try again?", RecallTarget.DEAD_END),
        ("which approaches did not work?", RecallTarget.DEAD_END),
        ("is there anything we ruled out?", RecallTarget.DEAD_END),
        ("что не сработало?", RecallTarget.DEAD_END),
        ("which decisions were made?", RecallTarget.DECISION),
        ("what are the rules here?", RecallTarget.CONSTRAINT),
        ("what are my preferences?", RecallTarget.PREFERENCE),
        ("who am I?", RecallTarget.PREFERENCE),
        ("what is my name?", RecallTarget.PREFERENCE),
        ("What do you know about me?", RecallTarget.PREFERENCE),
        ("which deadlines are ahead?", RecallTarget.DEADLINE),
    ],
)
def test_a_question_for_a_kind_asks_for_that_kind(query: str, target: RecallTarget) -> None:
    request = read_recall_request(query)
    assert request is not None and request.target is target and not request.subject


@pytest.mark.parametrize(
    "query",
    [
        "where is Session.flush implemented?",
        "what happens when a session expires?",
        "how does the last session of the pool get closed?",
        "why did the upload fail?",
        "the tests failed again",
        "how are rules parsed?",
        "where do user preferences get stored?",
        "who am I logged in as on staging?",
        "rename my name field",
        "I agree",
        "hello",
        "thanks",
        "",
    ],
)
def test_a_question_about_a_subject_asks_for_neither(query: str) -> None:
    assert read_recall_request(query) is None


@pytest.mark.req("B.05")
@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("commits", RecallTarget.COMMIT),
        ("decisions", RecallTarget.DECISION),
        ("changes", RecallTarget.SESSIONS),
        ("which commits did we make?", RecallTarget.COMMIT),
        ("what did we commit?", RecallTarget.COMMIT),
        ("did I make any commits", RecallTarget.COMMIT),
        ("what did we do?", RecallTarget.SESSIONS),
        ("what did we do in the session with the commits?", RecallTarget.SESSIONS),
        ("коммиты", RecallTarget.COMMIT),
        ("commits about the parser", None),
        ("who committed the parser?", None),
    ],
)
def test_a_noun_beside_a_time_asks_for_that_kind_of_that_time(query: str, target: RecallTarget | None) -> None:
    request = read_recall_request(query, is_dated=True)
    assert (request and request.target) == target
    assert read_recall_request("should I commit?") is None


@pytest.mark.req("B.05")
@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("what did we decide last week?", RecallTarget.DECISION),
        ("which decisions did we make yesterday?", RecallTarget.DECISION),
        ("what did I say I prefer last month?", RecallTarget.PREFERENCE),
        ("what did we decide in the last session?", RecallTarget.SESSIONS),
        ("what failed in the last session?", RecallTarget.SESSIONS),
        ("what did we do last week?", RecallTarget.SESSIONS),
        ("what was the outcome of the session with the commits?", RecallTarget.SESSIONS),
    ],
)
def test_a_kind_of_the_past_is_asked_for_unless_a_session_is_named(query: str, target: RecallTarget) -> None:
    request = read_recall_request(query)
    assert request is not None and request.target is target


def test_what_narrows_a_kind_is_its_subject() -> None:
    request = read_recall_request("what did we try for the uploader that didn't work?")
    assert request is not None and request.target is RecallTarget.DEAD_END and request.subject == "uploader"


def test_several_sessions_are_asked_for_in_so_many_words() -> None:
    one, several = (
        read_recall_request(f"what did we do in the {words}?") for words in ("last session", "last sessions")
    )
    assert one is not None and several is not None
    assert not one.is_about_several and several.is_about_several


def test_a_long_text_is_no_question() -> None:
    assert read_recall_request("what happened in the last session? " * 10) is None
