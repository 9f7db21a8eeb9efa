"""A withheld memory is shown to no session, whichever way would lead to it, and stays withheld where it goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from tests.support import NOW

SECRET = "The staging database listens on port 5432."
BESIDE = "The gateway caches answers for an hour."


def test_relations_lead_to_no_withheld_memory_and_do_not_count_it(memory: Memory) -> None:
    secret, beside, start = (memory.remember_fact(text).id for text in (SECRET, BESIDE, "Office hours begin at nine."))
    for other in (secret, beside):
        memory.relate("supports", [{"id": start, "role": "subject"}, {"id": other, "role": "object"}])
    memory.withhold(secret)

    found = memory.find_related(start, relationship="supports")
    assert [item.id for item in found.related] == [beside]
    assert found.relations == ("supports out 1",)
    assert secret not in [node.id for node in memory.get_related_nodes(start)]
    memory.release(secret)
    assert {item.id for item in memory.find_related(start, relationship="supports").related} == {secret, beside}


def test_the_timeline_leaves_a_withheld_memory_out(memory: Memory) -> None:
    secret, beside = memory.remember_fact(SECRET).id, memory.remember_fact(BESIDE).id
    memory.withhold(secret)

    assert [event.memory.id for event in memory.get_timeline(beside).events] == [beside]


def test_a_list_of_memories_has_withheld_ones_only_among_those_that_ended(memory: Memory) -> None:
    secret = memory.remember_fact(SECRET).id
    memory.withhold(secret)

    assert memory.list_memories() == ()
    assert [hit.id for hit in memory.list_memories(include_ended=True)] == [secret]


def test_what_is_known_of_an_entity_comes_from_no_withheld_memory(memory: Memory) -> None:
    secret = memory.remember_fact(SECRET, entities=["Pelikan"]).id
    beside = memory.remember_fact(BESIDE, entities=["Pelikan"]).id
    memory.withhold(secret)

    assert [hit.id for hit in memory.get_entity_info("Pelikan").facts] == [beside]


def test_no_memory_is_told_to_be_in_doubt_because_of_a_withheld_one(memory: Memory) -> None:
    secret, beside = memory.remember_fact(SECRET).id, memory.remember_fact(BESIDE).id
    for label in ("contradicts", "updates"):
        memory.relate(label, [{"id": secret, "role": "subject"}, {"id": beside, "role": "object"}])
    assert len(memory.get(beside).notes) == 2
    memory.withhold(secret)

    assert memory.get(beside).notes == ()


def test_a_withheld_turn_stands_in_no_window_of_its_session(memory: Memory) -> None:
    turns = [Turn(uuid=text, role=Speaker.USER, text=text, timestamp_ms=NOW) for text in (SECRET, BESIDE)]
    memory.add_turns("s", turns)
    (secret,) = memory.search(SECRET, limit=1).results
    memory.withhold(secret.id)

    text = memory.get_context_window(2_000, session_id="s").text
    assert BESIDE in text
    assert SECRET not in text


def test_a_withheld_memory_stays_withheld_in_the_memory_that_imports_it(
    memory: Memory, settings: Settings, project: Path, tmp_path: Path
) -> None:
    secret, beside = memory.remember_fact(SECRET).id, memory.remember_fact(BESIDE).id
    memory.withhold(secret)
    exported = tmp_path / "memory.jsonl"
    with open(exported, "w", encoding="utf-8") as out:
        memory.write_export(out, memory.choose_export())

    with Memory.open(replace(settings, database=tmp_path / "other.db"), project) as other:
        other.import_file(exported)
        assert "withheld" in other.get(secret).notes[0]
        assert [hit.id for hit in other.search("staging database gateway").results] == [beside]
