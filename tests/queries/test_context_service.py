"""What an assistant gets for a question or a task."""

from __future__ import annotations

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.jobs import MaintenanceContext
from hyperloci.knowledge.entities.entity_service import summarise_entities
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn, TurnKind
from tests.support import FakeClock, sum_up

FIRST = "Let's move the thumbnails of the gallery to WebP, the pages weigh 9 MB"
OUTCOME = "Fixed: the gallery weighs 1.2 MB now, all thumbnails are WebP."


def hold_session(memory: Memory, clock: FakeClock, name: str = "s1", first: str = FIRST) -> None:
    said = [
        (Speaker.USER, "hello"),
        (Speaker.USER, first),
        (Speaker.ASSISTANT, "I'll convert them with sharp."),
        (Speaker.ASSISTANT, OUTCOME),
        (Speaker.USER, "thanks!"),
        (Speaker.ASSISTANT, "You're welcome."),
    ]
    turns = [
        Turn(uuid=f"{name}-{place}", role=role, text=text, timestamp_ms=clock() + place)
        for place, (role, text) in enumerate(said)
    ]
    done = Turn(
        uuid=f"{name}-done",
        role=Speaker.ASSISTANT,
        text="Bash: git push",
        timestamp_ms=clock() + 9,
        kind=TurnKind.ACTION,
    )
    memory.add_turns(name, [*turns, done])
    clock.advance(MS_PER_DAY)


@pytest.mark.parametrize("query", ["What happened in the last session?", "where did we leave off?"])
def test_the_last_session_is_told_by_its_request_its_outcome_and_what_was_done(
    memory: Memory, clock: FakeClock, query: str
) -> None:
    hold_session(memory, clock, "s0", first="Rename the billing service to invoices")
    hold_session(memory, clock)

    told = memory.get_context(query).markdown

    assert "The last session" in told and FIRST in told and OUTCOME in told and "git push" in told
    assert "billing" not in told and "hello" not in told and "welcome" not in told


@pytest.mark.req("B.05", "B.09")
@pytest.mark.parametrize("query", ["what did we decide yesterday?", "what did we decide last time?"])
def test_where_no_decision_of_a_time_is_kept_its_sessions_are_told(
    memory: Memory, clock: FakeClock, query: str
) -> None:
    old = "The gallery is served by Caddy."
    hold_session(memory, clock)
    assert OUTCOME in memory.get_context(query).markdown

    clock.advance(-9 * MS_PER_DAY)
    memory.remember_fact(old, category="decision")
    clock.advance(9 * MS_PER_DAY)
    told = memory.get_context(query).markdown
    assert "## Decisions" in told and old in told and OUTCOME in told


@pytest.mark.req("B.05", "B.09")
def test_where_a_decision_of_the_time_is_kept_its_sessions_are_not_told(memory: Memory, clock: FakeClock) -> None:
    new = "The thumbnails are cached for a year."
    memory.remember_fact(new, category="decision")
    hold_session(memory, clock)
    told = memory.get_context("what did we decide yesterday?").markdown
    assert new in told and OUTCOME not in told


def test_the_session_that_asks_is_not_the_last_one(memory: Memory, clock: FakeClock) -> None:
    hold_session(memory, clock)
    memory.add_turns("now", [Turn(uuid="n", role=Speaker.USER, text="Add a zebra crossing", timestamp_ms=clock())])

    told = memory.get_context("what did we do last time?").markdown

    assert FIRST in told and "zebra" not in told


