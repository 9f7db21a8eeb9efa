"""Laws of fusing the spaces' lists: ranks alone count, ties are settled, one answer to one question."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.embedder.process.embedding_queue import read_encoder_inputs
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.model.search import SearchFilter
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.rank_fusion import fuse_spaces
from hyperloci.retrieval.scoring import combine_scores
from hyperloci.retrieval.search import Searcher
from hyperloci.retrieval.space_weights import PERSPECTIVES
from hyperloci.retrieval.strategies import FIRST_SPACES
from hyperloci.spaces.fingerprint import compute_fingerprints
from hyperloci.spaces.space import SPACES
from hyperloci.store import Store
from tests.support import NOW, FakeEncoder, add, candidates, examples

SETTINGS = Settings(database=Path("unused.db"), state_dir=Path("unused"), runtime_dir=Path("unused"))

keys = st.integers(1, 12).map(NodeKey)
whole = st.dictionaries(keys, st.integers(0, 20).map(float), max_size=12)
scored = st.dictionaries(st.sampled_from(sorted(SPACES)), whole, max_size=6)
profiles = st.sampled_from(sorted(PERSPECTIVES))


def order(fused: dict[NodeKey, float]) -> list[NodeKey]:
    return sorted(fused, key=lambda key: (-fused[key], key))


@pytest.mark.req("E.07", "B.06")
@given(spaces=scored, profile=profiles, powers=st.lists(st.integers(-30, 30), min_size=13, max_size=13))
@settings(max_examples=examples(100))
def test_reciprocal_ranks_are_unmoved_by_any_scale_of_scores(
    spaces: dict[str, dict[NodeKey, float]], profile: str, powers: list[int]
) -> None:
    # Powers of two, so that no rounding makes a tie of two scores.
    scaled = {
        space: {key: value * 2.0 ** powers[place] for key, value in found.items()}
        for place, (space, found) in enumerate(spaces.items())
    }

    assert fuse_spaces(scaled, profile, SETTINGS) == fuse_spaces(spaces, profile, SETTINGS)


@pytest.mark.req("E.07")
@given(spaces=scored, profile=profiles)
@settings(max_examples=examples(100))
def test_reciprocal_ranks_are_unmoved_by_a_curve_that_keeps_the_order(
    spaces: dict[str, dict[NodeKey, float]], profile: str
) -> None:
    curved = {space: {key: value**3 - 7.0 for key, value in found.items()} for space, found in spaces.items()}

    assert fuse_spaces(curved, profile, SETTINGS) == fuse_spaces(spaces, profile, SETTINGS)


@pytest.mark.req("E.07")
@given(spaces=scored, profile=profiles, data=st.data())
@settings(max_examples=examples(100))
def test_ties_come_out_the_same_whatever_the_order_they_came_in(
    spaces: dict[str, dict[NodeKey, float]], profile: str, data: st.DataObject
) -> None:
    shuffled = {space: dict(data.draw(st.permutations(list(found.items())))) for space, found in spaces.items()}

    assert order(fuse_spaces(shuffled, profile, SETTINGS)) == order(fuse_spaces(spaces, profile, SETTINGS))


@pytest.mark.req("E.07")
@given(spaces=scored, profile=profiles)
@settings(max_examples=examples(100))
def test_fused_scores_are_shares_of_the_most_possible(spaces: dict[str, dict[NodeKey, float]], profile: str) -> None:
    fused = fuse_spaces(spaces, profile, SETTINGS)

    assert set(fused) == {key for found in spaces.values() for key in found}
    assert all(0.0 <= value <= 1.0 + 1e-9 for value in fused.values())


@pytest.mark.req("E.07")
@given(spaces=scored, profile=profiles)
@settings(max_examples=examples(100))
def test_what_every_space_ranks_first_is_first(spaces: dict[str, dict[NodeKey, float]], profile: str) -> None:
    best = NodeKey(99)
    with_best = {space: {**found, best: 21.0} for space, found in spaces.items()}

    fused = fuse_spaces(with_best, profile, SETTINGS)

    assert order(fused)[:1] == ([best] if spaces else [])


@pytest.mark.req("E.06", "E.07")
@pytest.mark.parametrize("profile", sorted(PERSPECTIVES))
def test_calibrated_scores_do_not_depend_on_the_order_of_candidates(store: Store, profile: str) -> None:
    nodes = candidates(store, *(add(store, f"fact {number % 3}", place=str(number)) for number in range(9)))
    spaces = {space: {key: (key % 3) / 4 for key in nodes} for space in ("e1", "e5", "e6", "e9", "e11", "e13")}
    turned = {space: dict(reversed(found.items())) for space, found in spaces.items()}

    first = combine_scores(spaces, nodes, profile=profile)
    second = combine_scores(turned, dict(reversed(nodes.items())), profile=profile)

    assert {key: first[key].total for key in nodes} == {key: second[key].total for key in nodes}


@pytest.mark.req("E.06")
@pytest.mark.parametrize("space", FIRST_SPACES)
def test_a_space_that_leads_settles_ties_the_same_way_every_time(
    store: Store, encoder: FakeEncoder, space: str
) -> None:
    text = "the latest deploy of `parse_config` fails on Monday because the disk is full"
    embed(store, encoder, [add(store, text, place=str(number), type=NodeType.FACT) for number in range(7)])
    conditions = Conditions(where=SearchFilter(), strategy="embedder_first", first_space=space)

    orders = {
        tuple(node.key for node in Searcher(store, encoder, SETTINGS).find(text, conditions, limit=5).nodes)
        for _ in range(3)
    }

    assert len(orders) == 1


def embed(store: Store, encoder: FakeEncoder, nodes: list[Node]) -> None:
    with store.transaction():
        model = store.vectors.use_model(encoder.model_id, encoder.dimensions, now=NOW)
        for node, made in zip(nodes, compute_fingerprints(read_encoder_inputs(store, nodes), encoder), strict=True):
            store.vectors.put_fingerprint(node.key, model, made.columns, now=NOW)
