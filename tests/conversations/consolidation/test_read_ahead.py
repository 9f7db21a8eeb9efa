"""Strategies that read a session when it is over: rules read ahead at each turn's end, and nothing is kept twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import end_session
from hyperloci.conversations.consolidation.consolidator import HOST_WAIT_MS, Consolidation, consolidate_sessions
from hyperloci.conversations.consolidation.finding_writer import SavedFindings
from hyperloci.conversations.host_consolidation import HostConsolidation
from hyperloci.facts.facts import Facts
from hyperloci.facts.safe_arguments import sanitize_argument
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.kinds import NodeId
from hyperloci.store import Store
from tests.conversations.consolidation.conftest import ASSISTANT, PROJECT, TALK, USER, Talk, extracted, remember
from tests.support import FakeClock

SAID = [text for speaker, text in TALK if speaker is USER]
ANSWERED = (*TALK, (ASSISTANT, "Understood, one change per commit."))


@pytest.fixture
def consolidation(store: Store, settings: Settings, clock: FakeClock) -> Consolidation:
    return Consolidation(store, replace(settings, consolidation="host"), clock)


@pytest.fixture
def host(store: Store, settings: Settings, clock: FakeClock) -> HostConsolidation:
    return HostConsolidation(store, replace(settings, consolidation="host"), clock)


def living(store: Store) -> list[str]:
    return [node.content for node in extracted(store) if node.valid_until is None]


def finding(content: str, *sources: int, kind: str = "decision") -> dict[str, object]:
    return {"content": content, "kind": kind, "sources": list(sources)}


@pytest.mark.req("B.17")
@pytest.mark.parametrize("strategy", ["host", "claude", "llm"])
def test_what_a_turn_says_is_a_memory_at_once_and_the_strategy_still_reads_it(
    store: Store, talk: Talk, settings: Settings, clock: FakeClock, strategy: str
) -> None:
    consolidation = Consolidation(store, replace(settings, consolidation=strategy), clock)
    talk.session("one", *TALK, end=False)
    assert len(consolidation.consolidate_now("one").new) == 2
    assert consolidation.consolidate_now("one") == SavedFindings()
    talk.say("one", ANSWERED[-1])
    consolidation.consolidate_now("one")
    assert living(store) == SAID
    with store.transaction():
        end_session(store, "one", now=talk.clock.advance(1_000))
    assert [waiting.through_seq for waiting in store.consolidations.list_pending(9)] == [0]
    assert store.consolidations.count_waiting(talk.project).turns == len(ANSWERED)


@pytest.mark.req("B.17")
def test_what_the_assistant_finds_takes_the_place_of_what_rules_made_of_the_same_turn(
    store: Store, talk: Talk, consolidation: Consolidation, host: HostConsolidation
) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    assert living(store) == SAID
    mine = "Invoices are stored in PostgreSQL and never in SQLite."
    saved = host.save_findings("one", {"facts": [finding(mine, 0), finding(SAID[1], 2, kind="constraint")]}).saved
    assert living(store) == [*SAID[1:], mine]
    assert (len(saved.new), len(saved.known), len(saved.superseded)) == (1, 1, 1)
    (old,) = saved.superseded
    assert "worded anew by host" in str(store.log.list_of_node(NodeId(old))[-1].reasoning)
    assert [node.seen_count for node in extracted(store)] == [1, 1, 1, 1]


@pytest.mark.req("B.17")
def test_no_turn_is_done_that_the_assistant_says_it_has_not_read(
    store: Store, talk: Talk, host: HostConsolidation
) -> None:
    talk.session("one", *TALK)
    assert host.save_findings("one", {"facts": [], "through": 0}).through == 0
    assert [waiting.through_seq for waiting in store.consolidations.list_pending(9)] == [0]


@pytest.mark.req("B.17")
def test_without_through_what_was_shown_is_done_and_the_rest_waits(
    store: Store, talk: Talk, host: HostConsolidation
) -> None:
    talk.session("one", *[(USER, f"Number {number}: {'a long story ' * 300}") for number in range(40)])
    shown = host.make_request("one", talk.project)
    assert shown.left > 0
    assert host.save_findings("one", {"facts": []}).through == shown.through


LIMITS = "The API gives up after 3 retries and the nightly import always after 12, the bank insists."
HALVES = ["The API client stops after 3 retries.", "The nightly import stops after 12 retries."]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("found", "left"), [(HALVES, HALVES), (HALVES[:1], [LIMITS, HALVES[0]])])
def test_a_statement_ends_when_others_of_its_turn_have_all_its_figures(
    store: Store, talk: Talk, consolidation: Consolidation, host: HostConsolidation, found: list[str], left: list[str]
) -> None:
    talk.session("one", (USER, LIMITS), (ASSISTANT, "Understood."))
    consolidation.consolidate_now("one")
    assert living(store) == [LIMITS]
    host.save_findings("one", {"facts": [finding(half, 0, kind="constraint") for half in found]})
    assert living(store) == left


@pytest.mark.req("E.16")
def test_what_was_confirmed_or_corrected_since_is_left_as_it_is(
    store: Store, talk: Talk, consolidation: Consolidation, host: HostConsolidation, facts: Facts
) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    first, second, _ = extracted(store)
    facts.confirm_fact(first.id)
    facts.correct_fact(
        second.id, sanitize_argument("fact", "Tests may reach the staging proxy."), reason="asked", session_id=None
    )
    mine = "Invoices are stored in PostgreSQL and never in SQLite."
    saved = host.save_findings("one", {"facts": [finding(mine, 0), finding(SAID[1], 2)]}).saved
    assert SAID[0] in living(store)
    assert SAID[1] not in living(store)
    assert [item.reason for item in saved.rejected] == ["was made of the same turns before, and replaced since"]


@pytest.mark.req("E.16", "B.17")
@pytest.mark.parametrize(
    "again", [SAID[0], SAID[0].replace("our load", "load"), "Invoices are stored in PostgreSQL and never in SQLite."]
)
def test_what_somebody_forgot_or_corrected_is_not_made_again_in_other_words(
    store: Store, talk: Talk, consolidation: Consolidation, host: HostConsolidation, facts: Facts, again: str
) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    first, second, _ = extracted(store)
    facts.forget_memory(first.id, reason="wrong")
    facts.correct_fact(
        second.id, sanitize_argument("fact", "Tests may reach the staging proxy."), reason="asked", session_id=None
    )
    tests = "No test may touch the network, because CI has none."
    saved = host.save_findings("one", {"facts": [finding(again, 0), finding(tests, 2)]}).saved
    assert saved.new == ()
    assert [item.place for item in saved.rejected] == ["facts[0]", "facts[1]"]
    assert [node.content for node in extracted(store) if node.holds] == [SAID[2]]


@pytest.mark.req("B.17")
def test_what_had_only_faded_is_made_again_in_other_words(
    store: Store, talk: Talk, clock: FakeClock, consolidation: Consolidation, host: HostConsolidation
) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    clock.advance(2_000 * MS_PER_DAY)
    faded = {memory.id: memory for memory in store.decay.find_faded(clock(), 0.05, 9)}
    with store.transaction():
        assert store.decay.prune_memory(faded[extracted(store)[0].id], now=clock(), reason="faded")
    saved = host.save_findings("one", {"facts": [finding("Invoices are stored in PostgreSQL, never in SQLite.", 0)]})
    assert len(saved.saved.new) == 1


@pytest.mark.req("B.17")
def test_what_faded_does_not_hide_a_memory_of_other_turns_that_says_the_same(
    store: Store, talk: Talk, clock: FakeClock, consolidation: Consolidation, host: HostConsolidation, facts: Facts
) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    clock.advance(2_000 * MS_PER_DAY)
    faded = {memory.id: memory for memory in store.decay.find_faded(clock(), 0.05, 9)}
    with store.transaction():
        assert store.decay.prune_memory(faded[extracted(store)[1].id], now=clock(), reason="faded")
    told = remember(facts, "The tests must not touch the network; the CI has none.", category="constraint")
    saved = host.save_findings(
        "one", {"facts": [finding("The tests must not touch the network, CI has none.", 2)]}
    ).saved
    assert (saved.new, saved.known) == ((), (told,))


@pytest.mark.req("B.17")
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_what_somebody_replaced_by_words_of_a_session_is_not_made_again_in_other_words(
    store: Store, talk: Talk, consolidation: Consolidation, host: HostConsolidation, facts: Facts, is_forgotten: bool
) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    first, _, third = extracted(store)
    again = sanitize_argument("fact", third.content)
    facts.remember_fact(again, category=str(third.subtype), confidence=1.0, scope=PROJECT, replaces=first.id)
    if is_forgotten:
        facts.forget_memory(third.id, reason=None)
    saved = host.save_findings(
        "one", {"facts": [finding("Invoices are stored in PostgreSQL, never in SQLite.", 0)]}
    ).saved
    assert [item.reason for item in saved.rejected] == ["was made of the same turns before, and replaced since"]


@pytest.mark.req("B.17")
def test_what_else_the_turn_of_a_forgotten_memory_says_is_made(
    store: Store, talk: Talk, consolidation: Consolidation, host: HostConsolidation, facts: Facts
) -> None:
    more = "Is the mover of old SQLite invoices, the cron job in the cellar, as slow as last year?"
    talk.session("one", (USER, f"We decided to use SQLite for the invoices. {more}"), (ASSISTANT, "It is."))
    consolidation.consolidate_now("one")
    (rule,) = extracted(store)
    assert rule.content == "We decided to use SQLite for the invoices."
    facts.forget_memory(rule.id, reason="wrong")
    found = [finding("The mover of old SQLite invoices is a cron job in the cellar.", 0, kind="insight")]
    assert len(host.save_findings("one", {"facts": found}).saved.new) == 1


@pytest.mark.req("B.16", "B.17")
def test_where_the_assistant_lets_it_lie_rules_do_not_read_a_turn_again(
    store: Store, talk: Talk, settings: Settings, clock: FakeClock, consolidation: Consolidation, facts: Facts
) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    facts.forget_memory(extracted(store)[0].id, reason="wrong")
    clock.advance(HOST_WAIT_MS + 1)
    waiting = replace(settings, consolidation="host")
    assert consolidate_sessions(MaintenanceContext(store=store, settings=waiting, clock=clock)) == 0
    assert consolidation.list_pending() == []
    assert [node.seen_count for node in extracted(store)] == [1, 1, 1]


def test_rules_go_on_where_they_read_ahead_under_another_setting(
    store: Store, talk: Talk, settings: Settings, clock: FakeClock, consolidation: Consolidation
) -> None:
    talk.session("one", *TALK, end=False)
    consolidation.consolidate_now("one")
    talk.say("one", ANSWERED[-1])
    assert len(Consolidation(store, settings, clock).consolidate_now("one").new) == 1
    assert living(store) == SAID
    assert [node.seen_count for node in extracted(store)] == [1, 1, 1]


def test_two_processes_that_read_ahead_store_it_once(
    store: Store, talk: Talk, settings: Settings, clock: FakeClock, consolidation: Consolidation
) -> None:
    talk.session("one", *TALK)
    slower = Consolidation(store, replace(settings, consolidation="host"), clock)
    seen = store.consolidations.get_progress("one")
    consolidation.consolidate_now("one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.consolidations, "get_progress", lambda _: seen)
        assert slower.consolidate_now("one").new == ()
    assert living(store) == SAID
