"""Questions that speak of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hyperloci.clock import MS_PER_DAY, from_iso
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode
from hyperloci.model.search import SearchAnswer
from hyperloci.model.turn import Speaker, Turn
from hyperloci.retrieval.search import Searcher, SearchResult
from tests.support import NOW, FakeClock


def tell(memory: Memory, clock: FakeClock, days_ago: int, fact: str, **given: Any) -> str:
    """Remember a fact as of some days ago."""
    clock.now = NOW - days_ago * MS_PER_DAY
    remembered = memory.remember_fact(fact, **given)
    clock.now = NOW
    return str(remembered.id)


def found(answer: SearchAnswer) -> list[str]:
    return [hit.id for hit in answer.results]


@pytest.fixture
def decisions(memory: Memory, clock: FakeClock) -> list[str]:
    """Decisions of three weeks ago, of last week and of today; today is a Friday."""
    told = (
        (21, "The retry policy is three tries"),
        (9, "The retry policy applies to uploads too"),
        (0, "The retry policy needs a log line"),
    )
    return [tell(memory, clock, days, fact, category="decision") for days, fact in told]


@pytest.mark.req("B.05", "B.07")
def test_a_question_for_last_week_gets_last_week_and_says_which_days(memory: Memory, decisions: list[str]) -> None:
    answer = memory.search("what did we decide about the retry policy last week?")
    assert found(answer) == [decisions[1]]
    assert "Took 'last week' as 2027-01-04..2027-01-10." in answer.hints


def test_a_question_of_time_alone_gets_everything_of_the_kind_in_it(
    memory: Memory, clock: FakeClock, decisions: list[str]
) -> None:
    tell(memory, clock, 9, "The nightly build is red")
    tell(memory, clock, 1, "The nightly build is green")
    assert found(memory.search("what did we decide last week?")) == [decisions[1]]
    assert set(found(memory.search("what did we decide since January 4?"))) == set(decisions[1:])


@pytest.mark.req("B.05")
def test_commits_of_a_time_are_listed_though_none_of_them_says_that_it_is_one(memory: Memory) -> None:
    with memory.store.transaction():
        made = [
            memory.store.nodes.create_node(
                NewNode(type=NodeType.DECISION, subtype="commit", content=text, scope=memory.project.id), now=when
            )
            for text, when in (("Fix the parser", NOW - 60 * MS_PER_DAY), ("Fix the printer", NOW - 200 * MS_PER_DAY))
        ]
    memory.remember_fact("A commit is made of one change", category="constraint")
    for question in ("commits in November 2026", "commits last autumn", "what commits were made last autumn?"):
        assert found(memory.search(question)) == [made[0].id], question


@pytest.mark.req("B.05")
@pytest.mark.parametrize("time", ["in January 2027", "last week", "on 2027-01-06", "since 5 January 2027"])
def test_what_happened_in_a_time_gets_what_is_of_it_by_whatever_words_the_time_is_told(
    memory: Memory, clock: FakeClock, decisions: list[str], time: str
) -> None:
    tell(memory, clock, 400, "The changed things of version 2027 were dropped")
    for question in (f"what changed {time}?", f"what did we do {time}"):
        answer = memory.search(question)
        assert decisions[1] in found(answer), question
        assert not any(hit.notes and "outside" in " ".join(hit.notes) for hit in answer.results), question


def test_bounds_that_the_caller_gives_come_first(memory: Memory, decisions: list[str]) -> None:
    answer = memory.search("what did we decide about the retry policy last week?", after="yesterday")
    assert found(answer) == [decisions[2]]
    assert not any("Took" in hint for hint in answer.hints)


def test_where_nothing_lies_within_the_best_from_outside_is_given_and_marked(
    memory: Memory, decisions: list[str]
) -> None:
    answer = memory.search("what did we decide about the retry policy in March?")
    assert set(found(answer)) == set(decisions)
    assert all("outside of 'in March'" in hit.notes for hit in answer.results)
    assert any(hint.startswith("Little or nothing within 'in March'") for hint in answer.hints)


def test_what_lies_within_and_does_not_bear_on_the_question_hides_nothing(
    memory: Memory, clock: FakeClock, decisions: list[str]
) -> None:
    tell(memory, clock, 60, "The office plants get water on Fridays")
    answer = memory.search("what was the retry policy about uploads in November?")
    assert found(answer)[0] == decisions[1]
    assert "outside of 'in November'" in answer.results[0].notes


def test_before_an_event_means_before_the_day_that_the_memory_knows(memory: Memory, clock: FakeClock) -> None:
    old = tell(memory, clock, 60, "The main database is SQLite", category="decision")
    switch = tell(memory, clock, 30, "We switched the main database to Postgres", category="decision", replaces=old)
    later = tell(memory, clock, 5, "The main database has a read replica", category="decision")
    before = memory.search("which main database did we use before we switched to Postgres?")
    assert found(before) == [old]
    assert any("as before 2026-12-16: decision" in hint and switch[:8] in hint for hint in before.hints)
    after = found(memory.search("main database decisions since we switched to Postgres"))
    assert later in after and old not in after


def test_an_event_that_no_memory_tells_of_bounds_nothing_and_is_said(memory: Memory, decisions: list[str]) -> None:
    answer = memory.search("what was the retry policy before we switched to Kafka?")
    assert set(found(answer)) == set(decisions)
    assert any("No memory tells when it was: 'we switched to Kafka'" in hint for hint in answer.hints)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are searched for, and `listed` for each listing, as a question has them looked for."""
    asked: list[str] = []
    find, list_memories = Searcher.find, Searcher.list_memories

    def note_search(searcher: Searcher, query: str, *rest: Any, **given: Any) -> SearchResult:
        asked.append(query)
        return find(searcher, query, *rest, **given)

    def note_listing(searcher: Searcher, *rest: Any, **given: Any) -> SearchResult:
        asked.append("listed")
        return list_memories(searcher, *rest, **given)

    monkeypatch.setattr(Searcher, "find", note_search)
    monkeypatch.setattr(Searcher, "list_memories", note_listing)
    return asked


