"""Where a question leads."""

from __future__ import annotations

import pytest

from hyperloci.retrieval.intent import Effort, Intent, classify_intent, estimate_effort
from hyperloci.retrieval.routing import GraphStrategy, RelationToFollow, Route, plan_route
from tests.support import NOW


def routed(query: str) -> Route:
    return plan_route(query, classify_intent(query), NOW)


@pytest.mark.req("B.05")
def test_why_walks_the_causes_of_the_best_hits() -> None:
    found = routed("Why did we drop the cache?")
    assert (found.strategy, found.direction) == (GraphStrategy.CAUSAL, "in")
    assert found.relation_steps[:2] == (RelationToFollow("causes", "in"), RelationToFollow("derived_from", "out"))


@pytest.mark.req("B.05")
def test_what_came_of_something_walks_its_effects() -> None:
    found = plan_route("What were the consequences of dropping the cache?", Intent.WHY)
    assert found.direction == "out" and found.relation_steps[0] == RelationToFollow("causes", "out")


@pytest.mark.req("B.05")
def test_when_is_temporal_and_a_date_takes_the_direction_from_it() -> None:
    assert routed("When did we deploy before the outage?").direction == "in"
    dated = routed("When did we deploy before March?")
    assert (dated.strategy, dated.direction) == (GraphStrategy.TEMPORAL, "both")


@pytest.mark.req("B.05")
def test_before_and_after_give_the_chain_of_turns_its_direction() -> None:
    assert routed("When did we stop, before the release?").relation_steps == (RelationToFollow("follows", "out"),)
    assert routed("When did it break after the release?").relation_steps == (RelationToFollow("follows", "in"),)


@pytest.mark.req("B.05", "E.10")
@pytest.mark.parametrize(
    ("query", "direction"),
    [
        ("What did we do right after the migration failed?", "in"),
        ("what happened before the cache was dropped", "out"),
        ("What came next after: the tests were moved?", "in"),
        ("Что было после того, как упал деплой?", "in"),
        ("Что мы сделали перед релизом?", "out"),
    ],
)
def test_what_happened_before_or_after_walks_the_chain_of_turns(query: str, direction: str) -> None:
    found = routed(query)
    assert (found.strategy, found.relation_steps) == (GraphStrategy.TEMPORAL, (RelationToFollow("follows", direction),))


@pytest.mark.req("B.05")
@pytest.mark.parametrize("query", ["What is the after_commit hook?", "what runs on port 80", "retry after a timeout"])
def test_other_questions_with_such_words_walk_no_chain(query: str) -> None:
    assert routed(query).relation_steps == ()


@pytest.mark.req("B.05")
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Who owns AuthService?", "AuthService"),
        ("What is the auth service?", "auth service"),
        ("tell me about PostgreSQL", "PostgreSQL"),
    ],
)
def test_who_and_what_lead_to_the_entity_they_name(query: str, name: str) -> None:
    found = routed(query)
    assert found.strategy is GraphStrategy.ENTITY and name in found.entities


@pytest.mark.req("B.05")
def test_anything_else_is_a_hybrid_search_and_walks_nothing() -> None:
    found = routed("retry policy timeout")
    assert (found.strategy, found.relation_steps) == (GraphStrategy.HYBRID, ())


@pytest.mark.req("B.05", "B.07")
def test_a_time_named_in_passing_makes_a_general_question_temporal() -> None:
    found = routed("deploy scripts yesterday")
    assert found.strategy is GraphStrategy.TEMPORAL


@pytest.mark.req("B.08")
@pytest.mark.parametrize("query", ["what do we do next week?", "plans for tomorrow", "что будет через две недели"])
def test_a_time_in_the_future_makes_no_question_temporal_as_nothing_is_stored_of_it(query: str) -> None:
    assert routed(query).strategy is not GraphStrategy.TEMPORAL


def test_simple_and_complex_questions_have_the_sizes_of_the_document() -> None:
    assert estimate_effort("retry policy") == Effort(depth=2, limit=5, tokens=1_000)
    assert estimate_effort("compare redis and memcached") == Effort(depth=4, limit=20, tokens=3_000)
    assert (routed("retry policy").depth, routed("compare redis and memcached").depth) == (2, 4)


def test_a_route_depends_on_nothing_but_its_arguments() -> None:
    assert routed("Why did it fail yesterday?") == routed("Why did it fail yesterday?")
    assert plan_route("deploy scripts yesterday", Intent.GENERAL).strategy is GraphStrategy.HYBRID
