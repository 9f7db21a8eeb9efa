"""Pages of what happened, of sessions and of what was forgotten, and what a search leaves out."""

from __future__ import annotations

import pytest

from hyperloci.errors import BadRequestError
from hyperloci.memory import Memory
from hyperloci.model.topic import EventPlace
from hyperloci.model.turn import Speaker, Turn
from tests.support import NOW, FakeClock


def test_pages_hold_each_event_once_even_of_one_moment(memory: Memory, clock: FakeClock) -> None:
    ids = []
    for number in range(9):
        clock.advance(number // 4)
        category = "decision" if number % 2 else "insight"
        ids.append(memory.remember_fact(f"Server {number} stands in rack {number * 7}.", category=category).id)
    seen: list[str] = []
    before: EventPlace | None = None
    while True:
        page = memory.list_events("all", limit=2, before=before)
        seen += [event.memory.id for event in page.events]
        if page.older is None:
            break
        before = page.older
    assert seen == ids[::-1]


def test_a_kind_is_one_kind_and_forgotten_ones_are_a_page_of_their_own(memory: Memory) -> None:
    insight = memory.remember_fact("Berlin has a river.").id
    decision = memory.remember_fact("We use tea, not coffee.", category="decision").id
    assert [event.memory.id for event in memory.list_events("decisions").events] == [decision]
    memory.forget(insight)
    assert [event.memory.id for event in memory.list_events("all").events] == [decision]
    assert [event.memory.id for event in memory.list_forgotten().events] == [insight]


def test_what_was_forgotten_at_one_time_is_on_one_page_each(memory: Memory, clock: FakeClock) -> None:
    ids = [memory.remember_fact(f"Server {number} stands in rack {number * 7}.").id for number in range(7)]
    for number, id in enumerate(ids):
        clock.advance(number // 6)
        memory.forget(id)
    seen: list[str] = []
    before: EventPlace | None = None
    while True:
        page = memory.list_forgotten(limit=2, before=before)
        seen += [event.memory.id for event in page.events]
        if page.older is None:
            break
        before = page.older
    assert seen == ids[::-1]


@pytest.mark.parametrize(("limit", "is_last"), [(1, False), (2, True), (3, True)])
def test_the_last_page_of_the_forgotten_is_known_as_the_last(memory: Memory, limit: int, is_last: bool) -> None:
    for city in ("Berlin", "Hamburg"):
        memory.forget(memory.remember_fact(f"{city} has a river.").id)

    page = memory.list_forgotten(limit=limit)

    assert len(page.events) == min(limit, 2)
    assert (page.older is None) == is_last


def test_what_no_longer_holds_is_still_an_event(memory: Memory) -> None:
    old = memory.remember_fact("The port is 5432.").id
    new = memory.correct_fact(old, "The port is 6432.").id
    assert {event.memory.id for event in memory.list_events().events} == {old, new}


def test_a_page_of_no_size_or_of_an_unknown_kind_is_refused(memory: Memory) -> None:
    with pytest.raises(BadRequestError, match="limit=0"):
        memory.list_events(limit=0)
    with pytest.raises(BadRequestError, match="learnt"):
        memory.list_events("nonsense")


def test_an_event_of_another_project_is_none_of_this_one(memory: Memory) -> None:
    with memory.store.transaction():
        memory.store.scopes.ensure_scope("elsewhere", now=NOW)
    memory.remember_fact("Berlin has a river.")
    memory.store.connection.execute(
        "UPDATE nodes SET scope_key = (SELECT key FROM scopes WHERE id = 'elsewhere') WHERE type = 'fact'"
    )
    assert memory.list_events("all").events == ()


def test_sessions_are_listed_in_pages_with_what_was_asked_first(memory: Memory, clock: FakeClock) -> None:
    for number in range(5):
        at = clock.advance(number % 2)
        said = Turn(uuid=f"t{number}", role=Speaker.USER, text=f"Question {number}?", timestamp_ms=at)
        memory.add_turns(f"session-{number}", [said])
    seen: list[str] = []
    page = memory.list_session_page(2)
    while True:
        seen += [f"{one.id}: {one.asked}" for one in page.sessions]
        if page.older is None:
            break
        page = memory.list_session_page(2, before=page.older)
    assert sorted(seen) == [f"session-{number}: Question {number}?" for number in range(5)]
    assert len(seen) == 5


def test_what_a_search_leaves_out_is_forgotten_replaced_or_withheld(memory: Memory) -> None:
    gone = memory.remember_fact("The staging port is 1111.").id
    old = memory.remember_fact("The staging port is 2222.").id
    kept = memory.remember_fact("The staging port moved behind a proxy.").id
    quiet = memory.remember_fact("The staging port is open on Fridays.").id
    memory.forget(gone)
    new = memory.correct_fact(old, "The staging port is 3333.").id
    memory.withhold(quiet)
    left_out = {hit.id for hit in memory.list_left_out("which staging port?")}
    assert left_out == {gone, old, quiet}
    assert {hit.id for hit in memory.search("which staging port?").results} == {kept, new}
    assert memory.list_left_out("zebra") == ()
    assert memory.list_left_out("?!") == ()
