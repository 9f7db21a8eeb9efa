"""What stands beside an answer in a conversation."""

from __future__ import annotations

from hyperloci.model.kinds import NodeType, Origin
from hyperloci.model.node import ONE_OCCASION_MS, Node
from hyperloci.retrieval.adjacent_turns import MAX_FACT_KEYS, find_adjacent, score_neighbours
from hyperloci.store import Store
from tests.support import NOW, add, candidates


def turns(store: Store, *texts: str, session: str = "s1") -> list[Node]:
    with store.transaction():
        key = store.sessions.note_seen(session, store.scopes.ensure_scope("global", now=NOW), now=NOW).key
    return [
        add(store, text, type=NodeType.EXPERIENCE, subtype="episode", session_key=key, seq=seq, session_id=session)
        for seq, text in enumerate(texts, start=1)
    ]


def test_a_turn_has_the_better_of_the_turns_before_and_after_it(store: Store) -> None:
    one, two, three, far = turns(store, "a", "b", "c", "d")
    scores = {one.key: 0.3, two.key: 0.1, three.key: 0.8, far.key: 0.2}

    found = score_neighbours(candidates(store, one, two, three, far).values(), scores)

    assert found == {one.key: 0.1, two.key: 0.8, three.key: 0.2, far.key: 0.8}


def test_a_turn_without_a_session_or_a_place_in_it_stands_beside_nothing(store: Store) -> None:
    (here,) = turns(store, "a")
    with store.transaction():
        session = store.sessions.note_seen("s1", store.scopes.ensure_scope("global", now=NOW), now=NOW)
    placeless = add(store, "b", type=NodeType.EXPERIENCE, subtype="episode", session_key=session.key)
    alone = [add(store, text, type=NodeType.EXPERIENCE, subtype="episode", seq=seq) for seq, text in enumerate("cd")]
    nodes = [here, placeless, *alone]

    assert score_neighbours(candidates(store, *nodes).values(), {node.key: 0.5 for node in nodes}) == {here.key: 0.0}


def test_sessions_and_other_memories_stand_beside_nothing(store: Store) -> None:
    (here,), (there,) = turns(store, "a"), turns(store, "b", session="s2")
    read = add(store, "a page", type=NodeType.SNIPPET, subtype="markdown", origin=Origin.MARKDOWN)

    found = score_neighbours(
        candidates(store, here, there, read).values(), {here.key: 0.5, there.key: 0.5, read.key: 0.5}
    )

    assert found == {here.key: 0.0, there.key: 0.0}


def told(store: Store, *texts: str, gap_ms: int = 1_000) -> list[Node]:
    return [
        add(store, text, type=NodeType.FACT, subtype="insight", origin=Origin.TOOL, event_time=NOW + place * gap_ms)
        for place, text in enumerate(texts)
    ]


def test_a_fact_has_the_better_of_the_facts_told_before_and_after_it(store: Store) -> None:
    one, two, three = told(store, "a", "b", "c")
    scores = {one.key: 0.3, two.key: 0.1, three.key: 0.8}

    found = score_neighbours(candidates(store, one, two, three).values(), scores)

    assert found == {one.key: 0.1, two.key: 0.8, three.key: 0.1}


def test_facts_told_long_after_each_other_or_far_apart_stand_beside_nothing(store: Store) -> None:
    old, new = told(store, "a", "b", gap_ms=ONE_OCCASION_MS + 1)
    near, *between, far = told(store, *"cdefgh")
    nodes = [old, new, near, far]

    found = score_neighbours(candidates(store, *nodes).values(), {node.key: 0.5 for node in nodes})

    assert len(between) >= MAX_FACT_KEYS
    assert found[old.key] == found[far.key] == 0.0


def test_what_was_read_and_not_told_stands_beside_nothing(store: Store) -> None:
    (fact,) = told(store, "a")
    read = add(store, "b", type=NodeType.SNIPPET, subtype="markdown", origin=Origin.MARKDOWN)

    found = score_neighbours(candidates(store, fact, read).values(), {fact.key: 0.5, read.key: 0.9})

    assert found == {fact.key: 0.0}


def test_what_stands_before_is_told_from_what_stands_after(store: Store) -> None:
    first, second = turns(store, "a", "b")
    one, two = told(store, "c", "d")

    found = find_adjacent(candidates(store, first, second, one, two).values())

    assert found == {
        first.key: (None, second.key),
        second.key: (first.key, None),
        one.key: (None, two.key),
        two.key: (one.key, None),
    }
