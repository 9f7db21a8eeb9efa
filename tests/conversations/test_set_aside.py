"""Background work and transcripts: one bad memory or line is set aside, and neither stops the others nor comes back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.conversations.capture.session_events import Capture
from hyperloci.conversations.capture.sessions import add_turns, end_session, start_session
from hyperloci.conversations.consolidation import consolidator
from hyperloci.conversations.consolidation.causes import causal_links
from hyperloci.conversations.consolidation.consolidator import consolidate_sessions
from hyperloci.conversations.consolidation.findings import ConsolidationPayload
from hyperloci.conversations.consolidation.heuristics import extract
from hyperloci.conversations.pyramid import builder
from hyperloci.conversations.pyramid.pyramid_jobs import build_pyramids
from hyperloci.jobs import MaintenanceContext
from hyperloci.knowledge.entities import entity_service
from hyperloci.knowledge.entities import merge as merging
from hyperloci.knowledge.entities.entity_service import merge
from hyperloci.knowledge.entities.registry import EntityLinker
from hyperloci.maintenance import annotation_job
from hyperloci.maintenance.annotation_job import NEXT_KEY, annotate_again, annotate_old_memories
from hyperloci.model.kinds import EntityKind
from hyperloci.model.node import Node
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.model.turn import Speaker, Turn
from hyperloci.store import Store
from hyperloci.store.entity_merges import StoredMerge
from hyperloci.store.memories.entities import Entity
from hyperloci.text.tokens import count_tokens
from tests.support import NOW, FakeClock, add

PROJECT = "p"


@pytest.fixture
def context(store: Store, settings: Settings, clock: FakeClock) -> MaintenanceContext:
    return MaintenanceContext(store=store, settings=settings, clock=clock)


def say(context: MaintenanceContext, session: str, *texts: str) -> None:
    """Play a session that is over."""
    turns = [
        Turn(uuid=f"{session}-{number}", role=Speaker.USER, text=text, timestamp_ms=context.clock() + number * 1_000)
        for number, text in enumerate(texts)
    ]
    with context.store.transaction():
        start_session(context.store, session, PROJECT, now=context.clock())
        add_turns(context.store, session, PROJECT, turns, now=context.clock())
        end_session(context.store, session, now=context.clock() + 60_000)


def set_aside(store: Store) -> list[tuple[str, str]]:
    """Return kind and subject's first word (or session) of what is set aside."""
    return [(str(item.kind), item.subject.split()[0]) for item in store.set_aside.list_all()]


