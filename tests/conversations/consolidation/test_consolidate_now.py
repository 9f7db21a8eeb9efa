"""Making memories of a session that goes on: of its finished turns, once each."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import end_session
from hyperloci.conversations.consolidation.consolidator import WAITING_PROMPTS, Consolidation, consolidate_sessions
from hyperloci.conversations.consolidation.finding_writer import SavedFindings
from hyperloci.conversations.consolidation.payload_writer import PayloadWriter
from hyperloci.errors import NotReadyError
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.turn import TurnKind
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress
from tests.conversations.consolidation.conftest import ASSISTANT, TALK, USER, Talk, extracted
from tests.support import SHARED_FIXTURE, FakeClock, examples

SAID = [text for speaker, text in TALK if speaker is USER]


@pytest.fixture
def consolidation(store: Store, settings: Settings, clock: FakeClock) -> Consolidation:
    return Consolidation(store, settings, clock)


def contents(store: Store) -> list[str]:
    return [node.content for node in extracted(store)]


def progress_of(store: Store) -> ConsolidationProgress:
    progress = store.consolidations.get_progress("one")
    assert progress is not None
    return progress


@pytest.mark.req("B.16", "B.17")
def test_finished_turns_of_a_session_that_goes_on_are_memories_and_an_unanswered_prompt_waits(
    store: Store, talk: Talk, consolidation: Consolidation
) -> None:
    talk.session("one", *TALK, end=False)
    assert len(consolidation.consolidate_now("one").new) == 2
    assert contents(store) == SAID[:2]
    talk.say("one", (ASSISTANT, "Understood, one change per commit."))
    assert len(consolidation.consolidate_now("one").new) == 1
    assert contents(store) == SAID
    assert progress_of(store).through_seq == len(TALK) + 1


def test_what_came_in_after_the_end_that_is_told_waits_for_its_own(
    store: Store, talk: Talk, clock: FakeClock, consolidation: Consolidation
) -> None:
    """A busy server hears of the end of a turn when the next prompts are stored, and their answers are not."""
    talk.session("one", *TALK[:2], end=False)
    ended = clock()
    talk.say("one", (USER, "Never touch the generated client by hand."), (USER, "and bump the version"))
    talk.say("one", (ASSISTANT, "Edit pyproject.toml: +1 -1 lines"), kind=TurnKind.ACTION)
    consolidation.consolidate_now("one", ended)
    assert contents(store) == SAID[:1] and progress_of(store).through_seq == 2
    consolidation.consolidate_now("one", clock())
    assert contents(store) == [*SAID[:1], "Never touch the generated client by hand."]


class LateReader:
    """Holds no sentence worth keeping but what it is told to, once it has loaded; notes what it was asked of."""

    def __init__(self, *keeps: str) -> None:
        self.is_late = True
        self.keeps = keeps
        self.asked: list[str] = []

    def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        if self.is_late:
            raise NotReadyError("it loads")
        self.asked += [told.partition(" →")[0] for _, told in pairs]
        return [0.99 if told.partition(" →")[0] in self.keeps else 0.001 for _, told in pairs]

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        raise NotReadyError("it loads")


RULE = "Postgres 16 it is, no mysql"


@pytest.mark.req("B.17")
def test_turns_wait_for_a_model_that_loads_and_are_read_with_it_at_the_next_end_of_a_turn(
    store: Store, settings: Settings, clock: FakeClock, talk: Talk
) -> None:
    reader = LateReader(RULE, SAID[1])
    talk.session("one", (USER, RULE), (ASSISTANT, "Done"), end=False)
    Consolidation(store, settings, clock, scorer=reader).consolidate_now("one", may_wait=True)
    assert contents(store) == [] and progress_of(store).through_seq == 0
    talk.say("one", (USER, SAID[1]), (ASSISTANT, "Done"))
    reader.is_late = False
    Consolidation(store, settings, clock, scorer=reader).consolidate_now("one", may_wait=True)
    assert contents(store) == [RULE, SAID[1]] and progress_of(store).through_seq == 4
    assert reader.asked == [RULE, SAID[1]]


def test_what_was_read_before_a_model_was_late_is_stored_and_the_rest_waits(
    store: Store, settings: Settings, clock: FakeClock, talk: Talk
) -> None:
    class SlowsDown(LateReader):
        def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
            self.is_late = any(SAID[1] in told for _, told in pairs)
            return super().score_statements(pairs, timeout)

    reader = SlowsDown(RULE)
    talk.session("one", (USER, RULE), (ASSISTANT, "Done"), (USER, SAID[1]), (ASSISTANT, "Done"), end=False)
    Consolidation(store, settings, clock, scorer=reader).consolidate_now("one", may_wait=True)
    assert contents(store) == [RULE] and progress_of(store).through_seq == 2
    assert reader.asked == [RULE]


@pytest.mark.req("B.17")
@pytest.mark.parametrize("is_over", [True, False])
def test_words_alone_tell_what_no_model_read_in_time(
    store: Store, settings: Settings, clock: FakeClock, talk: Talk, *, is_over: bool
) -> None:
    """Where a session is over, and when many prompts wait, each with much that was done for it."""
    talk.session("one", end=False)
    for _ in range(1 if is_over else WAITING_PROMPTS + 1):
        talk.say("one", (USER, SAID[0]))
        talk.say("one", *[(ASSISTANT, "Bash: pytest -q")] * 12, kind=TurnKind.ACTION)
    consolidation = Consolidation(store, settings, clock, scorer=LateReader())
    consolidation.consolidate_now("one", may_wait=not is_over)
    assert contents(store) == SAID[:1] and progress_of(store).through_seq == progress_of(store).next_seq


@pytest.mark.parametrize("requests", [1, 9])
def test_a_turn_that_takes_all_the_time_there_is_holds_nothing_up(
    store: Store, settings: Settings, clock: FakeClock, talk: Talk, monkeypatch: pytest.MonkeyPatch, requests: int
) -> None:
    """It is read as far as that goes, and the next turns at the next end of one; also if a request is late."""

    class Slow(LateReader):
        asked_for = 0

        def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
            self.asked_for += 1
            self.is_late = self.asked_for == requests + 1
            return super().score_statements(pairs, timeout)

    slow = Slow(RULE)
    long = " ".join([*(f"Then look at file {number} and tell me." for number in range(20)), RULE])
    talk.session("one", (USER, long), (ASSISTANT, "Done"), (USER, RULE), (ASSISTANT, "Done"), end=False)
    seconds = iter(range(1_000))
    monkeypatch.setattr("time.monotonic", lambda: next(seconds) / 4)
    for through in (2, 4):
        consolidation = Consolidation(store, settings, clock, scorer=slow)
        consolidation.consolidate_now("one", may_wait=True)
        assert progress_of(store).through_seq == through


def test_a_prompt_that_an_action_followed_is_finished(store: Store, talk: Talk, consolidation: Consolidation) -> None:
    talk.session("one", TALK[0], end=False)
    assert consolidation.consolidate_now("one") == SavedFindings()
    talk.say("one", (ASSISTANT, "Edit src/invoices.py: +3 -1 lines"), kind=TurnKind.ACTION)
    consolidation.consolidate_now("one")
    assert contents(store) == SAID[:1]


@pytest.mark.req("B.17")
def test_what_was_written_for_it_tells_of_what_the_user_said_how_much(
    store: Store, talk: Talk, consolidation: Consolidation
) -> None:
    edit = "Edit src/ExpiryJob.kt: +1 -1 lines: `EXPIRY_MONTHS = 12` became `EXPIRY_MONTHS = 18`"
    (said,) = talk.session("one", (USER, "make that eighteen from now on"), end=False)
    (done,) = talk.say("one", (ASSISTANT, edit), kind=TurnKind.ACTION)
    consolidation.consolidate_now("one")
    (node,) = extracted(store)
    assert node.content == "ExpiryJob.kt: `EXPIRY_MONTHS = 18` → make that eighteen from now on"
    assert (node.metadata["turn"], node.metadata["speaker"], node.metadata["trust"]) == (said.seq, "user", 1.0)
    assert node.event_time == said.event_time
    assert "in turn 0 of session one, said by the user" in str(store.log.list_of_node(node.id)[0].reasoning)
    (edge,) = store.edges.list_of_node(node.key, "derived_from")
    assert {member.node for member in edge.members} == {node.key, said.key, done.key}


@pytest.mark.req("B.16")
def test_of_a_session_that_is_over_nothing_waits(store: Store, talk: Talk, consolidation: Consolidation) -> None:
    talk.session("one", *TALK)
    consolidation.consolidate_now("one")
    assert contents(store) == SAID
    assert consolidation.list_pending() == []


@pytest.mark.req("B.16")
def test_doing_it_again_changes_nothing(
    store: Store, talk: Talk, consolidation: Consolidation, context: MaintenanceContext
) -> None:
    talk.session("one", *TALK, end=False)
    consolidation.consolidate_now("one")
    before = list(store.connection.iterdump())
    for _ in range(3):
        assert consolidation.consolidate_now("one") == SavedFindings()
    assert list(store.connection.iterdump()) == before
    with store.transaction():
        end_session(store, "one", now=talk.clock.advance(1_000))
    assert consolidate_sessions(context) == 1
    assert contents(store) == SAID
    assert [node.seen_count for node in extracted(store)] == [1, 1, 1]


def test_an_answer_is_understood_by_what_was_read_before_it(
    store: Store, talk: Talk, consolidation: Consolidation
) -> None:
    question = "Should the tokens live in Redis or in PostgreSQL?"
    talk.session("one", (USER, "Where do the tokens go?"), (ASSISTANT, question), end=False)
    consolidation.consolidate_now("one")
    talk.say("one", (USER, "PostgreSQL, never Redis"), (ASSISTANT, "Understood."))
    consolidation.consolidate_now("one")
    (node,) = extracted(store)
    assert node.content == f"{question} → PostgreSQL, never Redis"
    assert (node.metadata["quote"], node.metadata["about"], node.metadata["turn"]) == (
        "PostgreSQL, never Redis",
        question,
        2,
    )


def test_nothing_is_made_where_consolidation_is_off(
    store: Store, talk: Talk, settings: Settings, clock: FakeClock
) -> None:
    talk.session("one", *TALK)
    assert Consolidation(store, replace(settings, consolidation="off"), clock).consolidate_now("one") == SavedFindings()
    assert contents(store) == []


def test_of_a_session_that_is_not_there_nothing_is_made(consolidation: Consolidation) -> None:
    assert consolidation.consolidate_now("nobody") == SavedFindings()


@pytest.mark.req("B.16")
@given(deaths=st.lists(st.booleans(), min_size=6, max_size=6))
@hypothesis_settings(max_examples=examples(20), suppress_health_check=SHARED_FIXTURE)
def test_a_process_that_dies_at_it_leaves_no_turn_twice_or_undone(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory, deaths: list[bool]
) -> None:
    clock = FakeClock()
    path = tmp_path_factory.mktemp("killed") / "memory.db"
    turns = [*TALK, (ASSISTANT, "Understood, one change per commit.")]

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    for number, (turn, dies) in enumerate(zip(turns, deaths, strict=True)):
        with Store.open(path, clock=clock) as store:
            if number == 0:
                Talk(store, clock).session("one", end=False)
            Talk(store, clock).say("one", turn)
            consolidation = Consolidation(store, settings, clock)
            with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
                if dies:
                    patch.setattr(PayloadWriter, "_promote_sources", die)
                consolidation.consolidate_now("one")
    with Store.open(path, clock=clock) as store:
        Consolidation(store, settings, clock).consolidate_now("one")
        assert sorted(contents(store)) == sorted(SAID)
        assert [node.seen_count for node in extracted(store)] == [1, 1, 1]


@pytest.mark.req("B.16")
def test_a_process_that_was_slower_stores_nothing_twice(
    store: Store, talk: Talk, consolidation: Consolidation, settings: Settings, clock: FakeClock
) -> None:
    talk.session("one", *TALK)
    slower = Consolidation(store, settings, clock)
    seen = progress_of(store)
    consolidation.consolidate_now("one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.consolidations, "get_progress", lambda _: seen)
        assert slower.consolidate_now("one").new == ()
    assert contents(store) == SAID
