"""The façade: every use case on a real database, without vectors unless a test brings them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hyperloci.clock import MS_PER_DAY, to_iso
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.conversations.unasked.quiet_prompts import MeasuredPrompt, score_quietness
from hyperloci.embedder.client import DEFAULT_SECONDS, NOTICE_SECONDS, EmbedderClient
from hyperloci.embedder.models.profile_models import load_light_encoder
from hyperloci.embedder.process.embedding_queue import drain_queue, read_encoder_inputs
from hyperloci.embedder.protocol import DeadlineError
from hyperloci.embedder.query_encoder import HURRIED_SECONDS, NOTHING_EMBEDDED
from hyperloci.errors import BadRequestError, NotFoundError, StoreCorruptError, StoreReadOnlyError
from hyperloci.memory import Memory
from hyperloci.model.answers import ContradictionKind, ContradictionNature
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeId
from hyperloci.model.record import CaptureRecord
from hyperloci.model.search import MAX_USER_FACTS
from hyperloci.model.turn import Speaker, Turn
from hyperloci.retrieval.search import Searcher
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.store import Store
from hyperloci.store.memories.decay import has_faded
from tests.support import NOW, FakeClock, FakeEncoder, vector_of


@pytest.mark.req("B.15", "D.09")
def test_what_is_remembered_is_found_by_its_words(memory: Memory) -> None:
    remembered = memory.remember_fact("The CI runs on Python 3.11 only", category="constraint")
    memory.remember_fact("The billing service keeps invoices for ten years")

    answer = memory.search("which python does the ci run")

    assert answer.results[0].id == remembered.id
    assert answer.mode == "keyword"
    assert answer.degraded is not None and "switched off" in answer.degraded


@pytest.mark.req("E.03")
def test_the_same_fact_twice_is_stored_once_and_counted(memory: Memory) -> None:
    first = memory.remember_fact("Tabs, never spaces", category="preference")
    second = memory.remember_fact("Tabs, never spaces", category="preference")

    assert second.duplicate_of == first.id == second.id
    node = memory.store.nodes.get_node(first.id)
    assert node is not None and node.seen_count == 2
    assert memory.stats()["nodes"] == 1


def test_the_statistics_tell_how_long_the_archive_is_kept(memory: Memory) -> None:
    assert memory.stats()["archive"] == {
        "bytes": 0,
        "days": 0,
        "oldest": None,
        "limit": "kept for ever; cold_retention_days sets the limit",
    }


def test_preferences_are_global_and_decisions_the_projects(memory: Memory) -> None:
    preference = memory.get(memory.remember_fact("Tabs, never spaces", category="preference").id)
    decision = memory.get(memory.remember_fact("We ship on Fridays", category="decision").id)

    assert preference.scope == GLOBAL_SCOPE
    assert decision.scope == memory.project.id


def test_another_project_sees_only_what_is_global(
    memory: Memory, settings: Settings, tmp_path: Path, clock: FakeClock
) -> None:
    memory.remember_fact("Tabs, never spaces", category="preference")
    memory.remember_fact("The tabs of this project hold spaces", category="decision")
    other = tmp_path / "other"
    other.mkdir()

    with Memory.open(settings, other, clock=clock) as elsewhere:
        found = [hit.content for hit in elsewhere.search("tabs and spaces").results]
        everything = elsewhere.search("tabs and spaces", where={"scope": "all"}).results

    assert found == ["Tabs, never spaces"]
    assert len(everything) == 2


@pytest.mark.req("D.09", "B.17")
def test_what_a_project_says_otherwise_than_all_is_noted_in_it_alone(
    memory: Memory, settings: Settings, tmp_path: Path, clock: FakeClock
) -> None:
    preference = memory.remember_fact("Indentation is 4 spaces.", category="preference").id
    here = memory.remember_fact("Indentation is 2 spaces.", category="decision").id
    other = tmp_path / "other"
    other.mkdir()

    assert memory.get(preference).notes == (f"this project decided otherwise: {here}",)
    assert memory.get(here).notes == ()
    with Memory.open(settings, other, clock=clock) as elsewhere:
        assert elsewhere.get(preference).notes == ()
    memory.forget(here)
    assert memory.get(preference).notes == ()


@pytest.mark.req("B.13", "B.14")
def test_a_corrected_fact_is_replaced_and_kept_as_history(memory: Memory, clock: FakeClock) -> None:
    old = memory.remember_fact("The timeout is 30 seconds")
    before = clock.now
    clock.advance(MS_PER_DAY)
    new = memory.correct_fact(old.id, "The timeout is 60 seconds", reason="measured")

    assert [hit.id for hit in memory.search("timeout seconds").results] == [new.id]
    explanation = memory.explain_fact(new.id)
    assert [hit.id for hit in explanation.supersedes] == [old.id]
    history = memory.explain_fact(old.id)
    assert history.superseded_by is not None and history.superseded_by.id == new.id
    assert history.node.valid_until is not None
    as_of = memory.search("timeout seconds", where={"as_of": to_iso(before)})
    assert [hit.id for hit in as_of.results] == [old.id]


def test_a_chain_of_corrections_is_told_from_the_newest_on(memory: Memory) -> None:
    first = memory.remember_fact("The port is 8000")
    second = memory.correct_fact(first.id, "The port is 8080")
    third = memory.correct_fact(second.id, "The port is 9000")

    assert [hit.id for hit in memory.explain_fact(third.id).supersedes] == [second.id, first.id]


@pytest.mark.req("B.15")
def test_all_that_one_memory_replaced_is_told(memory: Memory) -> None:
    first = memory.remember_fact("The port is 8000")
    second = memory.correct_fact(first.id, "The port is 8080")
    other = memory.remember_fact("The gateway listens on port 8443 alone")
    newest = memory.correct_fact(second.id, "The port is 9000")
    memory.remember_fact("The port is 9000", replaces=other.id)

    history = memory.explain_fact(newest.id)
    assert [hit.id for hit in history.supersedes] == [other.id, second.id, first.id]
    assert f"It replaced id {other.id}, id {second.id}, id {first.id}, the latest first." in history.account


def test_a_fact_that_was_corrected_already_cannot_be_corrected_again(memory: Memory) -> None:
    old = memory.remember_fact("The port is 8000")
    memory.correct_fact(old.id, "The port is 8080")

    with pytest.raises(BadRequestError, match="newest version"):
        memory.correct_fact(old.id, "The port is 1")


@pytest.mark.req("B.13")
@pytest.mark.parametrize("by", ["correct_fact", "replaces"])
def test_a_memory_that_stands_already_can_be_named_as_the_one_that_holds(memory: Memory, by: str) -> None:
    old = memory.remember_fact("The port is 8000")
    newer = memory.remember_fact("The port is 9000")

    if by == "correct_fact":
        settled = memory.correct_fact(old.id, "The port is 9000")
    else:
        settled = memory.remember_fact("The port is 9000", replaces=old.id)

    assert (settled.id, settled.duplicate_of, settled.supersedes) == (newer.id, newer.id, old.id)
    assert [hit.id for hit in memory.search("port").results] == [newer.id]
    assert [hit.id for hit in memory.explain_fact(newer.id).supersedes] == [old.id]
    assert memory.explain_fact(old.id).node.valid_until is not None


@pytest.mark.req("D.10")
def test_remembering_says_at_once_what_it_contradicts(memory: Memory) -> None:
    old = memory.remember_fact("The request timeout is 30 seconds")

    new = memory.remember_fact("The request timeout is 60 seconds")

    assert [(item.id, item.kind) for item in new.contradictions] == [(old.id, ContradictionKind.VALUE)]
    assert new.contradictions[0].reason


@pytest.mark.req("D.10")
def test_a_replaced_fact_is_not_reported_as_a_contradiction(memory: Memory) -> None:
    old = memory.remember_fact("The request timeout is 30 seconds")

    new = memory.remember_fact("The request timeout is 60 seconds", replaces=old.id)

    assert new.supersedes == old.id
    assert new.contradictions == ()


@pytest.mark.req("D.10", "D.09")
def test_a_dead_end_is_found_when_it_is_proposed_again(memory: Memory) -> None:
    dead_end = memory.mark_dead_end("Caching sessions in Redis", "evictions logged users out")

    report = memory.find_contradictions("Let us cache sessions in Redis")

    assert dead_end.id in {item.id for item in report.contradictions}
    assert "A dead end is among the results" in " ".join(memory.search("cache sessions in redis").hints)


@pytest.mark.req("E.16", "SPEC-02.23")
@pytest.mark.req("E.16", "B.13")
def test_what_was_replaced_before_it_was_forgotten_is_restored_as_replaced(memory: Memory) -> None:
    old = memory.remember_fact("The upload timeout is 30 s")
    new = memory.correct_fact(old.id, "The upload timeout is 60 s")
    for id in (old.id, new.id):
        memory.forget(id)
    assert memory.restore(new.id).ended is None
    restored = memory.restore(old.id)
    assert restored.ended is not None and f"id {new.id} replaced it" in restored.ended
    assert restored.replaced_by is not None and restored.replaced_by.content == "The upload timeout is 60 s"


def test_a_forgotten_memory_can_be_restored_for_thirty_days(memory: Memory, clock: FakeClock) -> None:
    fact = memory.remember_fact("We deploy with Ansible")
    assert memory.forget(fact.id, reason="wrong").sharing is None
    assert memory.search("deploy ansible").results == ()
    assert "forgotten" in memory.get(fact.id).notes

    clock.advance(29 * MS_PER_DAY)
    memory.restore(fact.id)
    assert [hit.id for hit in memory.search("deploy ansible").results] == [fact.id]

    memory.forget(fact.id)
    clock.advance(31 * MS_PER_DAY)
    with pytest.raises(BadRequestError, match="30 days"):
        memory.restore(fact.id)


@pytest.mark.req("E.16")
def test_what_is_forgotten_again_stays_forgotten_for_as_long(memory: Memory, clock: FakeClock) -> None:
    fact = memory.remember_fact("We deploy with Ansible")
    first = memory.forget(fact.id, reason="wrong")
    clock.advance(MS_PER_DAY)
    assert memory.forget(fact.id) == first
    assert [line.operation for line in memory.explain_fact(fact.id).log] == ["create", "forget"]


@pytest.mark.req("E.16")
def test_what_faded_and_is_forgotten_then_is_told_as_forgotten(memory: Memory, clock: FakeClock) -> None:
    fact = memory.remember_fact("We deploy with Ansible", confidence=0.2)
    before = memory.store.nodes.get_node(fact.id)
    clock.advance(4_000 * MS_PER_DAY)
    assert memory.prune_faded().ids == (fact.id,)
    clock.advance(MS_PER_DAY)
    memory.forget(fact.id, reason="private")
    assert [line.operation for line in memory.explain_fact(fact.id).log][-1] == "forget"
    assert not has_faded(memory.store.log, NodeId(fact.id))
    memory.restore(fact.id)
    after = memory.store.nodes.get_node(fact.id)
    assert before is not None and after is not None and after.tier == before.tier


def test_restoring_what_is_not_forgotten_is_refused_with_words(memory: Memory) -> None:
    fact = memory.remember_fact("We deploy with Ansible")

    with pytest.raises(BadRequestError, match="not forgotten"):
        memory.restore(fact.id)


@pytest.mark.req("E.03", "E.16")
def test_what_was_told_again_since_it_was_forgotten_is_not_restored_beside_it(memory: Memory) -> None:
    old = memory.remember_fact("We deploy with Ansible", category="decision")
    memory.forget(old.id)
    again = memory.remember_fact("We deploy with Ansible", category="decision")

    with pytest.raises(BadRequestError, match=f"says the same as {again.id[:8]}, which holds: .* forget"):
        memory.restore(old.id)
    memory.correct_fact(again.id, "We deploy with Terraform")

    assert [hit.content for hit in memory.search("deploy").results] == ["We deploy with Terraform"]
    assert memory.restore(old.id).ended is None


def test_a_statement_in_the_words_of_a_turn_does_not_keep_the_turn_from_being_restored(memory: Memory) -> None:
    memory.add_turns("s1", [Turn(uuid="1", role=Speaker.USER, text="We deploy with Ansible", timestamp_ms=None)])
    [turn] = memory.store.nodes.query_nodes("experience", subtypes=("episode",))
    memory.forget(turn.id)
    memory.remember_fact("We deploy with Ansible")

    assert memory.restore(turn.id).memory.id == turn.id


@pytest.mark.req("B.12")
def test_a_search_reinforces_what_it_returns_unless_told_not_to(memory: Memory) -> None:
    fact = memory.remember_fact("We deploy with Ansible", confidence=0.5)
    memory.search("deploy", reinforce=False)
    before = memory.store.nodes.get_node(fact.id)
    memory.search("deploy")
    after = memory.store.nodes.get_node(fact.id)

    assert before is not None and before.access_count == 0
    assert after is not None and after.access_count == 1 and after.confidence > 0.5


def test_a_search_answers_while_another_process_writes(memory: Memory, settings: Settings) -> None:
    fact = memory.remember_fact("We deploy with Ansible")
    with Store.open(settings.database) as other, other.transaction():
        found = memory.search("deploy").results

    node = memory.store.nodes.get_node(fact.id)
    assert [hit.id for hit in found] == [fact.id]
    assert node is not None and node.access_count == 0


@pytest.mark.req("B.13")
def test_a_confirmed_fact_never_fades(memory: Memory, clock: FakeClock) -> None:
    fading = memory.remember_fact("The staging password rotates", confidence=0.9)
    firm = memory.remember_fact("The release branch is main", confidence=0.5)
    memory.confirm_fact(firm.id)
    clock.advance(365 * MS_PER_DAY)

    assert memory.get(firm.id).confidence == 1.0
    assert memory.get(fading.id).confidence < 0.1


@pytest.mark.req("B.10")
def test_a_search_can_be_limited_to_an_entity_by_any_spelling(memory: Memory) -> None:
    about = memory.remember_fact("Deploys need her approval", entities=["Ada Lovelace"])
    memory.remember_fact("Deploys happen on Mondays")

    found = memory.search("deploys", entity_name="ada  LOVELACE").results

    assert [hit.id for hit in found] == [about.id]
    assert memory.explain_fact(about.id).entities == ("Ada Lovelace",)


@pytest.mark.req("B.13", "B.18")
@pytest.mark.parametrize("corrected", ["the gizmo needs a restart after a major update only", "only after a major one"])
def test_what_was_declared_of_a_fact_is_declared_of_its_correction(memory: Memory, corrected: str) -> None:
    told = memory.remember_fact("the gizmo needs a restart after each update", entities=["the gizmo"])
    right = memory.correct_fact(told.id, corrected)
    assert [hit.id for hit in memory.search("major", entity_name="the gizmo").results] == [right.id]
    newest = memory.remember_fact("it needs none any more", replaces=right.id)
    assert [hit.id for hit in memory.search("needs", entity_name="the gizmo").results] == [newest.id]


@pytest.mark.req("B.18")
def test_a_declared_thing_is_known_in_later_facts_with_any_article(memory: Memory) -> None:
    memory.remember_fact("it must be restarted", entities=["the gizmo"])
    later = memory.remember_fact("Our gizmo hums at night.")
    assert [hit.id for hit in memory.search("hums at night", entity_name="the gizmo").results][:1] == [later.id]


@pytest.mark.req("SPEC-02.25", "SPEC-02.26", "D.02")
def test_related_memories_are_walked_from_words_or_id(memory: Memory) -> None:
    cause = memory.remember_fact("The cache was never invalidated")
    effect = memory.remember_fact("Users saw stale prices")
    memory.relate("causes", [{"id": cause.id, "role": "cause"}, {"id": effect.id, "role": "effect"}], evidence="log")

    by_id = memory.find_related(cause.id, relationship="causes", direction="out")
    by_words = memory.find_related("stale prices", direction="in")

    assert [item.id for item in by_id.related] == [effect.id]
    assert [item.id for item in by_words.related] == [cause.id]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.remember_fact(""), "fact is empty"),
        (lambda m: m.remember_fact("   "), "fact is empty"),
        (lambda m: m.remember_fact("<private>all of it</private>"), "private"),
        (lambda m: m.remember_fact("x" * 20_001), "20001 characters; at most 20000"),
        (lambda m: m.remember_fact("x", category="gossip"), "category='gossip'"),
        (lambda m: m.remember_fact("x", scope="galaxy"), "scope='galaxy'"),
        (lambda m: m.remember_fact("x", confidence=2.0), "confidence=2.0"),
        (lambda m: m.search(""), "query is empty"),
        (lambda m: m.search("x", limit=0), "limit=0 is outside 1..50"),
        (lambda m: m.search("x", limit=10**9), "limit=1000000000 is outside"),
        (lambda m: m.search("x", content_type="songs"), "content_type='songs'"),
        (lambda m: m.search("x", profile="loud"), "profile='loud'"),
        (lambda m: m.search("x", after="soon"), "after='soon' is not a time"),
        (lambda m: m.search("x", where={"pth": "a"}), "unknown keys pth"),
        (lambda m: m.search("x", where={"types": ["dream"]}), "'dream'"),
        (lambda m: m.search("x", where={"lines": [5]}), "where.lines"),
        (lambda m: m.search("x", where={"lines": [9, 3]}), "not a range"),
        (lambda m: m.search("x", where={"min_confidence": "high"}), "where.min_confidence"),
        (lambda m: m.find_related("x", depth=9), "depth=9"),
        (lambda m: m.find_related("x", direction="up"), "direction='up'"),
        (lambda m: m.relate("likes", []), "members has 0 entries"),
        (lambda m: m.relate("", [{"id": "a"}]), "label is empty"),
        (lambda m: m.index_path("/etc"), "outside the project"),
    ],
)
def test_bad_input_is_refused_with_what_would_be_right(
    memory: Memory, call: Callable[[Memory], object], message: str
) -> None:
    with pytest.raises(BadRequestError) as caught:
        call(memory)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.get("nope"),
        lambda m: m.forget("nope"),
        lambda m: m.explain_fact("nope"),
        lambda m: m.correct_fact("nope", "x"),
        lambda m: m.remember_fact("x", replaces="nope"),
        lambda m: m.search("x", where={"related_to": "nope"}),
        lambda m: m.index_path("missing.py"),
        lambda m: m.find_related("nothing is about this"),
    ],
)
def test_what_does_not_exist_is_said_to_be_missing(memory: Memory, call: Callable[[Memory], object]) -> None:
    with pytest.raises(NotFoundError):
        call(memory)


def test_an_id_may_be_shortened_while_it_is_unique(memory: Memory) -> None:
    fact = memory.remember_fact("We deploy with Ansible")

    assert memory.get(fact.id[:8]).id == fact.id
    with pytest.raises(NotFoundError):
        memory.get(fact.id[:3])


@pytest.mark.req("SPEC-02.34")
def test_secrets_never_reach_the_file(memory: Memory, settings: Settings) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    remembered = memory.remember_fact(f"The deploy token is {secret}")

    assert remembered.redactions == 1
    written = b"".join(path.read_bytes() for path in settings.database.parent.glob("memory.db*"))
    assert secret.encode() not in written
    assert "[redacted:" in memory.get(remembered.id).content


@pytest.mark.req("D.01", "D.05")
def test_indexed_files_are_found_with_their_place(memory: Memory, project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "cache.md").write_text(
        "# Caching\n\n## Design\n\nEntries are evicted after an hour, oldest first, because memory is scarce. "
        "The eviction thread wakes every minute and never holds the lock for long.\n"
    )
    (project / "cache.py").write_text(
        'def evict(entries):\n    """Drop the oldest entries."""\n    return entries[1:]\n'
    )

    report = memory.index_path()

    assert report.files == 2 and report.added >= 2
    docs = memory.search("when are entries evicted", content_type="docs").results[0]
    assert docs.source.path == "docs/cache.md"
    assert docs.source.section_path[-1] == "Design"
    code = memory.search("drop the oldest entries", where={"path": "**/*.py"}).results[0]
    assert (code.source.path, code.source.symbol, code.source.line_start) == ("cache.py", "evict", 1)


def test_a_fact_about_code_is_flagged_when_that_code_changes(memory: Memory, project: Path) -> None:
    file = project / "cache.py"
    file.write_text("def evict(entries):\n    return entries[1:]\n\n\ndef other():\n    return 1\n")
    memory.index_path()
    fact = memory.remember_fact("`evict()` drops exactly one entry")

    file.write_text("def evict(entries):\n    return entries[1:]\n\n\ndef other():\n    return 2\n")
    memory.index_path()
    assert memory.get(fact.id).notes == ()

    file.write_text("def evict(entries):\n    return entries[9:]\n\n\ndef other():\n    return 2\n")
    memory.index_path()
    assert any(note.startswith("outdated") for note in memory.get(fact.id).notes)


def test_a_fact_older_than_its_code_is_anchored_once_that_is_indexed(memory: Memory, project: Path) -> None:
    fact = memory.remember_fact("`evict()` drops exactly one entry")
    (project / "cache.py").write_text("def evict(entries):\n    return entries[1:]\n")
    memory.index_path()
    assert memory.get(fact.id).notes == ()

    (project / "cache.py").write_text("def evict(entries):\n    return entries[9:]\n")
    memory.index_path()
    assert any(note.startswith("outdated") for note in memory.get(fact.id).notes)
    memory.confirm_fact(fact.id)
    assert memory.get(fact.id).notes == ()


@pytest.mark.req("B.01", "B.02", "E.10")
def test_turns_of_another_client_are_kept_once_and_found(memory: Memory) -> None:
    turns = [
        Turn(uuid="1", role=Speaker.USER, text="Which queue do we use for mails?", timestamp_ms=None),
        Turn(uuid="2", role=Speaker.ASSISTANT, text="RabbitMQ, since March.", timestamp_ms=None),
    ]

    assert memory.add_turns("session-1", turns) == 2
    assert memory.add_turns("session-1", turns) == 0
    hit = memory.search("rabbitmq", content_type="conversation").results[0]
    assert hit.source.session_id == "session-1"
    assert memory.list_recent_sessions()[0]["turns"] == 2


def hear(memory: Memory, clock: FakeClock, session: str) -> RecordFactory:
    """Return what records a session's events, a second after the last one."""
    return RecordFactory(memory.project, session, now=clock.advance(1_000))


