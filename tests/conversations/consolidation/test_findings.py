"""The schema of consolidation: each item stands or falls by itself, whatever is given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.conversations.consolidation.findings import (
    LISTS,
    MAX_CONTENT_CHARS,
    MAX_ITEMS,
    CausalClaim,
    DeclaredConflict,
    FindingKind,
    NamedEntity,
    read_payload,
)
from tests.support import examples

pytestmark = pytest.mark.req("B.17")

TURNS = range(10)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


def test_a_whole_payload_is_read() -> None:
    payload = read_payload(
        {
            "facts": [{"content": " We use uv. ", "kind": "decision", "sources": [3, 3, 4], "confidence": 1}],
            "procedures": [{"content": "Run it.", "sources": [5], "kind": "ignored"}],
            "opinions": [{"content": "It is fast.", "sources": [5]}],
            "entities": [{"name": "uv", "type": "tool", "aliases": ["astral uv"]}],
            "causes": [{"cause": 1, "effect": 2, "evidence": "because"}],
            "conflicts": [{"old": "id", "new": "facts[0]", "reason": "later"}],
            "through": 9,
        },
        TURNS,
    )
    fact, procedure, opinion = payload.findings
    assert (fact.kind, fact.content, fact.sources, fact.confidence) == (FindingKind.DECISION, "We use uv.", (3, 4), 1.0)
    assert [item.kind for item in (procedure, opinion)] == [FindingKind.PROCEDURE, FindingKind.OPINION]
    assert [item.place for item in payload.findings] == ["facts[0]", "procedures[0]", "opinions[0]"]
    assert payload.entities == (NamedEntity("uv", "tool", ("astral uv",)),)
    assert payload.causes == (CausalClaim(1, 2, "because"),)
    assert payload.conflicts == (DeclaredConflict("id", "facts[0]", "later"),)
    assert (payload.through, payload.rejected) == (9, ())


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"content": "x", "sources": [10]}, "sources=10: the session has no such turn; the turns shown are 0 to 9"),
        ({"content": "x", "sources": [True]}, "sources=True: the session has no such turn"),
        ({"content": "x", "sources": "3"}, "sources must be a list"),
        ({"content": "x", "sources": list(range(21))}, "sources has 21 turns; at most 20"),
        ({"content": "", "sources": [1]}, "content must be a non-empty text"),
        ({"content": "x" * (MAX_CONTENT_CHARS + 1), "sources": [1]}, "content has 2001 characters; at most 2000"),
        ({"content": "x", "sources": [1], "kind": "procedure"}, "kind='procedure' is unknown: use one of semantic"),
        ({"content": "x", "sources": [1], "kind": ["fact"]}, "kind=['fact'] is unknown"),
        ({"content": "x", "sources": [1], "confidence": float("nan")}, "confidence=nan must be a number from 0 to 1"),
        ("x", "must be an object"),
    ],
)
def test_a_fact_that_cannot_be_used_is_refused_by_its_place_and_in_words(item: Any, reason: str) -> None:
    payload = read_payload({"facts": [item, {"content": "fine", "sources": [1]}]}, TURNS)
    assert [finding.content for finding in payload.findings] == ["fine"]
    (rejected,) = payload.rejected
    assert rejected.place == "facts[0]"
    assert reason in rejected.reason


def test_only_what_came_first_can_be_a_cause() -> None:
    (rejected,) = read_payload({"causes": [{"cause": 5, "effect": 2}]}, TURNS).rejected
    assert "a cause must come first" in rejected.reason


def test_of_too_many_items_the_first_are_read_and_the_rest_is_told() -> None:
    item = {"content": "x", "sources": [1]}
    payload = read_payload({"facts": [item] * (MAX_ITEMS + 5)}, TURNS)
    assert len(payload.findings) == MAX_ITEMS
    assert payload.rejected[0].reason == f"has {MAX_ITEMS + 5} items; the first {MAX_ITEMS} were read"


@pytest.mark.parametrize("given_value", [None, [], "facts", 7])
def test_what_is_no_object_is_refused_whole(given_value: object) -> None:
    (rejected,) = read_payload(given_value, TURNS).rejected
    assert rejected.place == "payload"


def test_a_session_without_turns_has_nothing_to_cite() -> None:
    (rejected,) = read_payload({"facts": [{"content": "x", "sources": [0]}]}, ()).rejected
    assert "the session has no turns" in rejected.reason


@given(st.dictionaries(st.sampled_from([*LISTS, "through", "other"]), JSON, max_size=7) | JSON)
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_given_what_is_read_is_valid(value: object) -> None:
    payload = read_payload(value, TURNS)
    for finding in payload.findings:
        assert finding.content.strip()
        assert set(finding.sources) <= set(TURNS)
        assert 0.0 <= finding.confidence <= 1.0
    assert all(cause.cause < cause.effect for cause in payload.causes)
    assert all(item.reason for item in payload.rejected)
