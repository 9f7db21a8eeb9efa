"""Hits as they are shown: questions lower, the one that is asked last."""

from __future__ import annotations

import pytest

from hyperloci.memory import Memory
from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker, Turn
from hyperloci.retrieval.order.later_sessions import only_asks
from tests.support import FakeClock

QUESTION = "which database do we use for the orders?"
RULE = "orders live in the Postgres database, we use nothing else"


def say(memory: Memory, clock: FakeClock, session: str, *texts: tuple[Speaker, str]) -> None:
    """Have a session in which these are said."""
    clock.advance(60_000)
    turns = [
        Turn(uuid=f"{session}/{n}", role=who, text=text, timestamp_ms=clock()) for n, (who, text) in enumerate(texts)
    ]
    memory.add_turns(session, turns)


def list_turns(memory: Memory, session: str) -> list[Node]:
    progress = memory.store.consolidations.get_progress(session)
    assert progress is not None
    return memory.store.consolidations.list_turns(progress.session_key, 0, 99)


def find(memory: Memory, query: str) -> list[str]:
    return [hit.content for hit in memory.search(query, content_type="any", limit=5).results]


@pytest.mark.req("B.12")
def test_the_prompt_that_is_being_answered_does_not_lead_the_answer(memory: Memory, clock: FakeClock) -> None:
    say(memory, clock, "earlier", (Speaker.USER, RULE), (Speaker.ASSISTANT, "Noted."))
    say(memory, clock, "now", (Speaker.USER, QUESTION))

    found = find(memory, "which database do we use for orders")

    assert found[0] == RULE
    assert found[-1] == QUESTION


def test_a_prompt_that_tells_something_too_is_a_hit_as_any_other(memory: Memory, clock: FakeClock) -> None:
    told = "the orders database moves to the Frankfurt region on Friday evening, ask Priya for access"
    say(memory, clock, "earlier", (Speaker.USER, "we use a database for the orders"), (Speaker.ASSISTANT, "Noted."))
    say(memory, clock, "now", (Speaker.USER, told))

    assert find(memory, "orders database Frankfurt region")[0] == told


def test_a_prompt_that_was_answered_stands_two_places_lower_than_by_its_words(memory: Memory, clock: FakeClock) -> None:
    say(memory, clock, "now", (Speaker.USER, QUESTION), (Speaker.ASSISTANT, "Let me look."), (Speaker.USER, "thanks"))
    say(memory, clock, "later", (Speaker.USER, "the database of the orders is slow"), (Speaker.ASSISTANT, "I see."))

    assert find(memory, QUESTION).index(QUESTION) == 2


def test_the_last_prompt_of_a_session_that_ended_stands_two_places_lower_too(memory: Memory, clock: FakeClock) -> None:
    say(memory, clock, "now", (Speaker.USER, QUESTION))
    say(memory, clock, "later", (Speaker.USER, "the database of the orders is slow"), (Speaker.ASSISTANT, "I see."))
    with memory.store.transaction():
        memory.store.sessions.end_session("now", now=clock())

    assert find(memory, QUESTION) == ["the database of the orders is slow", "I see.", QUESTION]


@pytest.mark.parametrize("text", ["which database for orders?", "订单用哪个数据库？", "ما قاعدة بيانات الطلبات؟"])
def test_a_prompt_that_ends_in_a_question_mark_of_any_script_asks(memory: Memory, clock: FakeClock, text: str) -> None:
    say(memory, clock, "now", (Speaker.USER, text))

    assert [only_asks(node) for node in list_turns(memory, "now")] == [True]


def test_an_answer_or_a_prompt_that_tells_something_too_does_not_only_ask(memory: Memory, clock: FakeClock) -> None:
    said = ("which one? the orders one", "the orders one is slow. why?")
    say(memory, clock, "now", (Speaker.ASSISTANT, "Which one?"), *((Speaker.USER, text) for text in said))

    assert not any(only_asks(node) for node in list_turns(memory, "now"))