def record_exchange(memory: Memory, clock: FakeClock, session: str, prompt: str, answer: str) -> CaptureRecord:
    """Keep a prompt, and return the record of its answer."""
    asked = hear(memory, clock, session).record_prompt(prompt)
    assert asked is not None
    memory.keep(asked)
    memory.consolidate_record(asked)
    return hear(memory, clock, session).record_turns(None, answer)


def list_extracted(memory: Memory) -> list[str]:
    found = memory.store.nodes.query_nodes(scopes=(memory.project.id,))
    return sorted(node.content for node in found if node.origin == "extraction")


RELEASES = "Releases go out on Tuesdays only, support is fully staffed then."
ORDERS = "Orders are never deleted, only cancelled; the auditors insist."


@pytest.mark.req("B.17")
def test_what_a_turn_says_is_a_memory_when_it_was_answered(memory: Memory, clock: FakeClock) -> None:
    answered = record_exchange(memory, clock, "one", RELEASES, "Understood.")
    assert list_extracted(memory) == []
    memory.keep(answered)
    memory.consolidate_record(answered)
    memory.consolidate_record(answered)
    assert list_extracted(memory) == [RELEASES]


@pytest.mark.req("B.17")
def test_the_end_of_a_session_takes_up_a_prompt_that_nobody_answered(memory: Memory, clock: FakeClock) -> None:
    record_exchange(memory, clock, "one", RELEASES, "")
    ended = hear(memory, clock, "one").record_end("logout")
    memory.keep(ended)
    memory.consolidate_record(ended)
    assert list_extracted(memory) == [RELEASES]


