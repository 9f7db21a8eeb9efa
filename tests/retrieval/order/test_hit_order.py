"""Hits as they are shown: the question itself last."""

from __future__ import annotations

import pytest

from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
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


def test_a_prompt_that_was_answered_is_a_hit_as_any_other(memory: Memory, clock: FakeClock) -> None:
    say(memory, clock, "now", (Speaker.USER, QUESTION), (Speaker.ASSISTANT, "Let me look."), (Speaker.USER, "thanks"))
    say(memory, clock, "later", (Speaker.USER, "the database of the orders is slow"), (Speaker.ASSISTANT, "I see."))

    assert find(memory, QUESTION)[0] == QUESTION


def test_the_last_prompt_of_a_session_that_ended_is_a_hit_as_any_other(memory: Memory, clock: FakeClock) -> None:
    say(memory, clock, "now", (Speaker.USER, QUESTION))
    say(memory, clock, "later", (Speaker.USER, "the database of the orders is slow"), (Speaker.ASSISTANT, "I see."))
    with memory.store.transaction():
        memory.store.sessions.end_session("now", now=clock())

    assert find(memory, QUESTION)[0] == QUESTION
