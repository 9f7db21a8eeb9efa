"""Answers are lean, whole, and no longer than a client shows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hyperloci.model.answers import (
    Contradiction,
    ContradictionKind,
    ContradictionReport,
    Explanation,
    IndexReport,
    LogLine,
    SkippedFile,
)
from hyperloci.model.search import MAX_USER_FACTS, Hit, HitSource, SearchAnswer
from hyperloci.model.write_answers import RememberedFact
from hyperloci_tools import answer_text, answer_values

HIT = Hit(
    id="h1",
    type="fact",
    subtype=None,
    content="We deploy on Fridays.",
    score=0.87654,
    confidence=0.9,
    tier="task",
    scope="global",
    created_at="2026-11-21T00:00:00.000+00:00",
    valid_from="2026-11-21T00:00:00.000+00:00",
    valid_until=None,
    source=HitSource(kind="tool"),
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def test_fields_that_say_nothing_are_left_out() -> None:
    shaped = answer_values.shape_hit(HIT)
    assert {"subtype", "valid_until", "notes", "explain", "score"}.isdisjoint(shaped)
    assert shaped["source"] == {"kind": "tool"}


def test_a_search_hit_carries_its_score_rounded() -> None:
    assert answer_values.shape_hits([HIT], scored=True)[0].get("score") == 0.877


def test_zero_and_false_do_say_something() -> None:
    assert answer_values.drop_empty({"a": 0, "b": False, "c": None, "d": ""}) == {"a": 0, "b": False}


@given(VALUES)
def test_a_lean_value_is_json_and_stays_as_it_is_when_leaned_again(value: Any) -> None:
    lean = answer_values.drop_empty(value)
    assert json.loads(json.dumps(lean)) == lean


@given(st.lists(st.integers(0, 5_000), max_size=30), st.integers(0, 20_000))
def test_texts_cut_to_the_fair_length_fit_into_the_room(lengths: list[int], room: int) -> None:
    cap = answer_values.fair_cap(lengths, room)
    assert sum(min(length, cap) for length in lengths) <= room


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=30), st.integers(100, 20_000))
def test_the_fair_length_wastes_less_than_a_character_a_text(lengths: list[int], room: int) -> None:
    cap = answer_values.fair_cap(lengths, room)
    used = sum(min(length, cap) for length in lengths)
    assert used == sum(lengths) or room - used < len(lengths)


def test_a_text_that_was_cut_says_so_and_where_the_whole_is() -> None:
    short, long = replace(HIT, content="brief"), replace(HIT, id="h2", content="x" * 50_000)
    first, second = answer_values.shape_hits([short, long])
    assert first["content"] == "brief"
    assert len(second["content"]) <= answer_values.ANSWER_CHARS
    assert "memory://node/h2" in second.get("notes", [""])[0]


def test_a_search_without_results_still_lists_them() -> None:
    answer = SearchAnswer(query="q", intent="general", strategy="s", mode="keyword", degraded=None, results=())
    assert answer_values.shape_search(answer)["results"] == []


def test_a_remembered_fact_names_only_what_happened() -> None:
    assert answer_values.shape_remembered(RememberedFact(id="n", scope="p")) == {"id": "n"}
    withheld = answer_values.shape_remembered(RememberedFact(id="n", scope="p", duplicate_of="n", withheld=True))
    assert withheld == {"id": "n", "duplicate_of": "n", "flags": ["withheld"]}


def test_a_contradiction_keeps_its_kind_and_reason() -> None:
    found = Contradiction(
        id="c",
        content="x",
        kind=ContradictionKind.NEGATION,
        score=0.91234,
        reason="says not",
        source=HitSource(kind="tool"),
    )
    assert answer_values.shape_contradictions([found]) == [
        {
            "id": "c",
            "content": "x",
            "kind": "negation",
            "score": 0.912,
            "nature": "contradiction",
            "reason": "says not",
            "source": {"kind": "tool"},
        }
    ]


LONG = replace(HIT, content="word " * 4_000)
DISAGREES = Contradiction(
    id="c", content=LONG.content, kind=ContradictionKind.NEGATION, score=0.9, reason="no", source=HitSource(kind="tool")
)
REPORT = ContradictionReport(
    statement=LONG.content, checked=60, contradictions=(DISAGREES,) * 50, on_subject=(LONG, HIT, HIT)
)
EXPLANATION = Explanation(
    node=LONG,
    account=("said",),
    sources=(LONG,) * 20,
    supersedes=(LONG,) * 20,
    superseded_by=LONG,
    entities=(),
    log=(),
)
SHOWN_CHARS = 50_000
"""What a client shows a model of one answer."""


def test_answers_of_the_longest_memories_are_shown_whole_by_a_client() -> None:
    report = answer_values.shape_contradiction_report(REPORT)
    for shaped in (report, answer_values.shape_explanation(EXPLANATION)):
        assert len(json.dumps(shaped)) < SHOWN_CHARS
    assert [hit["content"] for hit in report["on_subject"][1:]] == [HIT.content] * 2


def test_what_is_known_of_the_user_says_when_there_is_more() -> None:
    many = (replace(LONG, subtype="preference"),) * MAX_USER_FACTS
    shaped = answer_values.shape_user_facts((replace(HIT, subtype="user_info"), *many))
    assert len(json.dumps(shaped)) < SHOWN_CHARS
    assert "search_memory finds older ones" in shaped["note"]
    assert shaped["note"] in answer_text.render_user_facts(shaped)
    assert answer_values.shape_user_facts(many[1:])["note"] == answer_values.DATA


EXPLAINED = replace(
    HIT,
    content='\n\t"quoted"' * 500,
    notes=("contradicted by " + "0" * 36,) * 3,
    explain={f"space {number}": {"score": 0.123456} for number in range(20)},
)


def test_many_hits_with_what_is_said_of_them_are_shown_whole_by_a_client() -> None:
    answer = SearchAnswer(
        query="q" * 10_000,
        intent="general",
        strategy="s",
        mode="keyword",
        degraded=None,
        results=(EXPLAINED,) * 50,
    )
    shaped = answer_values.shape_search(answer)
    assert len(json.dumps(shaped)) < SHOWN_CHARS
    left_out = 50 - len(shaped["results"])
    assert shaped["hints"] == [f"{left_out} more are left out of so long an answer: ask without explain."]
    crowded = (replace(HIT, notes=("n" * 1_000,)),) * 50
    told = answer_values.shape_search(replace(answer, results=crowded))
    assert told["hints"][0].endswith("narrow the search.")
    plain = replace(answer, results=tuple(replace(hit, explain=None) for hit in answer.results))
    unexplained = answer_values.shape_search(plain)
    assert len(json.dumps(unexplained)) < SHOWN_CHARS
    assert len(unexplained["results"]) == 50


def test_a_long_history_is_shown_whole_by_a_client_and_says_how_much_more_there_is() -> None:
    lines = (LogLine(time=HIT.created_at, operation="forget", from_tier=None, to_tier=None, reason="why " * 500),) * 50
    history = replace(
        EXPLANATION, account=("said " * 50,) * 50, sources=(LONG,) * 100, supersedes=(LONG,) * 60, log=lines
    )
    shaped = answer_values.shape_explanation(history)
    assert len(json.dumps(shaped)) < SHOWN_CHARS
    assert (shaped["sources_more"], shaped["supersedes_more"]) == (80, 40)
    text = answer_text.render_explanation(shaped)
    assert "and 40 older ones" in text
    assert "and 80 more" in text


def test_of_many_skipped_files_the_first_are_named_and_the_rest_counted() -> None:
    skipped = tuple(SkippedFile(path=f"f{number}", reason="too large") for number in range(50))
    report = IndexReport(
        files=0,
        chunks=0,
        added=0,
        changed=0,
        moved=0,
        removed=0,
        unchanged_files=0,
        commits=0,
        skipped=skipped,
        seconds=0.123,
    )
    shaped = answer_values.index_report(report)
    assert len(shaped.get("skipped", [])) == answer_values.MAX_SKIPPED
    assert shaped.get("skipped_more") == 50 - answer_values.MAX_SKIPPED
