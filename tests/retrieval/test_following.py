"""From the best hits along their relations."""

from __future__ import annotations

import pytest

from hyperloci.model.edge import Member
from hyperloci.model.kinds import NodeKey, Role
from hyperloci.model.search import Where
from hyperloci.retrieval.following import PASSED_ON, followed
from hyperloci.retrieval.intent import Intent, classify
from hyperloci.retrieval.routing import route
from hyperloci.retrieval.search import Searcher
from hyperloci.retrieval.where import Conditions
from hyperloci.store import Store
from tests.support import NOW, add


def caused(store: Store, cause: NodeKey, effect: NodeKey) -> None:
    with store.transaction():
        store.edges.create_edge("causes", [Member(cause, Role.CAUSE), Member(effect, Role.EFFECT)], now=NOW)


@pytest.mark.req("B.05")
def test_a_why_is_answered_by_what_caused_the_best_hit(store: Store) -> None:
    effect, cause = add(store, "the deploy failed"), add(store, "somebody filled the disk")
    caused(store, cause.key, effect.key)
    question = "why did the deploy fail?"

    reached = followed(store, route(question, classify(question)), {effect.key: 0.8}, ())
    found = Searcher(store, None).search(question, Conditions(where=Where()), limit=5)

    assert reached == pytest.approx({cause.key: 0.8 * PASSED_ON})
    assert [node.key for node in found.nodes] == [effect.key, cause.key]


@pytest.mark.req("B.05")
def test_what_came_of_it_is_walked_the_other_way(store: Store) -> None:
    cause, effect = add(store, "the disk was filled"), add(store, "a deploy failed")
    caused(store, cause.key, effect.key)
    question = "what were the consequences of the filled disk?"

    reached = followed(store, route(question, Intent.WHY), {cause.key: 0.5}, ())

    assert set(reached) == {effect.key}


@pytest.mark.req("B.05")
def test_a_question_without_a_direction_follows_nothing(store: Store) -> None:
    cause, effect = add(store, "the disk was filled"), add(store, "a deploy failed")
    caused(store, cause.key, effect.key)

    assert followed(store, route("deploy", classify("deploy")), {effect.key: 0.5}, ()) == {}