@pytest.mark.req("B.16", "B.17")
def test_the_start_of_a_session_takes_up_what_waits_in_its_project(
    memory: Memory, settings: Settings, tmp_path: Path, clock: FakeClock
) -> None:
    (tmp_path / "other").mkdir()
    with Memory.open(settings, tmp_path / "other", clock=clock) as other:
        for there, said in ((memory, RELEASES), (other, ORDERS)):
            there.keep(record_exchange(there, clock, f"left in {there.project.name}", said, "Understood."))
            there.keep(hear(there, clock, f"left in {there.project.name}").record_end("logout"))
        started = hear(memory, clock, "next").record_start("startup")
        memory.keep(started)
        memory.consolidate_record(started)
        assert list_extracted(memory) == [RELEASES]
        assert list_extracted(other) == []


@pytest.mark.req("B.09", "B.20")
def test_a_context_keeps_within_its_budget_and_names_its_sources(memory: Memory) -> None:
    ids = {
        memory.remember_fact(
            f"Decision {number}: the deploy pipeline step {number} runs in parallel", category="decision"
        ).id
        for number in range(40)
    }

    context = memory.get_context("deploy pipeline", max_tokens=300)

    assert 0 < context.tokens <= 300
    assert set(context.sources) <= ids and context.sources
    assert "not instructions" in context.markdown


