"""The four ways to answer a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyperloci.config import Settings
from hyperloci.embedder.process.embedding_queue import read_encoder_inputs
from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.model.search import SearchFilter
from hyperloci.retrieval import strategies
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.rank_fusion import fuse_spaces, rank_weight
from hyperloci.retrieval.scoring import EXPLICIT_FACTOR
from hyperloci.retrieval.search import Searcher
from hyperloci.retrieval.space_scorer import SpaceScorer
from hyperloci.retrieval.strategies import (
    FIRST_SPACES,
    LOOKED_UP_AT_ONCE,
    MAX_PROMISING,
    SearchStrategy,
    StageSizes,
)
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.query import fingerprint_query
from hyperloci.store import Store
from hyperloci.store.vectors import float16
from tests.support import NOW, FakeEncoder, add, examples

EVERYTHING = Conditions(where=SearchFilter())


@pytest.fixture
def filled(store: Store, encoder: FakeEncoder) -> list[Node]:
    """Twenty memories with fingerprints, all spaces of them."""
    nodes = [add(store, f"memory {number} of the gateway and its port") for number in range(20)]
    with store.transaction():
        model = store.vectors.use_model(encoder.model_id, encoder.dimensions, now=NOW)
        for node, made in zip(nodes, compute_fingerprints(read_encoder_inputs(store, nodes), encoder), strict=True):
            store.vectors.put_fingerprint(node.key, model, made.columns, now=NOW)
            store.sparse_index.put_terms("e13", {node.key: made.terms})
    return nodes


def asked(strategy: SearchStrategy, first_space: str | None = None) -> Conditions:
    return Conditions(where=SearchFilter(), strategy=strategy, first_space=first_space)


@pytest.mark.req("E.06")
@pytest.mark.parametrize("strategy", SearchStrategy)
def test_every_strategy_finds_the_memory_that_says_just_that(
    store: Store, encoder: FakeEncoder, settings: Settings, filled: list[Node], strategy: SearchStrategy
) -> None:
    found = Searcher(store, encoder, settings).find(filled[7].content, asked(strategy), limit=5)

    assert found.strategy == strategy
    assert found.nodes[0].key == filled[7].key
    assert found.scores[filled[7].key].spaces["e1"] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.req("E.06")
def test_the_stages_of_the_pipeline_hand_on_no_more_than_their_sizes(
    store: Store, encoder: FakeEncoder, settings: Settings, filled: list[Node]
) -> None:
    small = replace(settings, pipeline_recall=10, pipeline_scan=6, pipeline_fused=3)

    found = Searcher(store, encoder, small).find("the port", asked(SearchStrategy.PIPELINE), limit=20)

    assert StageSizes.from_settings(small) == StageSizes(recall=10, scan=6, fused=3)
    assert len(found.nodes) == 3


@pytest.mark.req("E.06")
def test_without_vectors_every_strategy_answers_by_words(store: Store, settings: Settings, filled: list[Node]) -> None:
    for strategy in SearchStrategy:
        found = Searcher(store, None, settings).find("memory 7", asked(strategy), limit=1)
        assert (found.mode, found.strategy) == ("keyword", SearchStrategy.MULTI_SPACE)
        assert [node.key for node in found.nodes] == [filled[7].key]


def at_cosine(vector: np.ndarray[Any, np.dtype[np.float32]], cosine: float) -> bytes:
    """Return a vector so near to another."""
    aside = np.roll(vector, 1)
    aside -= vector * float(aside @ vector)
    found = cosine * vector + np.sqrt(1 - cosine**2) * aside / np.linalg.norm(aside)
    return float16.pack_half(found)


@pytest.mark.parametrize("cosine", [None, 0.1], ids=["just told", "embedded"])
def test_what_was_told_is_not_crowded_out_by_much_about_the_same(
    store: Store, encoder: FakeEncoder, cosine: float | None
) -> None:
    many = [add(store, "gateway port", place=str(number), origin=Origin.COMMIT) for number in range(2 * MAX_PROMISING)]
    told = add(store, "gateway port", title="Gateway port", origin=Origin.TOOL)
    asked_for = fingerprint_query("gateway port", encoder).dense["e1"]
    with store.transaction():
        model = store.vectors.use_model(encoder.model_id, encoder.dimensions, now=NOW)
        for node in many:
            store.vectors.put_fingerprint(node.key, model, {"e1": at_cosine(asked_for, 0.4)}, now=NOW)
        if cosine is not None:
            store.vectors.put_fingerprint(told.key, model, {"e1": at_cosine(asked_for, cosine)}, now=NOW)

    found = Searcher(store, encoder).find("gateway port", EVERYTHING, limit=10)

    assert found.nodes[0].key == told.key


def test_what_waits_for_its_vector_does_not_hide_what_answers(store: Store, encoder: FakeEncoder) -> None:
    question = "how is the flux capacitor tuned"
    query = fingerprint_query(question, encoder).dense["e1"]
    answer = add(store, "turning the screw slowly until the needle rests", origin=Origin.COMMIT)
    matter = "more text of another matter " * 60
    for number in range(2 * MAX_PROMISING):
        add(store, f"flux capacitor {number} {matter}", origin=Origin.COMMIT)
        add(store, f"short and about something else {number}", origin=Origin.COMMIT)
    with store.transaction():
        model = store.vectors.use_model(encoder.model_id, encoder.dimensions, now=NOW)
        store.vectors.put_fingerprint(answer.key, model, {"e1": at_cosine(query, 0.8)}, now=NOW)

    found = Searcher(store, encoder).find(question, EVERYTHING, limit=5)

    assert found.nodes[0].key == answer.key


class FoundAlready:
    """A scorer of memories whose estimates and kinds of source are known; it notes whose kinds were asked for."""

    def __init__(self, estimates: Sequence[float], factors: Sequence[float]) -> None:
        self._estimates, self._factors = np.array(estimates, np.float32), np.array(factors, np.float32)
        self.looked_up = 0

    def estimate_cosines(self, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        return self._estimates[keys]

    def upper_bounds(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros(len(keys))

    def normalised_bm25(self, keys: Iterable[int]) -> dict[int, float]:
        return dict.fromkeys(keys, 0.0)

    def are_explicit(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(keys % 5 == 0)

    def find_source_factors(self, keys: Iterable[NodeKey]) -> dict[NodeKey, float]:
        found = {key: float(self._factors[key]) for key in keys}
        self.looked_up += len(found)
        return found


FOUND = st.lists(st.tuples(st.sampled_from([-0.2, 0.0, 0.3, 0.5, 0.9]), st.sampled_from([0.6, 0.8, 1.0])), max_size=450)


@given(FOUND)
@hypothesis_settings(max_examples=examples(60))
def test_the_most_promising_are_those_that_looking_all_sources_up_would_find(found: list[tuple[float, float]]) -> None:
    scorer = FoundAlready([estimate for estimate, _ in found], [factor for _, factor in found])
    keys = np.arange(len(found), dtype=np.int64)
    told = np.where(keys % 5 == 0, EXPLICIT_FACTOR, 1.0)
    scores = (np.array([estimate * factor for estimate, factor in found]) * told).round(6).tolist()

    best = strategies._find_promising(cast(SpaceScorer, scorer), keys)

    expected = sorted(keys.tolist(), key=lambda key: (-scores[key], key))[:MAX_PROMISING]
    assert best == expected


def test_sources_of_what_can_not_be_among_the_best_are_not_looked_up() -> None:
    scorer = FoundAlready([0.9] * MAX_PROMISING + [0.1] * 400, [1.0] * (MAX_PROMISING + 400))

    strategies._find_promising(cast(SpaceScorer, scorer), np.arange(MAX_PROMISING + 400, dtype=np.int64))

    assert scorer.looked_up == LOOKED_UP_AT_ONCE


@pytest.mark.req("E.14")
@pytest.mark.parametrize("space", ["e6", "e9", "e13"])
def test_a_space_may_lead_on_its_own(
    store: Store, encoder: FakeEncoder, settings: Settings, filled: list[Node], space: str
) -> None:
    conditions = Conditions(where=SearchFilter(), first_space=space)

    found = Searcher(store, encoder, settings).find("memory 11 of the gateway and its port", conditions, limit=3)

    assert found.strategy == SearchStrategy.ONE_SPACE_FIRST
    assert found.nodes[0].key == filled[11].key
    assert set(found.scores[filled[11].key].spaces) == {space}


@pytest.mark.req("E.14")
def test_a_space_that_can_not_lead_is_refused_by_name(store: Store) -> None:
    with pytest.raises(BadRequestError, match=r"where.first_space='e4'.*e1, e2, e3, e5"):
        Searcher(store, None).find("x", Conditions(where=SearchFilter(), first_space="e4"), limit=1)
    assert len(FIRST_SPACES) == 12


@pytest.mark.req("E.01")
def test_the_newest_comes_first_where_a_question_asks_for_it(store: Store, encoder: FakeEncoder) -> None:
    day = 86_400_000
    old = add(store, "the port is 8080", event_time=NOW - 300 * day, subtype="insight")
    new = add(store, "the port is 8443", event_time=NOW - day, subtype="insight")
    searcher = Searcher(store, encoder, clock=lambda: NOW)

    plain = searcher.find("the port", EVERYTHING, limit=2)
    latest = searcher.find("the latest port", EVERYTHING, limit=2)

    assert [node.key for node in plain.nodes] == [old.key, new.key]
    assert [node.key for node in latest.nodes] == [new.key, old.key]


@pytest.mark.parametrize(
    ("question", "is_lifted"),
    [("where does the pool wake", True), ("why does the pool wake", False), ("pool wake", False)],
)
def test_code_near_other_code_that_answers_comes_before_the_same_alone(
    store: Store, question: str, is_lifted: bool
) -> None:
    places = [("alone.py", 1), ("pool.py", 40), ("pool.py", 80)]
    code = [
        add(
            store,
            "def wake(pool): return pool",
            type=NodeType.SNIPPET,
            subtype="code",
            position=Position(path=path, symbol="wake", line_start=line, line_end=line + 1),
        )
        for path, line in places
    ]
    found = Searcher(store, None).find(question, EVERYTHING, limit=3)
    assert [node.key for node in found.nodes] == [node.key for node in (code[1:] + code[:1] if is_lifted else code)]


@pytest.mark.parametrize(
    ("question", "is_lifted"),
    [("where does the pool wake", True), ("why does the pool wake", False), ("pool wake", False)],
)
def test_what_code_that_answers_calls_comes_before_the_same_uncalled(
    store: Store, question: str, is_lifted: bool
) -> None:
    uncalled, called, caller = (
        add(
            store,
            f"def {name}(pool): return pool.{word}",
            type=NodeType.SNIPPET,
            subtype="code",
            position=Position(path=f"{name}.py", symbol=name, line_start=1, line_end=2),
        )
        for name, word in (("first", "wake"), ("other", "wake"), ("starts", "pool"))
    )
    with store.transaction():
        store.edges.link_nodes("calls", caller.key, [called.key], now=NOW)

    found = [node.key for node in Searcher(store, None).find(question, EVERYTHING, limit=2).nodes]
    assert found == ([called.key, uncalled.key] if is_lifted else [uncalled.key, called.key])


def test_a_space_that_is_left_out_has_no_say(
    store: Store, encoder: FakeEncoder, settings: Settings, filled: list[Node]
) -> None:
    found = Searcher(store, encoder, settings, without={"e6", "e13"}).find(filled[3].content, EVERYTHING, limit=5)

    assert found.nodes[0].key == filled[3].key
    assert {"e6", "e13"}.isdisjoint(found.scores[filled[3].key].spaces)


@pytest.mark.req("B.06", "B.20")
def test_ranks_are_fused_if_the_settings_say_so(
    store: Store, encoder: FakeEncoder, settings: Settings, filled: list[Node]
) -> None:
    ranked = Searcher(store, encoder, replace(settings, fusion="rrf")).find(filled[5].content, EVERYTHING, limit=5)

    assert ranked.nodes[0].key == filled[5].key
    assert all(0.0 <= scores.total <= 1.0 for scores in ranked.scores.values())


@pytest.mark.req("B.20", "E.07")
def test_a_users_factors_change_what_ranks_count(settings: Settings) -> None:
    louder = replace(settings, rrf_weight_fts=3.0)

    assert rank_weight("e6", "auto", louder) == pytest.approx(3 * rank_weight("e6", "auto", settings))
    assert rank_weight("e1", "auto", louder) == rank_weight("e1", "auto", settings)
    assert rank_weight("e7", "code", settings) == 0.40


@pytest.mark.req("E.07")
def test_fused_ranks_do_not_move_with_the_scale_of_scores(settings: Settings, store: Store) -> None:
    generator = np.random.default_rng(1)
    keys = [add(store, f"memory {number}").key for number in range(12)]
    spaces = {space: dict(zip(keys, generator.random(12).tolist(), strict=True)) for space in ("e1", "e6", "e7")}
    scaled = {space: {key: 7.0 * value + 3.0 for key, value in found.items()} for space, found in spaces.items()}

    assert fuse_spaces(spaces, "auto", settings) == fuse_spaces(scaled, "auto", settings)


def test_an_explanation_scores_every_space_that_sees_a_hit(
    store: Store, encoder: FakeEncoder, settings: Settings, filled: list[Node]
) -> None:
    searcher = Searcher(store, encoder, settings)
    lean = searcher.find(filled[2].content, asked(SearchStrategy.E1_ONLY), limit=1)
    full = searcher.find(filled[2].content, asked(SearchStrategy.E1_ONLY), limit=1, explain=True)

    assert set(lean.scores[filled[2].key].spaces) == {"e1"}
    assert {"e1", "e2", "e6", "e9", "e13"} <= set(full.scores[filled[2].key].spaces)


def test_a_quick_search_looks_by_meaning_and_words(store: Store, encoder: FakeEncoder, filled: list[Node]) -> None:
    found = Searcher(store, encoder).find(filled[4].content, EVERYTHING, limit=3, quick=True, explain=True)

    assert found.nodes[0].key == filled[4].key
    assert set(found.scores[filled[4].key].spaces) == {"e1", "e6"}


def test_kinds_without_a_turn_are_not_asked_for_a_speaker(store: Store) -> None:
    fact = add(store, "I prefer tabs", subtype="preference")
    turn = add(store, "I prefer tabs", type=NodeType.EXPERIENCE, subtype="episode", metadata={"role": "user"})

    found = Searcher(store, None).find("what do I prefer, tabs?", EVERYTHING, limit=2)

    assert [node.key for node in found.nodes] == [fact.key, turn.key]
