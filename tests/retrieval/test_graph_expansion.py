"""From the best hits along their relations."""

from __future__ import annotations

import pytest

from hyperloci.model.edge import EdgeMember
from hyperloci.model.kinds import NodeKey, NodeType, Role
from hyperloci.model.search import SearchFilter
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.graph_expansion import EXPANSION_DECAY, OTHER_NAME_BONUS, expand_by_graph
from hyperloci.retrieval.intent import Intent, classify_intent
from hyperloci.retrieval.routing import plan_route
from hyperloci.retrieval.search import Searcher
from hyperloci.store import Store
from tests.support import NOW, add


def caused(store: Store, cause: NodeKey, effect: NodeKey) -> None:
    with store.transaction():
        store.edges.create_edge("causes", [EdgeMember(cause, Role.CAUSE), EdgeMember(effect, Role.EFFECT)], now=NOW)


@pytest.mark.req("B.05")
def test_a_why_is_answered_by_what_caused_the_best_hit(store: Store) -> None:
    effect, cause = add(store, "the deploy failed"), add(store, "somebody filled the disk")
    caused(store, cause.key, effect.key)
    question = "why did the deploy fail?"

    reached = expand_by_graph(store, plan_route(question, classify_intent(question)), {effect.key: 0.8}, ())
    found = Searcher(store, None).find(question, Conditions(where=SearchFilter()), limit=5)

    assert reached == pytest.approx({cause.key: 0.8 * EXPANSION_DECAY})
    assert [node.key for node in found.nodes] == [effect.key, cause.key]


@pytest.mark.req("B.05")
def test_what_came_of_it_is_walked_the_other_way(store: Store) -> None:
    cause, effect = add(store, "the disk was filled"), add(store, "a deploy failed")
    caused(store, cause.key, effect.key)
    question = "what were the consequences of the filled disk?"

    reached = expand_by_graph(store, plan_route(question, Intent.WHY), {cause.key: 0.5}, ())

    assert set(reached) == {effect.key}


@pytest.mark.req("B.05", "D.08", "W17")
@pytest.mark.parametrize(
    "where",
    [
        SearchFilter(types=("fact",)),
        SearchFilter(before=NOW),
        SearchFilter(scopes=("global",)),
        SearchFilter(min_confidence=0.9),
        SearchFilter(session_id="s1"),
    ],
    ids=["type", "time", "project", "confidence", "session"],
)
def test_what_is_led_to_meets_every_condition_that_was_asked_for(store: Store, where: SearchFilter) -> None:
    with store.transaction():
        session = store.sessions.note_seen("s1", store.scopes.ensure_scope("global", now=NOW), now=NOW)
        store.scopes.ensure_scope("project:0123456789abcdef", now=NOW)
    effect = add(store, "the deploy failed", event_time=NOW - 5, session_key=session.key, confidence=0.95)
    foreign = add(
        store,
        "somebody filled the disk",
        type=NodeType.EXPERIENCE,
        event_time=NOW + 5,
        scope="project:0123456789abcdef",
        confidence=0.5,
    )
    caused(store, foreign.key, effect.key)
    question = "why did the deploy fail?"

    def found(where: SearchFilter) -> list[NodeKey]:
        return [node.key for node in Searcher(store, None).find(question, Conditions(where=where), limit=5).nodes]

    assert found(SearchFilter()) == [effect.key, foreign.key]
    assert found(where) == [effect.key]


@pytest.mark.req("B.05")
def test_a_question_without_a_direction_follows_nothing(store: Store) -> None:
    cause, effect = add(store, "the disk was filled"), add(store, "a deploy failed")
    caused(store, cause.key, effect.key)

    assert expand_by_graph(store, plan_route("deploy", classify_intent("deploy")), {effect.key: 0.5}, ()) == {}


def mentioning(store: Store, content: str, entity: NodeKey) -> NodeKey:
    node = add(store, content)
    with store.transaction():
        store.entities.add_mention(node.key, entity, now=NOW)
    return node.key


def thing(store: Store, name: str, *aliases: str) -> NodeKey:
    node = add(store, name, type=NodeType.ENTITY, subtype="concept")
    with store.transaction():
        store.entities.register_entity(node.key, name, now=NOW)
        for alias in aliases:
            store.entities.add_alias(node.key, alias)
    return node.key


@pytest.mark.req("B.05", "B.06")
def test_what_is_said_of_a_thing_under_another_name_comes_up(store: Store) -> None:
    gateway = thing(store, "PaymentGateway", "cash desk")
    said = mentioning(store, "PaymentGateway settles on Fridays", gateway)
    declared = mentioning(store, "refunds take two days", gateway)
    for number in range(20):
        add(store, f"something else {number}")

    found = Searcher(store, None).find(
        "what is cash desk?", Conditions(where=SearchFilter(scopes=("global",))), limit=5
    )

    assert {node.key for node in found.nodes} == {said, declared}


@pytest.mark.req("B.05")
def test_what_names_the_thing_is_left_to_its_words(store: Store) -> None:
    gateway = thing(store, "PaymentGateway", "cash desk")
    named = mentioning(store, "the payment-gateway settles on Fridays", gateway)
    unnamed = mentioning(store, "cash desk is slow", gateway)
    for number in range(20):
        add(store, f"something else {number}")
    way = plan_route("what is the PaymentGateway?", Intent.WHAT)

    reached = expand_by_graph(store, way, {named: 0.5, unnamed: 0.4}, ("global",))

    assert set(reached) == {unnamed}
    assert 0.4 < reached[unnamed] < 0.4 + OTHER_NAME_BONUS


@pytest.mark.req("B.05")
def test_a_thing_that_every_memory_speaks_of_says_nothing(store: Store) -> None:
    gateway = thing(store, "PaymentGateway", "cash desk")
    keys = [mentioning(store, f"cash desk {number}", gateway) for number in range(8)]

    reached = expand_by_graph(store, plan_route("what is the PaymentGateway?", Intent.WHAT), {}, ("global",))

    assert set(reached) <= set(keys)
    assert max(reached.values()) < 0.02


@pytest.mark.req("B.05")
def test_other_questions_follow_no_mentions(store: Store) -> None:
    gateway = thing(store, "PaymentGateway", "cash desk")
    mentioning(store, "refunds take two days", gateway)

    assert expand_by_graph(store, plan_route("fix PaymentGateway", Intent.GENERAL), {}, ("global",)) == {}
