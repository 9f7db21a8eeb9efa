"""What a score is made of."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.retrieval.rank_fusion import reciprocal_rank_fusion
from hyperloci.retrieval.scoring import (
    LONG_TURN_WEIGHT,
    SHORT_TURN_WEIGHT,
    Scores,
    choose_dense_weight,
    combine_scores,
    show_score,
)
from hyperloci.retrieval.space_weights import PERSPECTIVES
from hyperloci.store import Store
from tests.support import add, candidates, examples

ranks = st.lists(st.integers(0, 30), unique=True, max_size=20)


def test_meaning_and_words_both_count(store: Store) -> None:
    both, words, meaning = (add(store, text) for text in ("a b", "c d", "e f"))
    nodes = candidates(store, both, words, meaning)

    cosines = {both.key: 0.9, words.key: 0.1, meaning.key: 0.9}
    scores = combine_scores({"e1": cosines, "e6": {both.key: 1.0, words.key: 1.0}}, nodes, profile="auto")

    assert scores[both.key].total > scores[meaning.key].total
    assert scores[both.key].total > scores[words.key].total
    assert scores[words.key].spaces == {"e1": 0.1, "e6": 1.0}
    assert scores[meaning.key].dominant() == "e1"


def test_what_no_space_brings_is_not_the_space_that_speaks_most() -> None:
    parts = {"e6": 0.05, "e9": 0.04, "commits": 0.2, "nearby_code": 0.1, "called_code": 0.1}
    assert Scores(spaces={"e6": 0.1, "e9": 0.1}, parts=parts, total=0.49).dominant() == "e6"


def test_without_vectors_words_decide_alone(store: Store) -> None:
    node = add(store, origin=Origin.MARKDOWN)

    score = combine_scores({"e6": {node.key: 0.25}}, candidates(store, node), profile="auto")[node.key]

    assert (score.total, score.cosine, score.dominant()) == (0.25, None, "e6")


def test_what_has_no_vector_yet_is_ranked_by_its_words_alone(store: Store) -> None:
    fresh, old = add(store, "a b", origin=Origin.MARKDOWN), add(store, "c d", origin=Origin.MARKDOWN)
    nodes = candidates(store, fresh, old)

    scores = combine_scores({"e1": {old.key: 0.5}, "e6": dict.fromkeys(nodes, 0.75)}, nodes, profile="auto")

    assert scores[fresh.key].total == 0.75
    assert scores[fresh.key].total > scores[old.key].total


def test_what_was_remembered_on_purpose_comes_before_what_was_said_or_done(store: Store) -> None:
    said: dict[str, Any] = {"type": NodeType.EXPERIENCE, "subtype": "episode", "origin": Origin.USER_PROMPT}
    done: dict[str, Any] = {"type": NodeType.EXPERIENCE, "subtype": "action", "origin": Origin.HOOK}
    kept, turn, action = add(store, "same", subtype="insight"), add(store, "same", **said), add(store, "same", **done)
    nodes = candidates(store, action, turn, kept)

    scores = combine_scores({"e6": dict.fromkeys(nodes, 0.5)}, nodes, profile="auto")

    assert sorted(nodes, key=lambda key: -scores[key].total) == [kept.key, turn.key, action.key]


def test_an_opposite_meaning_is_not_counted_against_the_words(store: Store) -> None:
    node = add(store, origin=Origin.MARKDOWN)

    spaces = {"e1": {node.key: -0.8}, "e6": {node.key: 1.0}}
    score = combine_scores(spaces, candidates(store, node), profile="semantic")[node.key]

    assert score.total == pytest.approx(0.2)


def test_long_turns_are_found_by_meaning_and_short_ones_by_words(store: Store) -> None:
    def turn(text: str) -> float:
        node = add(store, text, type=NodeType.EXPERIENCE, subtype="episode")
        return choose_dense_weight(candidates(store, node).values(), PERSPECTIVES["auto"], 0.5)

    assert turn("short") == pytest.approx(SHORT_TURN_WEIGHT)
    assert turn("long " * 500) == pytest.approx(LONG_TURN_WEIGHT)
    assert SHORT_TURN_WEIGHT < turn("middling " * 70) < LONG_TURN_WEIGHT


def test_a_profile_replaces_the_weight_by_kind(store: Store) -> None:
    assert choose_dense_weight(candidates(store, add(store)).values(), PERSPECTIVES["semantic"], 0.5) == 0.8
    assert choose_dense_weight([], PERSPECTIVES["auto"], 0.0) == 0.5


def test_code_is_found_by_meaning_the_surer_meaning_is_of_its_best_hit(store: Store) -> None:
    code = candidates(store, add(store, "def f(): ...", type=NodeType.SNIPPET, subtype="code")).values()

    weights = [choose_dense_weight(code, PERSPECTIVES["auto"], best) for best in (0.3, 0.55, 0.6, 0.65, 0.9)]

    assert weights == pytest.approx([0.6, 0.6, 0.7, 0.8, 0.8])


@pytest.mark.req("B.10")
def test_a_name_that_many_candidates_bear_lifts_none_of_them(store: Store) -> None:
    nodes = candidates(store, *(add(store, f"memory {number}", origin=Origin.MARKDOWN) for number in range(8)))
    first, *others = nodes
    words = dict.fromkeys(nodes, 0.5)

    rare = combine_scores({"e6": words, "e11": {first: 1.0}}, nodes, profile="auto")
    common = combine_scores({"e6": words, "e11": dict.fromkeys(nodes, 1.0)}, nodes, profile="auto")

    assert rare[first].total > rare[others[0]].total
    assert {score.total for score in common.values()} == {rare[others[0]].total}
    assert all("e11" not in score.parts for score in common.values())


@pytest.mark.req("B.06", "E.07")
def test_reciprocal_ranks_follow_the_formula() -> None:
    fused = reciprocal_rank_fusion({"a": ["x", "y"], "b": ["y"]}, {"a": 2.0})

    assert fused == pytest.approx({"x": 2 / 61, "y": 2 / 62 + 1 / 61})


@pytest.mark.req("E.07")
@given(first=ranks, second=ranks)
@settings(max_examples=examples(50))
def test_reciprocal_ranks_see_order_alone_and_keep_every_item(first: list[int], second: list[int]) -> None:
    fused = reciprocal_rank_fusion({"a": first, "b": second})

    assert set(fused) == set(first) | set(second)
    for better, worse in itertools.pairwise(first):
        if better not in second and worse not in second:
            assert fused[better] > fused[worse]


def test_equal_scores_are_ordered_by_key(store: Store) -> None:
    nodes = candidates(store, add(store, "one"), add(store, "two"))

    scores = combine_scores({"e6": dict.fromkeys(nodes, 0.5)}, nodes, profile="auto")

    assert sorted(nodes, key=lambda key: (-scores[key].total, key)) == sorted(NodeKey(key) for key in nodes)


@given(st.lists(st.floats(0.0, 2.5), min_size=2, max_size=20, unique=True))
def test_shown_scores_keep_the_order_and_stay_within_bounds(totals: list[float]) -> None:
    shown = [show_score(total) for total in sorted(totals)]
    assert shown == sorted(shown) and all(0.0 <= score < 1.0 for score in shown)


def test_scores_above_one_do_not_tie() -> None:
    assert len({round(show_score(total), 3) for total in (1.0, 1.1, 1.25, 1.5, 1.8)}) == 5
    assert show_score(0.42) == 0.42


def test_what_commits_add_is_a_part_of_its_own_under_the_factor_of_the_source(store: Store) -> None:
    code = add(store, "def pack(data): ...", type=NodeType.SNIPPET, subtype="code", origin=Origin.CODE)

    score = combine_scores(
        {"e1": {code.key: 0.5}},
        candidates(store, code),
        profile="auto",
        source_factors={code.key: 0.5},
        line_commits={code.key: 0.1},
    )[code.key]

    assert score.parts["commits"] == 0.1
    assert score.total == pytest.approx(0.5 * sum(score.parts.values()))