@pytest.mark.req("B.08", "B.20")
def test_a_contexts_own_budget_follows_the_setting_and_the_question(
    settings: Settings, project: Path, clock: FakeClock
) -> None:
    budgets = {}
    for budget in (400, 2_000):
        with Memory.open(dataclasses.replace(settings, context_token_budget=budget), project, clock=clock) as memory:
            for number in range(100):
                memory.remember_fact(f"Decision {number}: the deploy pipeline step {number} runs in parallel")
            budgets[budget] = [
                memory.get_context(question).tokens
                for question in ("deploy pipeline", "compare all steps of the deploy pipeline, and list which run when")
            ]

    assert budgets[400][0] <= 200 < budgets[400][1] <= 600
    assert 200 < budgets[2_000][0] <= 1_000
    assert budgets[2_000][1] > budgets[400][1]


def test_a_context_about_nothing_known_is_empty(memory: Memory) -> None:
    memory.remember_fact("The deploy pipeline runs in parallel")

    assert memory.get_context("zebra migration habits").markdown == ""


@pytest.mark.req("D.09")
def test_what_is_known_of_the_user_is_recalled_facts_first(memory: Memory) -> None:
    memory.remember_fact("Likes short answers", category="preference")
    memory.remember_fact("Is called Ada", category="user_info")
    memory.remember_fact("We ship on Fridays", category="decision")

    assert [hit.content for hit in memory.recall_user_info()] == ["Is called Ada", "Likes short answers"]


