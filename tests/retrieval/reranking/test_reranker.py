"""The order of candidates by learned weights."""

from __future__ import annotations

from typing import Any

import pytest

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.retrieval.explanation import explain_scores
from hyperloci.retrieval.reranking.ranking_features import FEATURES
from hyperloci.retrieval.reranking.reranker import WEIGHTS, load_weights, rerank_candidates
from hyperloci.retrieval.scoring import Scores, combine_scores
from hyperloci.retrieval.sources.content_kind import ContentKind
from hyperloci.store import Store
from tests.support import NOW, add, candidates

TURN: dict[str, Any] = {"type": NodeType.EXPERIENCE, "subtype": "episode", "origin": Origin.USER_PROMPT}
SECTION: dict[str, Any] = {"type": NodeType.SNIPPET, "subtype": "markdown", "origin": Origin.MARKDOWN}
CODE: dict[str, Any] = {"type": NodeType.SNIPPET, "subtype": "code", "origin": Origin.CODE}
QUESTION = "How many retries are allowed?"


def rank(
    store: Store, cosines: dict[NodeKey, float], *nodes: Node, text: str = QUESTION
) -> tuple[dict[NodeKey, Scores], dict[NodeKey, Scores]]:
    found = candidates(store, *nodes)
    spaces = {"e1": cosines, "e6": dict.fromkeys(found, 0.2), "e13": dict.fromkeys(found, 0.2)}
    rule = combine_scores(spaces, found, profile="auto")
    return rule, rerank_candidates(text, spaces, found, rule)


def said(store: Store, **fields: Any) -> tuple[Node, Node]:
    return add(store, "we talked about retries", **fields), add(store, "we allow 5 retries", **fields)


@pytest.mark.parametrize("fields", [TURN, {}], ids=["turns", "facts"])
def test_of_two_that_say_as_much_the_one_with_the_answer_comes_first(store: Store, fields: dict[str, Any]) -> None:
    vague, answer = said(store, **fields)

    rule, learned = rank(store, {vague.key: 0.52, answer.key: 0.5}, vague, answer)

    assert rule[vague.key].total > rule[answer.key].total
    assert learned[answer.key].total > learned[vague.key].total


def test_the_scores_of_a_kind_stay_the_same_and_change_hands(store: Store) -> None:
    vague, answer = said(store, **TURN)

    rule, learned = rank(store, {vague.key: 0.52, answer.key: 0.5}, vague, answer)

    assert sorted(found.total for found in learned.values()) == sorted(found.total for found in rule.values())
    assert learned[answer.key].total == rule[vague.key].total
    assert learned[answer.key].parts == rule[answer.key].parts


def test_kinds_are_not_weighed_against_each_other_and_code_stays_as_it_is(store: Store) -> None:
    section = add(store, "retries 5", title="Retries", **SECTION)
    code = [add(store, text, **CODE) for text in ("def retry(): return 5", "def again(): return 6")]
    vague, answer = said(store, **TURN)
    cosines = {section.key: 0.4, code[0].key: 0.45, code[1].key: 0.3, vague.key: 0.52, answer.key: 0.5}

    rule, learned = rank(store, cosines, section, *code, vague, answer)

    for node in (section, *code):
        assert learned[node.key].total == rule[node.key].total
    assert not learned[code[0].key].learned


@pytest.mark.req("E.15")
def test_what_is_told_of_a_place_adds_up_to_the_order(store: Store) -> None:
    vague, answer = said(store, **TURN)

    _, learned = rank(store, {vague.key: 0.52, answer.key: 0.5}, vague, answer)

    told = {key: explain_scores(found, ())["learned"] for key, found in learned.items()}
    assert set(told[answer.key]) <= set(FEATURES)
    assert told[answer.key]["number"] > 0
    assert sum(told[answer.key].values()) > sum(told[vague.key].values())


def test_of_two_that_score_alike_the_one_that_follows_what_was_asked_about_comes_first(store: Store) -> None:
    with store.transaction():
        session = store.sessions.note_seen("s", store.scopes.ensure_scope("global", now=NOW), now=NOW).key
    turns = [
        add(store, text, session_key=session, session_id="s", seq=seq, **TURN)
        for seq, text in ((9, "it depends on the day"), (1, "how often do we try again"), (2, "it depends on the case"))
    ]
    elsewhere, asked, reply = turns

    _, learned = rank(store, {elsewhere.key: 0.4, asked.key: 0.6, reply.key: 0.4}, *turns)

    assert learned[reply.key].total > learned[elsewhere.key].total
    assert learned[reply.key].learned["before"] > 0
    assert not learned[elsewhere.key].learned["before"]


def test_long_messages_keep_the_order_of_the_rule(store: Store) -> None:
    filler = "and so on and so forth, " * 100
    vague, answer = add(store, f"retries {filler}", **TURN), add(store, f"5 retries {filler}", **TURN)

    rule, learned = rank(store, {vague.key: 0.51, answer.key: 0.5}, vague, answer)

    assert {key: found.total for key, found in learned.items()} == {key: found.total for key, found in rule.items()}


def test_what_has_no_vector_yet_keeps_its_score(store: Store) -> None:
    vague, answer = said(store, **TURN)
    fresh = add(store, "we allow 6 retries", **TURN)

    rule, learned = rank(store, {vague.key: 0.52, answer.key: 0.5}, vague, answer, fresh)

    assert learned[fresh.key].total == rule[fresh.key].total


@pytest.mark.parametrize("missing", ["e1", "e6", "e13"])
def test_without_a_space_that_the_weights_need_the_rule_decides(store: Store, missing: str) -> None:
    vague, answer = said(store, **TURN)
    found = candidates(store, vague, answer)
    spaces = {space: dict.fromkeys(found, 0.4) for space in ("e1", "e6", "e13") if space != missing}
    rule = combine_scores(spaces, found, profile="auto")

    assert rerank_candidates(QUESTION, spaces, found, rule) == rule


def test_the_weights_are_small_and_of_features_that_exist() -> None:
    assert WEIGHTS.stat().st_size < 4_096
    assert set(load_weights()) == {ContentKind.SAID, ContentKind.DOCUMENT}
    assert all(len(weights) == len(FEATURES) for weights in load_weights().values())
