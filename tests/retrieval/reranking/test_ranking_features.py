"""What a reranker knows of a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.retrieval.reranking.ranking_features import FEATURES, measure_candidates
from hyperloci.retrieval.scoring import combine_scores
from hyperloci.store import Store
from tests.support import NOW, add, candidates

TURN: dict[str, Any] = {"type": NodeType.EXPERIENCE, "subtype": "episode", "origin": Origin.USER_PROMPT}


def measure(
    store: Store, text: str, *nodes: Node, spaces: Mapping[str, Mapping[NodeKey, float]] | None = None
) -> list[dict[str, float]]:
    found = candidates(store, *nodes)
    seen = spaces or {"e1": dict.fromkeys(found, 0.5)}
    rows = measure_candidates(text, seen, found, combine_scores(seen, found, profile="auto"))
    return [dict(zip(FEATURES, row, strict=True)) for row in rows.tolist()]


@pytest.mark.parametrize(
    ("question", "form", "answer", "other"),
    [
        ("How many retries are allowed?", "number", "we allow 5 retries", "we allow retries"),
        ("how long may it take", "number", "half an hour", "not for ever"),
        ("When was it released?", "time", "it came out last week", "it came out"),
        ("Who reviews the schema?", "person", "ask Mr. Bakker for that", "ask the database team for that"),
        ("Сколько попыток разрешено?", "number", "разрешено пять попыток", "разрешены попытки"),
        ("Когда вышел релиз?", "time", "вышел вчера", "вышел"),
    ],
)
def test_a_text_that_holds_what_is_asked_for_is_known_by_it(
    store: Store, question: str, form: str, answer: str, other: str
) -> None:
    can, cannot = measure(store, question, add(store, answer), add(store, other))

    assert (can[form], cannot[form]) == (1.0, 0.0)


def test_what_is_not_asked_for_is_no_answer(store: Store) -> None:
    (row,) = measure(store, "What do we do with retries?", add(store, "we allow 5 retries, ask Mr. Bakker"))

    assert (row["number"], row["person"]) == (0.0, 0.0)


def test_ranks_fall_from_one_and_are_nothing_where_a_space_saw_nothing(store: Store) -> None:
    first, second, unseen = (add(store, text) for text in ("a", "b", "c"))
    spaces = {"e1": {first.key: 0.9, second.key: 0.4, unseen.key: 0.1}, "e6": {first.key: 0.2, second.key: 0.6}}

    rows = measure(store, "q", first, second, unseen, spaces=spaces)

    assert [row["e1_rank"] for row in rows] == [1.0, 0.75, 0.6]
    assert [row["e6_rank"] for row in rows] == [0.75, 1.0, 0.0]


def test_a_heading_counts_by_what_it_shares_with_the_question(store: Store) -> None:
    document: dict[str, Any] = {"type": NodeType.SNIPPET, "subtype": "markdown", "origin": Origin.MARKDOWN}
    named = add(store, "text", title="Guide > Retry limits", **document)
    other = add(store, "text", title="Retry limits > Installation", **document)

    one, two = measure(store, "retry", named, other)

    assert (one["title_asked"], one["title_named"]) == (1.0, 0.5)
    assert (two["title_asked"], two["title_named"]) == (0.0, 0.0)


def test_turns_near_a_good_one_are_told_from_those_far_away(store: Store) -> None:
    with store.transaction():
        session = store.sessions.note_seen("s", store.scopes.ensure_scope("global", now=NOW), now=NOW).key
    turns = [add(store, f"turn {seq}", session_key=session, session_id="s", seq=seq, **TURN) for seq in (1, 2, 40)]
    spaces = {"e1": {turns[0].key: 0.9, turns[1].key: 0.1, turns[2].key: 0.1}}

    best, beside, far = measure(store, "q", *turns, spaces=spaces)

    assert beside["nearby"] > 0.5 > far["nearby"]
    assert best["nearby"] < beside["nearby"]


def test_facts_told_on_one_occasion_are_near_each_other_and_others_are_not(store: Store) -> None:
    first, second = add(store, "a"), add(store, "b")
    later = add(store, "c", now=NOW + 86_400_000)

    rows = measure(store, "q", first, second, later)

    assert rows[0]["nearby"] > 0.5
    assert rows[2]["nearby"] == 0.0


def test_what_was_said_right_before_and_after_counts_by_its_own_score(store: Store) -> None:
    with store.transaction():
        session = store.sessions.note_seen("s", store.scopes.ensure_scope("global", now=NOW), now=NOW).key
    turns = [add(store, f"turn {seq}", session_key=session, session_id="s", seq=seq, **TURN) for seq in (1, 2, 4)]

    asked, reply, alone = measure(
        store, "q", *turns, spaces={"e1": {turns[0].key: 0.8, turns[1].key: 0.2, turns[2].key: 0.2}}
    )

    assert (reply["before"], reply["after"]) == (asked["rule"], 0.0)
    assert (asked["before"], asked["after"]) == (0.0, reply["rule"])
    assert (alone["before"], alone["after"]) == (0.0, 0.0)


def test_a_turn_and_what_stands_beside_it_are_seen_as_one_text(store: Store) -> None:
    first, second, other = add(store, "a"), add(store, "b"), add(store, "c", now=NOW + 86_400_000)
    spaces = {"e1": {first.key: 0.8, second.key: 0.2, other.key: 0.2}}

    lifting, lifted, alone = measure(store, "q", first, second, other, spaces=spaces)

    assert lifting["joint"] == lifted["joint"] > 0.2
    assert alone["joint"] == 0.2


def test_a_document_has_nothing_beside_it(store: Store) -> None:
    section: dict[str, Any] = {"type": NodeType.SNIPPET, "subtype": "markdown", "origin": Origin.MARKDOWN}

    rows = measure(store, "q", add(store, "a", **section), add(store, "b", **section))

    assert [(row["before"], row["after"]) for row in rows] == [(0.0, 0.0)] * 2


def test_no_feature_is_below_nothing(store: Store) -> None:
    node = add(store, "-")

    (row,) = measure(store, "how many when who", node, spaces={"e1": {node.key: -0.3}})

    assert min(row.values()) >= 0.0


def test_without_candidates_there_are_no_rows(store: Store) -> None:
    assert measure_candidates("q", {}, {}, {}).shape == (0, len(FEATURES))
