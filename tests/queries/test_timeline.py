"""Before X, after Y: memories around one, in the order they happened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import Node
from hyperloci.model.topic import Timeline
from tests.support import NOW, SHARED_FIXTURE, add, examples

MINUTE = 60_000


def said(memory: Memory, text: str, *, at: int, session: int | None = None, seq: int | None = None) -> Node:
    return add(
        memory.store,
        text,
        type=NodeType.EXPERIENCE,
        subtype="episode",
        scope=memory.project.id,
        event_time=NOW + at * MINUTE,
        session_key=session,
        seq=seq,
        place=text,
    )


def session(memory: Memory, name: str) -> int:
    with memory.store.transaction():
        scope = memory.store.scopes.ensure_scope(memory.project.id, now=NOW)
        return memory.store.sessions.note_seen(name, scope, now=NOW).key


def told(timeline: Timeline) -> list[str]:
    return [event.memory.content for event in timeline.events]


@pytest.mark.req("E.10")
def test_what_came_before_and_after_is_told_in_order(memory: Memory) -> None:
    nodes = [said(memory, f"event {number}", at=number) for number in range(7)]
    found = memory.get_timeline(nodes[3].id, limit=2)
    assert told(found) == ["event 1", "event 2", "event 3", "event 4", "event 5"]
    assert [event.relation for event in found.events] == ["before", "before", "anchor", "after", "after"]


@pytest.mark.req("E.10")
def test_one_side_alone_can_be_asked_for(memory: Memory) -> None:
    nodes = [said(memory, f"event {number}", at=number) for number in range(5)]
    assert told(memory.get_timeline(nodes[2].id, direction="before")) == ["event 0", "event 1", "event 2"]
    assert told(memory.get_timeline(nodes[2].id, direction="after")) == ["event 2", "event 3", "event 4"]


@pytest.mark.req("E.10")
def test_words_find_what_is_asked_about(memory: Memory) -> None:
    for number, text in enumerate(["we tried redis", "redis fell over", "we chose postgres", "postgres it is"]):
        said(memory, text, at=number)
    found = memory.get_timeline("chose", limit=1)
    assert told(found) == ["redis fell over", "we chose postgres", "postgres it is"]
    assert found.start == "took the memory nearest to the words."


@pytest.mark.req("E.10")
def test_what_was_taken_for_words_or_an_id_is_said(memory: Memory) -> None:
    nodes = [said(memory, text, at=number) for number, text in enumerate(["we tried redis", "redis fell over"])]
    assert memory.get_timeline(nodes[0].id).start == f"took the memory {nodes[0].id}"
    assert memory.get_timeline().start == ""


@pytest.mark.req("E.10")
def test_words_mean_what_happened_not_the_thing_or_the_file_that_is_called_so(memory: Memory) -> None:
    for number, text in enumerate(["we met", "we replaced Redis by valkey", "it held", "long after"]):
        said(memory, text, at=number)
    add(
        memory.store,
        "valkey",
        type=NodeType.ENTITY,
        subtype="tool",
        scope=memory.project.id,
        event_time=NOW + 99 * MINUTE,
    )
    (memory.project.root / "valkey.py").write_text("def valkey():\n    return 1\n", "utf-8")
    memory.index_path()

    for words in ("valkey", "valkey.py"):
        assert told(memory.get_timeline(words, limit=1)) == ["we met", "we replaced Redis by valkey", "it held"]


@pytest.mark.req("E.10")
def test_within_a_session_sequence_decides_whatever_the_clock_said(memory: Memory) -> None:
    key = session(memory, "s")
    nodes = [said(memory, f"turn {seq}", at=at, session=key, seq=seq) for seq, at in enumerate([0, 9, 1, 2, 3])]
    assert told(memory.get_timeline(nodes[2].id)) == [f"turn {seq}" for seq in range(5)]


def test_other_sessions_are_told_between_by_time(memory: Memory) -> None:
    one, other = session(memory, "one"), session(memory, "other")
    anchor = said(memory, "one 1", at=10, session=one, seq=1)
    said(memory, "one 0", at=2, session=one, seq=0)
    said(memory, "other 5", at=5, session=other, seq=5)
    said(memory, "one 2", at=12, session=one, seq=2)
    said(memory, "other 6", at=11, session=other, seq=6)
    assert told(memory.get_timeline(anchor.id)) == ["one 0", "other 5", "one 1", "other 6", "one 2"]


@pytest.mark.req("E.10")
def test_a_session_is_told_from_its_beginning_or_its_end(memory: Memory) -> None:
    key = session(memory, "s")
    for seq in range(6):
        said(memory, f"turn {seq}", at=seq, session=key, seq=seq)
    assert told(memory.get_timeline(session_id="s", limit=2)) == ["turn 0", "turn 1"]
    assert told(memory.get_timeline(session_id="s", direction="before", limit=2)) == ["turn 4", "turn 5"]


@pytest.mark.req("E.10")
def test_the_latest_session_is_one_in_which_something_was_said(memory: Memory) -> None:
    assert told(memory.get_timeline()) == []
    said(memory, "hello", at=0, session=session(memory, "said"), seq=0)
    session(memory, "just opened")
    assert told(memory.get_timeline()) == ["hello"]


@pytest.mark.req("E.10")
def test_where_nothing_was_said_yet_the_latest_session_is_named_all_the_same(memory: Memory) -> None:
    assert memory.get_timeline().session_id is None
    session(memory, "first")
    assert memory.get_timeline().session_id == "first"


@pytest.mark.req("E.10")
def test_what_was_made_in_a_session_stands_among_its_turns_by_time(memory: Memory) -> None:
    key = session(memory, "s")
    for seq, at in enumerate([0, 9, 1, 12]):
        said(memory, f"turn {seq}", at=at, session=key, seq=seq)
    for at in (0, 10):
        said(memory, f"made at {at}", at=at, session=key)
    ordered = ["turn 0", "made at 0", "turn 1", "turn 2", "made at 10", "turn 3"]
    assert told(memory.get_timeline(session_id="s")) == ordered
    assert told(memory.get_timeline(session_id="s", limit=3)) == ordered[:3]
    assert told(memory.get_timeline(session_id="s", direction="before", limit=3)) == ordered[-3:]


def test_files_things_and_forgotten_memories_are_no_events(memory: Memory) -> None:
    anchor = said(memory, "now", at=5)
    add(memory.store, "def f(): ...", type=NodeType.SNIPPET, subtype="code", scope=memory.project.id)
    add(memory.store, "Redis", type=NodeType.ENTITY, subtype="tool", scope=memory.project.id)
    memory.forget(said(memory, "gone", at=4).id)
    add(memory.store, "of another project", scope="other")
    assert told(memory.get_timeline(anchor.id)) == ["now"]


def test_what_cannot_be_drawn_is_refused_in_words(memory: Memory) -> None:
    node = said(memory, "event", at=0)
    with pytest.raises(BadRequestError, match="direction='sideways'"):
        memory.get_timeline(node.id, direction="sideways")
    with pytest.raises(BadRequestError, match="not both"):
        memory.get_timeline(node.id, session_id="s")
    with pytest.raises(BadRequestError, match="limit=51"):
        memory.get_timeline(node.id, limit=51)
    with pytest.raises(BadRequestError, match="around is empty"):
        memory.get_timeline(" ")
    with pytest.raises(NotFoundError, match="no session has this id"):
        memory.get_timeline(session_id="none")


@pytest.mark.req("E.10")
@hypothesis_settings(max_examples=examples(50), suppress_health_check=SHARED_FIXTURE)
@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(["a", "b", None])), min_size=1, max_size=10), st.data())
def test_before_and_after_mirror_each_other(
    memory: Memory, moments: list[tuple[int, str | None]], data: st.DataObject
) -> None:
    with memory.store.transaction():
        memory.store.connection.execute("DELETE FROM nodes")
    keys = {name: session(memory, name) for name in ("a", "b")}
    moments.sort(key=lambda moment: moment[0])
    nodes = [
        said(memory, f"{place} in {name}", at=at, session=keys.get(name or ""), seq=place if name else None)
        for place, (at, name) in enumerate(moments)
    ]
    place = data.draw(st.integers(0, len(nodes) - 1))
    found = told(memory.get_timeline(nodes[place].id, limit=50))
    assert found == [node.content for node in nodes]
