"""A session as it was."""

from __future__ import annotations

import pytest

from hyperloci.conversations.capture.shown_memories import Injection, save_injection
from hyperloci.errors import NotFoundError
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from hyperloci.queries.session_replay import PAGE_TURNS
from tests.support import NOW, FakeClock

MINUTE = 60_000


def talk(memory: Memory, count: int, session: str = "one") -> None:
    turns = [
        Turn(
            uuid=f"{session}-{number}",
            role=Speaker.USER if number % 2 == 0 else Speaker.ASSISTANT,
            text=f"Turn {number} of the talk.",
            timestamp_ms=NOW + number * MINUTE,
        )
        for number in range(count)
    ]
    memory.add_turns(session, turns)


def test_pages_of_a_session_hold_each_turn_once(memory: Memory) -> None:
    talk(memory, 2 * PAGE_TURNS + 5)
    seen: list[str] = []
    first: int | None = 0
    while first is not None:
        page = memory.replay_session("one", first)
        seen += [turn.memory.content for turn in page.turns]
        first = page.later
    assert seen == [f"Turn {number} of the talk." for number in range(2 * PAGE_TURNS + 5)]
    assert memory.replay_session("one", PAGE_TURNS).earlier == 0
    assert memory.replay_session("one", 10**9).turns[-1].memory.content == seen[-1]


def test_what_was_put_before_the_assistant_stands_where_it_was(memory: Memory, clock: FakeClock) -> None:
    clock.advance(10**9)  # To when all of it has been said.
    talk(memory, PAGE_TURNS + 3)
    shown = memory.remember_fact("Berlin has a river.").id
    moments = {"start": -MINUTE, "first": 0, "edge": (PAGE_TURNS - 1) * MINUTE + 5, "last": 10**9}
    for name, at in moments.items():
        session = memory.store.sessions.get_session("one")
        assert session is not None
        with memory.store.transaction():
            save_injection(memory.store, session, Injection(name, "prompt", NOW + at, (shown,)), anew=False)
    first, second = memory.replay_session("one"), memory.replay_session("one", PAGE_TURNS)
    assert len(first.begun_with) == 1
    assert second.begun_with == ()
    assert [i for i, turn in enumerate(first.turns) if turn.injected] == [0, PAGE_TURNS - 1]
    assert [i for i, turn in enumerate(second.turns) if turn.injected] == [2]
    assert first.begun_with[0].memories[0].id == shown


def test_what_was_made_of_a_turn_stands_with_it(memory: Memory) -> None:
    talk(memory, 3)
    turns = memory.replay_session("one").turns
    fact = memory.remember_fact("Berlin has a river.").id
    memory.relate("derived_from", [{"id": fact, "role": "subject"}, {"id": turns[1].memory.id, "role": "object"}])
    assert [[made.id for made in turn.made] for turn in memory.replay_session("one").turns] == [[], [fact], []]


def test_a_forgotten_turn_keeps_its_place(memory: Memory) -> None:
    talk(memory, 3)
    memory.forget(memory.replay_session("one").turns[1].memory.id)
    again = memory.replay_session("one").turns
    assert ["forgotten" in turn.memory.notes for turn in again] == [False, True, False]


def test_a_session_without_turns_has_an_empty_page(memory: Memory, clock: FakeClock) -> None:
    memory.remember_fact("Berlin has a river.", session_id="empty")
    page = memory.replay_session("empty", 7)
    assert page.turns == ()
    assert (page.earlier, page.later) == (None, None)
    with pytest.raises(NotFoundError):
        memory.replay_session("nothing")