@pytest.mark.req("D.09")
def test_who_the_user_is_is_recalled_however_many_preferences_came_after(memory: Memory) -> None:
    memory.remember_fact("Is called Ada", category="user_info")
    for number in range(MAX_USER_FACTS + 1):
        memory.remember_fact(f"Likes colour {number} for panel {number * 7}", category="preference")
    recalled = memory.recall_user_info()
    assert recalled[0].content == "Is called Ada"
    assert len(recalled) == 1 + MAX_USER_FACTS
    context = memory.get_context("who am I?")
    assert context.sources[0] == recalled[0].id


def test_a_project_that_gains_a_remote_keeps_its_memories(settings: Settings, tmp_path: Path, clock: FakeClock) -> None:
    import subprocess

    folder = tmp_path / "repository"
    folder.mkdir()

    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    git("init", "-q")
    git("commit", "--allow-empty", "-qm", "first")
    with Memory.open(settings, folder, clock=clock) as memory:
        fact = memory.remember_fact("We deploy with Ansible", category="decision")
        before = memory.project.id
    git("remote", "add", "origin", "https://example.org/team/tool.git")

    with Memory.open(settings, folder, clock=clock) as memory:
        assert memory.project.id == before
        assert [hit.id for hit in memory.search("ansible").results] == [fact.id]