def test_a_turn_that_no_fact_can_be_made_of_costs_its_session_nothing_else(
    context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def extract_unless_poisoned(turns: Sequence[Node], earlier: Sequence[Node], **how: Any) -> ConsolidationPayload:
        nonlocal calls
        calls += 1
        if any("poison" in turn.content for turn in turns):
            raise RecursionError
        return extract(turns, earlier, **how)

    monkeypatch.setattr(consolidator, "extract", extract_unless_poisoned)
    say(
        context,
        "s",
        "Let's use PostgreSQL for the invoices because SQLite locks up under our load.",
        "Here is some poison for you.",
        "I prefer small commits over large ones in this project.",
    )
    say(context, "t", "We decided to keep the login page in Svelte because the team knows it.")
    consolidate_sessions(context)
    facts = "\n".join(node.content for node in context.store.nodes.query_nodes(limit=100) if node.type != "experience")
    assert all(word in facts for word in ("PostgreSQL", "small commits", "Svelte"))
    assert set_aside(context.store) == [("memory", "consolidate")]
    made = calls
    assert consolidate_sessions(context) == 0 and calls == made


def test_a_session_whose_causes_cannot_be_told_is_passed_over(
    context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def infer(turns: Sequence[Node]) -> Any:
        if any("poison" in turn.content for turn in turns):
            raise ValueError
        return []

    monkeypatch.setattr(causal_links, "infer_causes", infer)
    say(context, "s", "Some poison.", "And more.")
    say(context, "t", "Nothing of the kind.", "Nor here.")
    causal_links.infer_session_causes(context)
    assert set_aside(context.store) == [("memory", "causes")]
    monkeypatch.setattr(causal_links, "infer_causes", lambda turns: pytest.fail("it was looked at again"))
    causal_links.infer_session_causes(context)


def test_causes_are_looked_for_pair_by_pair_to_the_end(context: MaintenanceContext) -> None:
    one_by_one = replace(context, settings=replace(context.settings, causal_inference_batch_size=1))
    say(one_by_one, "s", "One.", "Two.", "Three.")
    for _ in range(9):
        causal_links.infer_session_causes(one_by_one)
    assert one_by_one.store.consolidations.list_without_causes(9) == []


def test_a_memory_that_cannot_be_annotated_keeps_no_other_from_it(
    context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = add(context.store, "the poison"), add(context.store, "Kubernetes runs the staging cluster")

    def annotate(store: Store, node: Node, *arguments: Any, linker: EntityLinker, **more: Any) -> None:
        annotate_again(store, node, *arguments, linker=linker, **more)
        if node.key == bad.key:
            raise OverflowError

    monkeypatch.setattr(annotation_job, "annotate_again", annotate)
    with context.store.transaction():
        context.store.meta.set(NEXT_KEY, "1")
    assert annotate_old_memories(context) >= 2
    assert context.store.meta.get(NEXT_KEY) is None
    assert [entity.canonical_name for entity in context.store.entities.list_of_node(good.key)] == ["Kubernetes"]
    assert set_aside(context.store) == [("memory", "annotate")]


def test_a_session_whose_pyramid_cannot_be_built_waits_until_it_grows(
    context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    def count(text: str) -> int:
        nonlocal tried
        if "poison" in text:
            tried += 1
            raise ValueError
        return count_tokens(text)

    monkeypatch.setattr(builder, "count_tokens", count)
    say(context, "s", *(f"poison number {number}" for number in range(12)))
    say(context, "t", *(f"turn number {number}" for number in range(12)))
    assert build_pyramids(context) == 1
    assert set_aside(context.store) == [("memory", "pyramid")]
    build_pyramids(context)
    assert tried == 1
    say(context, "s", *(f"more {number}" for number in range(12, 24)))
    build_pyramids(context)
    assert tried == 2


def test_an_entity_that_cannot_be_summed_up_does_not_wait_before_the_others(
    context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = context.store
    with store.transaction():
        linker = EntityLinker(store)
        for name in ("Kafka", "Redis"):
            linker.declare_entity(name, PROJECT, now=NOW)
    for number in range(4):
        for name in ("Kafka", "Redis"):
            node = add(store, f"{name} is the queue of service number {number} in our staging cluster.", scope=PROJECT)
            with store.transaction():
                linker.link_text(node.key, PROJECT, node.content, now=NOW)
    whole, tried = entity_service.summary_of, []

    def summary(store: Store, entity: Any) -> str:
        tried.append(entity.canonical_name)
        if entity.canonical_name == "Kafka":
            raise MemoryError
        return whole(store, entity)

    monkeypatch.setattr(entity_service, "summary_of", summary)
    assert entity_service.summarise_entities(context) == 1
    assert entity_service.summarise_entities(context) == 0
    assert sorted(tried) == ["Kafka", "Redis"]
    assert set_aside(store) == [("memory", "enrich")]


def test_a_pair_that_cannot_be_merged_keeps_no_other_apart(
    context: MaintenanceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = context.store
    with store.transaction():
        linker = EntityLinker(store)
        keys = [
            linker.declare_entity(name, PROJECT, now=NOW) for name in ("auth one", "auth two", "login one", "login two")
        ]
    found = [store.entities.get_entity(key) for key in keys if key is not None]
    one, two, three, four = (entity for entity in found if entity is not None)
    assert {one.kind} <= set(EntityKind)
    pairs = {store.scopes.find_key(PROJECT): [(one, two, 1.0), (three, four, 1.0)]}
    monkeypatch.setattr(merging, "alike", lambda store, key: pairs.get(key, []))

    def merge_unless_first(store: Store, kept: Entity, merged: Entity, **more: Any) -> StoredMerge:
        if kept.node_key == one.node_key:
            raise ValueError
        return merge(store, kept, merged, **more)

    monkeypatch.setattr(merging, "merge", merge_unless_first)
    assert merging.merge_alike_entities(context) == 1
    assert set_aside(store) == [("memory", "merge")]


BAD_LINES = [
    b'{"type":"user","uuid":"u1","message":{"role":"user","content":',
    b'{"type":"user","uuid":"u1","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"type":"user","uuid":"u1","number":' + b"9" * 5_000 + b',"message":{"role":"user","content":"x"}}',
    b'\xff\xfe{"type":"user"\xff',
    b'{"type":"user","uuid":"half \\ud83d","message":{"role":"user","content":"a text"}}',
]
"""Cut off, nested too deeply, a number too long, no text, an id that is half a character."""


@pytest.mark.parametrize("bad", BAD_LINES, ids=["cut", "deep", "number", "bytes", "surrogate"])
def test_a_bad_line_of_a_transcript_costs_that_line(
    store: Store, settings: Settings, clock: FakeClock, tmp_path: Path, bad: bytes
) -> None:
    path = tmp_path / "s.jsonl"
    good = [line("a", "the first words"), line("b", "the last words")]
    path.write_bytes(good[0] + bad + b"\n" + good[1])
    record = CaptureRecord(
        id="r",
        kind=CaptureKind.TURNS,
        session_id="s",
        project_id=PROJECT,
        project_name=PROJECT,
        project_root="",
        at=clock(),
        path=str(path),
    )
    assert Capture(store, settings, clock).store_record(record) == 2
    said = [node.content for node in store.nodes.query_nodes(type="experience")]
    assert sorted(said) == ["the first words", "the last words"]
    (item,) = store.set_aside.list_all()
    assert item.kind is SetAsideKind.TRANSCRIPT_LINE and item.subject.startswith("s:")
    assert Capture(store, settings, clock).store_record(record) == 0
    assert [again.tries for again in store.set_aside.list_all()] == [1]


def line(uuid: str, text: str) -> bytes:
    """Return a line of a transcript."""
    entry = {"type": "user", "uuid": uuid, "message": {"role": "user", "content": text}}
    return json.dumps(entry).encode() + b"\n"
