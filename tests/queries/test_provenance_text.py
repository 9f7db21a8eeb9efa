"""A memory's life, told."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import NewTurn, add_turn, end_session
from hyperloci.conversations.consolidation.consolidator import consolidate_sessions
from hyperloci.errors import NotFoundError
from hyperloci.maintenance.scheduler import make_maintenance_context
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, TurnKind
from tests.support import FakeClock


@pytest.fixture
def memory(settings: Settings, tmp_path: Path, clock: FakeClock) -> Memory:
    return Memory.open(settings, tmp_path, clock=clock)


def said(memory: Memory, session: str, clock: FakeClock, *texts: str) -> None:
    with memory.store.transaction():
        for number, text in enumerate(texts):
            at = clock.advance(1_000)
            role = Speaker.ASSISTANT if number % 2 else Speaker.USER
            saying = NewTurn(role=role, text=text, at=at, uuid=f"{session}-{number}")
            add_turn(memory.store, session, memory.project.id, saying, now=at)
        edit = NewTurn(
            role=Speaker.ASSISTANT,
            text="Edit src/a.py: +1 -1 lines",
            at=clock.advance(1_000),
            kind=TurnKind.ACTION,
            uuid=f"{session}-edit",
            path="src/a.py",
        )
        add_turn(memory.store, session, memory.project.id, edit, now=clock())
        end_session(memory.store, session, now=clock.advance(1_000))
    consolidate_sessions(make_maintenance_context(memory.store, memory.settings, clock))


OTHERS = [
    ("cents", "Money is stored as integer cents everywhere, never floats.", "Understood."),
    ("network", "Tests must not touch the network, CI has none.", "Understood."),
]


@pytest.mark.req("B.15")
def test_an_extracted_fact_tells_who_said_it_where_and_what_became_of_it(memory: Memory, clock: FakeClock) -> None:
    with memory:
        for session, *texts in OTHERS:
            said(memory, session, clock, *texts)
        said(memory, "one", clock, "The deadline of the release is April 20.", "Noted, April 20.")
        (first,) = memory.get_session_report("one").extracted
        said(memory, "two", clock, "the release deadline moved, it is April 25 now", "Noted, the release is April 25.")
        (second,) = memory.get_session_report("two").extracted
        memory.search("deadline release", content_type="learning")
        old, new = (memory.explain_fact(id).account for id in (first.id, second.id))
        source = memory.explain_fact(first.id).sources[0]
    assert old[0] == (
        "It was extracted by rules as a deadline in session one, from what the user said on 2027-01-15, turn 0 of "
        f"session one (id {source.id})."
    )
    assert old[1] == f"It has not been valid since 2027-01-15: id {second.id} replaced it."
    assert "does not fade" in old[-1]
    assert new[1] == f"It replaced id {first.id}."
    assert any(sentence.startswith("It was recalled once, most recently on 2027-01-15") for sentence in new)
    assert "it is forgotten in" in new[-1]


@pytest.mark.req("B.15")
def test_what_was_remembered_confirmed_forgotten_and_restored_tells_so(memory: Memory, clock: FakeClock) -> None:
    with memory:
        id = memory.remember_fact("We release on Fridays.", category="decision").id
        memory.confirm_fact(id)
        memory.forget(id, reason='a "reason"\nin two lines')
        forgotten = memory.explain_fact(id).account
        memory.restore(id)
        told = memory.explain_fact(id).account
    assert told[0] == "It was remembered on purpose on 2027-01-15, as a decision."
    assert "On 2027-01-15 it was confirmed, and has been protected from fading since." in told
    assert 'On 2027-01-15 it was forgotten on request: "a \\"reason\\" in two lines".' in told
    assert told[-1] == "Its confidence is 1.00, and it does not fade."
    assert forgotten[-1] == "It is forgotten now."


def test_what_faded_tells_why_it_went(memory: Memory, clock: FakeClock) -> None:
    with memory:
        id = memory.remember_fact("The cache is small.", confidence=0.4).id
        clock.advance(200 * MS_PER_DAY)
        assert memory.prune_faded().ids == (id,)
        assert any("it was forgotten because it had faded" in line for line in memory.explain_fact(id).account)


CANCELLED = "Orders are never deleted, only cancelled; the auditors insist."


@pytest.mark.req("B.16")
def test_a_session_is_told_in_short(memory: Memory, clock: FakeClock) -> None:
    with memory:
        said(memory, "one", clock, f"{CANCELLED}\n\n```\n{'word ' * 300}\n```", "Understood.")
        memory.remember_fact("The queue is gone.", session_id="one")
        report = memory.get_session_report("one")
        with pytest.raises(NotFoundError, match="'nobody': no session has this id"):
            memory.get_session_report("nobody")
    assert str(report.asked).startswith(CANCELLED)
    assert str(report.asked).endswith("…")
    assert (report.answered, report.files, report.turns) == ("Understood.", ("src/a.py",), 3)
    assert (report.consolidated_turns, report.strategy) == (3, "heuristic")
    assert [hit.content for hit in report.extracted] == [CANCELLED]
    assert [hit.content for hit in report.remembered] == ["The queue is gone."]


def test_a_kind_has_the_article_that_its_name_needs(memory: Memory) -> None:
    assert ", as an insight." in memory.explain_fact(memory.remember_fact("Nobody reads the logs.").id).account[0]


def test_another_projects_words_are_not_quoted_beside_what_held_in_all(settings: Settings, tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    with Memory.open(settings, tmp_path / "here") as here, Memory.open(settings, tmp_path / "there") as there:
        old = here.remember_fact("Releases are tagged on Mondays", category="preference").id
        new = there.remember_fact("Releases wait for the heliotrope audit", replaces=old).id
        told = there.explain_fact(old)
        assert told.superseded_by is not None and told.superseded_by.id == new
        hidden = here.explain_fact(old)
        here.forget(old)
        restored = here.restore(old)
        for answer in (hidden, restored):
            assert "heliotrope" not in repr(answer) and new not in repr(answer)
            assert "another project's memory replaced it" in repr(answer)
        # What was replaced by it there is no more quoted here, where it holds in all.
        newest = there.remember_fact("Releases are tagged at night", category="preference", replaces=new).id
        assert [hit.id for hit in there.explain_fact(newest).supersedes] == [new, old]
        assert [hit.id for hit in here.explain_fact(newest).supersedes] == [old]