@pytest.mark.req("SPEC-02.02")
def test_whatever_is_asked_of_a_damaged_database_is_answered_by_our_error(
    settings: Settings, project: Path, clock: FakeClock
) -> None:
    with Memory.open(settings, project, clock=clock) as memory:
        fact = memory.remember_fact("The CI runs on Python 3.11 only").id
    damage(settings.database)

    with Memory.open(settings, project, clock=clock) as memory:
        for ask in (memory.stats, memory.latest, memory.recall_user_info, memory.list_recent_sessions):
            with pytest.raises(StoreCorruptError):
                ask()
        for ask_about in (memory.get, memory.explain_fact, memory.search, memory.remember_fact, memory.forget):
            with pytest.raises(StoreCorruptError):
                ask_about(fact)


def damage(database: Path) -> None:
    """Overwrite the pages of every table but those that opening needs."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        roots = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE rootpage > 1"
            " AND tbl_name NOT IN ('scopes', 'places', 'sqlite_sequence')"
        ).fetchall()
    data = bytearray(database.read_bytes())
    for (root,) in roots:
        data[(root - 1) * page_bytes : root * page_bytes] = b"\xa5" * page_bytes
    database.write_bytes(data)


def test_a_text_that_is_no_utf_8_is_refused_wherever_it_is_given(memory: Memory) -> None:
    half = "\udcff redis"

    for ask in (memory.get, memory.find_related, memory.restore):
        with pytest.raises(BadRequestError, match="redis"):
            ask(half)
    with pytest.raises(BadRequestError, match="redis"):
        memory.search("redis", where={"section": half})


@pytest.mark.parametrize("path", ["a\0b", "x" * 5_000])
def test_what_no_file_system_takes_as_a_path_is_refused(memory: Memory, path: str) -> None:
    with pytest.raises(BadRequestError, match="path="):
        memory.index_path(path)


def test_a_database_that_cannot_be_written_is_still_read(
    settings: Settings, project: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(settings, project, clock=clock) as memory:
        fact = memory.remember_fact("The CI runs on Python 3.11 only").id
    may = os.access
    # Root may write whatever the permissions say: what the system answers is replaced, not the permissions.
    monkeypatch.setattr(os, "access", lambda path, mode, **more: not mode & os.W_OK and may(path, mode, **more))

    with Memory.open(settings, project, clock=clock) as memory:
        assert memory.search("python ci").results[0].id == fact
        assert memory.get_context("python ci").sources == (fact,)
        with pytest.raises(StoreReadOnlyError):
            memory.remember_fact("Another fact")


def test_a_database_that_is_not_there_and_cannot_be_made_is_an_error(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreReadOnlyError, match="cannot be opened for writing"):
        Memory.open(dataclasses.replace(settings, database=tmp_path / "file" / "memory.db"), tmp_path)


def test_a_secret_in_either_part_of_a_dead_end_is_counted_with_it(memory: Memory) -> None:
    told = memory.mark_dead_end("Calling the billing API", "password = 'hunter2-XkQ9v7Lm2pRt'")

    node = memory.store.nodes.get_node(told.id)
    assert told.redactions == 1
    assert node is not None and node.metadata["redactions"] == 1


def test_a_walk_from_nothing_is_refused_by_its_own_name(memory: Memory) -> None:
    with pytest.raises(BadRequestError, match="topic"):
        memory.find_related("  ")


class Paraphrasing(FakeEncoder):
    """Takes its query to mean what a text says, as far as a cosine."""

    def __init__(self, text: str, cosine: float) -> None:
        super().__init__()
        self._text, self._cosine = text, cosine

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        meant, own = vector_of(self._text), vector_of(text)
        own -= float(own @ meant) * meant
        sine = (1 - self._cosine**2) ** 0.5
        vector = (self._cosine * meant + sine * own / np.linalg.norm(own)).astype(np.float32)
        return QueryFingerprint(model_id=self.model_id, dense={"e1": vector})


@pytest.mark.req("B.09")
@pytest.mark.parametrize(("cosine", "is_given"), [(0.4, True), (0.2, False)])
def test_a_context_holds_what_is_known_by_meaning_and_nothing_unrelated(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, cosine: float, is_given: bool
) -> None:
    fact = "TLS traffic enters at number 8443"
    encoder = Paraphrasing(fact, cosine)
    id = memory.remember_fact(fact).id
    with memory.store.transaction():
        model = memory.store.vectors.use_model(encoder.model_id, encoder.dimensions, now=NOW)
        node = memory.store.nodes.get_node(id)
        assert node is not None
        memory.store.vectors.put_fingerprint(
            node.key,
            model,
            compute_fingerprints(read_encoder_inputs(memory.store, [node]), encoder)[0].columns,
            now=NOW,
        )
    monkeypatch.setattr(memory, "_searcher", Searcher(memory.store, encoder))

    context = memory.get_context("which port does the gateway listen on")

    assert context.sources == ((id,) if is_given else ())
    assert bool(context.markdown) is is_given


def test_what_surely_contradicts_a_fact_is_stored_with_it(memory: Memory) -> None:
    old = memory.remember_fact("The upload timeout is 30 s")
    new = memory.remember_fact("The upload timeout is 60 s")
    assert [item.sure for item in new.contradictions] == [True]
    assert [hit.id for hit in memory.find_related(old.id, relationship="contradicts").related] == [new.id]
    assert {memory.get_facets(fact.id)["verification"] for fact in (old, new)} == {"disputed"}
    assert {hit.id for hit in memory.search_by_query_line("is:contradicted").results} == {old.id, new.id}
    notes = {hit.id: hit.notes for hit in memory.search("upload timeout").results}
    assert f"contradicted by {new.id}" in notes[old.id]


@pytest.mark.req("D.10")
def test_what_holds_in_all_projects_is_not_disputed_by_what_one_of_them_decides(memory: Memory) -> None:
    preference = memory.remember_fact("The upload timeout is 30 s", scope="global")
    decided = memory.remember_fact("The upload timeout is 60 s", scope="project")
    assert [item.id for item in decided.contradictions] == [preference.id]
    assert memory.get_facets(preference.id)["verification"] == "unverified"
    notes = {hit.id: hit.notes for hit in memory.search("upload timeout").results}
    assert notes == {preference.id: (f"this project decided otherwise: {decided.id}",), decided.id: ()}


def test_a_dispute_is_over_when_one_of_the_two_is_replaced(memory: Memory) -> None:
    old = memory.remember_fact("The upload timeout is 30 s")
    new = memory.remember_fact("The upload timeout is 60 s")
    again = memory.remember_fact("The upload timeout is 60 s", replaces=old.id)
    assert (again.duplicate_of, again.supersedes) == (new.id, old.id)
    assert memory.get_facets(new.id)["verification"] == "unverified"
    assert [(hit.id, hit.notes) for hit in memory.search("upload timeout").results] == [(new.id, ())]


def test_a_dispute_is_over_when_one_of_the_two_is_forgotten(memory: Memory) -> None:
    old = memory.remember_fact("The upload timeout is 30 s")
    new = memory.remember_fact("The upload timeout is 60 s")
    memory.forget(old.id)
    assert memory.get_facets(new.id)["verification"] == "unverified"


def test_a_dispute_is_over_when_one_of_the_two_is_purged_and_stays_where_a_third_disputes_it(memory: Memory) -> None:
    first, second, third = (memory.remember_fact(f"The upload timeout is {seconds} s").id for seconds in (30, 60, 90))
    memory.purge([first])
    assert [memory.get_facets(id)["verification"] for id in (second, third)] == ["disputed", "disputed"]
    memory.purge([second])
    assert memory.get_facets(third)["verification"] == "unverified"


def test_a_dispute_is_over_when_one_of_the_two_fades(memory: Memory, clock: FakeClock) -> None:
    old = memory.remember_fact("The upload timeout is 30 s", confidence=0.4)
    new = memory.remember_fact("The upload timeout is 60 s")
    clock.advance(50 * MS_PER_DAY)
    assert memory.prune_faded().ids == (old.id,)
    assert memory.get_facets(new.id)["verification"] == "unverified"


@pytest.mark.req("E.16")
def test_what_is_restored_is_in_dispute_again_with_what_holds_alone(memory: Memory) -> None:
    old = memory.remember_fact("The upload timeout is 30 s").id
    new = memory.remember_fact("The upload timeout is 60 s").id

    def is_disputed() -> list[bool]:
        return [memory.get_facets(id)["verification"] == "disputed" for id in (old, new)]

    memory.forget(old)
    memory.restore(old)
    assert is_disputed() == [True, True]
    memory.forget(old)
    memory.forget(new)
    memory.restore(old)
    assert is_disputed()[0] is False
    memory.restore(new)
    assert is_disputed() == [True, True]
    memory.forget(old)
    memory.confirm_fact(new)
    memory.restore(old)
    assert is_disputed() == [True, False]


@pytest.mark.req("E.16")
def test_what_is_restored_is_in_no_dispute_that_nobody_found_and_stays_as_it_was_set(memory: Memory) -> None:
    joined = [memory.remember_fact(text).id for text in ("The harbour crane is red", "Invoices go out at night")]
    memory.relate("contradicts", [{"id": id, "role": "participant"} for id in joined])
    doubted = memory.remember_fact("The tide table is printed on Mondays").id
    memory.set_facets(doubted, {"verification": "disputed"})
    for id in (joined[0], doubted):
        memory.forget(id)
        memory.restore(id)
    assert [memory.get_facets(id)["verification"] for id in joined] == ["unverified", "unverified"]
    assert memory.get_facets(doubted)["verification"] == "disputed"


@pytest.mark.req("D.07")
def test_what_somebody_called_disputed_stays_so_though_what_contradicts_it_is_forgotten(memory: Memory) -> None:
    doubted = memory.remember_fact("The upload timeout is 30 s").id
    rival = memory.remember_fact("The upload timeout is 60 s").id
    memory.set_facets(doubted, {"verification": "disputed"})
    memory.forget(rival)
    assert memory.get_facets(doubted)["verification"] == "disputed"
    memory.restore(rival)
    assert [memory.get_facets(id)["verification"] for id in (doubted, rival)] == ["disputed", "disputed"]


def test_remembering_names_what_is_said_on_the_subject_and_the_call_that_replaces_it(memory: Memory) -> None:
    old = memory.remember_fact("Invoices are rendered by the billing worker at night")
    new = memory.remember_fact("Invoices of the billing worker carry a QR code")
    assert [item.id for item in new.affected] == [old.id]
    assert f'replaces="{old.id}"' in new.affected[0].replace_by
    assert memory.remember_fact("Ana likes green tea").affected == ()


def test_a_dead_end_names_the_decision_it_puts_in_question(memory: Memory) -> None:
    decided = memory.remember_fact("We deploy with Helm", category="decision")
    tried = memory.mark_dead_end("Deploying with Helm", "the charts were unreadable")
    assert [item.id for item in tried.affected] == [decided.id]
    assert f'id="{decided.id}"' in tried.affected[0].replace_by


def test_a_dead_end_names_no_memory_that_a_word_of_its_approach_brought(memory: Memory) -> None:
    for fact in (
        "Tests run with four workers in CI",
        "The pipeline runs on Fridays at 14:00",
        "Feature flags live in a table",
    ):
        memory.remember_fact(fact)
    assert memory.mark_dead_end("Running migrations in parallel", "deadlocks on billing tables").affected == ()
    assert memory.mark_dead_end("WebSockets for live updates", "proxies cut idle connections").affected == ()


@pytest.mark.req("D.09", "D.10")
def test_a_dead_end_names_no_memory_on_its_subject_that_does_not_propose_its_approach(memory: Memory) -> None:
    proposed = memory.remember_fact("Sessions are kept in Redis", category="decision")
    for fact in (
        "Users who were logged out come back after evictions",
        "Sessions are filled with the user's language",
        "Sessions are never cached in Redis on staging",
    ):
        memory.remember_fact(fact)
    memory.mark_dead_end("Caching sessions in Redis Cluster", "the client does not follow its redirects")
    tried = memory.mark_dead_end("Caching sessions in Redis", "evictions logged users out when sessions filled it")
    assert [item.id for item in tried.affected] == [proposed.id]


def test_a_corrected_fact_is_not_among_what_its_correction_affects(memory: Memory) -> None:
    old = memory.remember_fact("The upload timeout is 30 s")
    new = memory.correct_fact(old.id, "The upload timeout is 60 s")
    assert (new.contradictions, new.affected) == ((), ())
    assert memory.search_by_query_line("is:contradicted").results == ()


def test_documents_are_held_against_a_statement_too(memory: Memory, project: Path) -> None:
    (project / "guide.md").write_text(
        "# Client\n\nThe client does not follow redirects by default.\n", encoding="utf-8"
    )
    memory.index_path(project)
    (found,) = memory.find_contradictions("The client follows redirects by default").contradictions
    assert (found.source.path, found.nature) == ("guide.md", ContradictionNature.CONTRADICTION)


@pytest.mark.model
def test_a_memory_without_an_embedder_is_searched_by_meaning(settings: Settings, project: Path) -> None:
    with Memory.open(settings, project) as memory:
        id = memory.remember_fact("Logins are kept in Redis").id
    assert drain_queue(settings.database, load_light_encoder(settings), lambda: False)

    with Memory.open(dataclasses.replace(settings, embedder=True), project) as cold:
        answer = cold.search("where does the session cache live")
        quick = cold.search("where does the session cache live", quick=True)

    assert (answer.mode, answer.degraded, [hit.id for hit in answer.results]) == ("hybrid", None, [id])
    assert quick.mode == "keyword" and "No embedder is running" in (quick.degraded or "")


def test_a_prompt_is_measured_without_an_embedder_that_still_starts(
    settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(settings, project) as memory:
        id = memory.remember_fact("Logins are kept in Redis").id
    assert drain_queue(settings.database, load_light_encoder(settings), lambda: False)
    monkeypatch.setattr(EmbedderClient, "is_ready", lambda self: True)

    with Memory.open(dataclasses.replace(settings, embedder=True), project) as memory:
        node = memory.store.nodes.get_node(id)
        assert node is not None
        measured = memory.measure_prompt("where does the session cache live", [node.key])

    assert measured.cosines[node.key] > 0.1


def test_who_remembers_a_fact_hardly_waits_until_the_embedder_was_told(
    settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[Path, float]] = []
    monkeypatch.setattr(EmbedderClient, "notify", lambda self, database, timeout: told.append((database, timeout)))
    with Memory.open(dataclasses.replace(settings, embedder=True), project) as memory:
        memory.remember_fact("Logins are kept in Redis")
    assert told == [(settings.database, NOTICE_SECONDS)]


def test_a_prompt_waits_once_for_an_embedder_that_answers_at_once(
    settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def be_late(self: EmbedderClient, text: str, timeout: float = DEFAULT_SECONDS) -> object:
        waited.append(timeout)
        raise DeadlineError("The embedder did not answer in time.")

    monkeypatch.setattr(EmbedderClient, "is_ready", lambda self: True)
    with Memory.open(dataclasses.replace(settings, embedder=True), project) as memory:
        id = memory.remember_fact("Logins are kept in Redis").id
        monkeypatch.setattr(EmbedderClient, "embed_query", be_late)
        node = memory.store.nodes.get_node(id)
        assert node is not None
        measured = memory.measure_prompt("where do logins go", [node.key])
        found = memory.search("logins in Redis", quick=True)
    assert waited == [HURRIED_SECONDS]
    assert measured == MeasuredPrompt(quietness=score_quietness("where do logins go"))
    assert [hit.id for hit in found.results] == [id] and found.mode == "keyword"


def test_a_memory_whose_texts_have_no_vectors_says_so(settings: Settings, project: Path) -> None:
    with Memory.open(dataclasses.replace(settings, embedder=True), project) as cold:
        cold.remember_fact("Logins are kept in Redis")
        answer = cold.search("logins")
    assert answer.mode == "keyword" and answer.degraded == NOTHING_EMBEDDED