@pytest.mark.req("E.10")
def test_a_session_that_upkeep_closes_a_day_later_is_not_the_last_one(memory: Memory, clock: FakeClock) -> None:
    hold_session(memory, clock, "killed", first="Rename the billing service to invoices")
    hold_session(memory, clock)
    clock.advance(-MS_PER_DAY // 2)
    memory.catch_up()

    told = memory.get_context("what happened in the last session?").markdown

    assert FIRST in told and "billing" not in told


def test_several_sessions_share_a_context(memory: Memory, clock: FakeClock) -> None:
    for number in range(3):
        hold_session(memory, clock, f"s{number}", first=f"Paint the shed number {number} green")

    context = memory.get_context("what have we been working on lately?")

    assert len(context.sections) == 3
    assert all(f"shed number {number}" in context.markdown for number in range(3))


def test_a_day_that_is_asked_for_selects_its_sessions(memory: Memory, clock: FakeClock) -> None:
    hold_session(memory, clock, "s0", first="Paint the shed green")
    clock.advance(10 * MS_PER_DAY)
    hold_session(memory, clock, "s1", first="Sweep the chimney")

    assert "chimney" in memory.get_context("what did we do yesterday?").markdown
    assert "shed" not in memory.get_context("what did we do yesterday?").markdown


def test_dead_ends_are_listed_for_who_asks_what_not_to_try(memory: Memory) -> None:
    memory.mark_dead_end("Subclassing the transport", "it deadlocks under load")
    memory.remember_fact("The transport has a lock", category="insight")

    context = memory.get_context("what should I not try again?")

    assert "deadlocks" in context.markdown and "has a lock" not in context.markdown
    assert [section.title for section in context.sections] == ["Dead ends: tried, and failed"]


def test_a_subject_narrows_the_dead_ends_and_brings_what_is_known_besides(memory: Memory) -> None:
    memory.mark_dead_end("Subclassing the transport", "it deadlocks under load")
    memory.mark_dead_end("Resizing thumbnails in the browser", "phones run out of memory")
    memory.remember_fact("The transport is owned by Priya", category="insight")

    context = memory.get_context("what did we try for the transport that didn't work?").markdown

    assert "deadlocks" in context and "Priya" in context and "phones" not in context


@pytest.mark.parametrize("query", ["hello", "thanks", "what is the weather?", "can you help me?", "continue", "2 + 2?"])
def test_small_talk_gets_nothing_though_a_memory_holds_the_word(memory: Memory, query: str) -> None:
    for word in ("hello", "thanks", "weather", "help", "continue", "2"):
        memory.remember_fact(f'The sample data of the parser has "{word}" in it, and more')
    for number in range(200):
        memory.remember_fact(f"The parser reads column {number} of the sheet")

    assert memory.get_context(query).markdown == ""


def test_a_topic_of_small_talk_that_a_program_is_about_is_a_subject(memory: Memory) -> None:
    for number in range(20):
        memory.remember_fact(f"The weather of station {number} is fetched hourly")

    assert "station" in memory.get_context("what is the weather?").markdown


def test_what_was_told_answers_a_request_without_a_subject(memory: Memory) -> None:
    memory.remember_fact("Before you run the tests, start the test database", category="constraint")

    assert "test database" in memory.get_context("run the tests").markdown


def test_the_share_of_entities_holds_what_is_known_of_those_that_are_named(memory: Memory, clock: FakeClock) -> None:
    for text in (
        "Redis is the queue of the mailer.",
        "Redis retries three times.",
        "Redis runs on port 6390 in tests.",
    ):
        memory.remember_fact(text)
    summarise_entities(MaintenanceContext(store=memory.store, settings=memory.settings, clock=clock))

    context = memory.get_context("how does Redis retry?")

    titles = {section.title: section for section in context.sections}
    assert titles["Entities"].ids and "[tool] Redis: Redis is the queue of the mailer" in context.markdown


def test_a_summary_that_repeats_a_better_hit_is_left_out(memory: Memory, clock: FakeClock) -> None:
    texts = [f"Turn {number}: we decided to paint the {number}. shed green" for number in range(30)]
    sum_up(memory, clock, texts)

    shown = memory.get_context("which sheds did we paint green?", max_tokens=4_000).sources

    nodes = [memory.store.nodes.get_node(id) for id in shown]
    lines = [line for node in nodes if node is not None for line in node.content.splitlines()]
    quoted = [line for line in lines if line.startswith("user: ")]
    assert len(lines) > len(quoted)
    assert len({line.removeprefix("user: ") for line in lines}) > 2 * len(lines) / 3