def test_a_question_of_time_alone_lists_once(memory: Memory, decisions: list[str], searches: list[str]) -> None:
    memory.search("what did we decide last week?")
    assert searches == ["listed"]


def test_what_an_event_bounds_is_not_searched_at_any_time_as_well(
    memory: Memory, decisions: list[str], searches: list[str]
) -> None:
    memory.search("which retry policy did we have since we decided uploads?")
    assert searches == ["we decided uploads", "which retry policy did have"]


def test_a_question_that_is_searched_more_than_once_is_encoded_once(
    memory: Memory, decisions: list[str], searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    encode = Searcher.encode_query

    def note_encoding(searcher: Searcher, query: str, **given: Any) -> Any:
        encoded.append(query)
        return encode(searcher, query, **given)

    monkeypatch.setattr(Searcher, "encode_query", note_encoding)
    question = "what did we decide about the retry policy in March?"
    memory.search(question)
    assert (searches, encoded) == ([question] * 3, [question])


@pytest.mark.parametrize(("word", "first"), [("at first", 0), ("originally", 0), ("now", 1), ("currently", 1)])
def test_of_several_values_the_oldest_or_the_newest_comes_first(
    memory: Memory, clock: FakeClock, word: str, first: int
) -> None:
    turns = [(40, "The gateway listens on port 8080"), (2, "The gateway listens on port 9090")]
    for days, text in turns:
        turn = Turn(uuid=f"t{days}", role=Speaker.USER, text=text, timestamp_ms=NOW - days * MS_PER_DAY)
        memory.add_turns(f"s{days}", [turn])
    answer = memory.search(f"which port does the gateway listen on {word}?")
    assert [hit.content for hit in answer.results][:1] == [turns[first][1]]


def test_what_was_replaced_answers_a_question_for_the_original(memory: Memory, clock: FakeClock) -> None:
    old = tell(memory, clock, 60, "The upload limit is 10 MB", category="decision")
    new = tell(memory, clock, 10, "The upload limit is 50 MB", category="decision", replaces=old)
    assert found(memory.search("what was the upload limit originally?")) == [old, new]
    assert found(memory.search("what is the upload limit now?")) == [new]


def test_a_search_of_files_takes_no_date_from_its_words(memory: Memory) -> None:
    (memory.project.root / "dates.py").write_text("def last_month():\n    return previous_month(today())\n")
    memory.index_path()
    answer = memory.search("function for last month", content_type="code")
    assert answer.results and answer.hints == ()


@pytest.mark.req("B.05")
def test_today_began_at_the_users_midnight_and_not_at_that_of_utc(
    memory: Memory, clock: FakeClock, stand_in_zone: Callable[[str], None]
) -> None:
    stand_in_zone("PST8")
    clock.now = from_iso("2026-11-18T02:00:00Z")
    last_evening = memory.remember_fact("The retry policy is three tries", category="decision").id
    clock.now = from_iso("2026-11-18T19:00:00Z")
    morning = memory.remember_fact("The upload limit is 20 MB", category="decision").id
    clock.now = from_iso("2026-11-19T01:00:00Z")
    assert found(memory.search("what did we decide today?")) == [morning]
    assert found(memory.search("what did we decide yesterday?")) == [last_evening]
