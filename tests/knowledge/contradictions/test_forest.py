"""Forests: trees walked one by one and all at once."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.contradictions import pair_judge
from hyperloci.knowledge.contradictions.forest import Forest, Tree, pack_trees
from tests.support import examples

TREES: list[Tree] = [[0, 0.5, 0.25, [1, -1.0, 2.0, -3.5]], 0.125, [1, 0.0, [0, 2.0, 0.1, 0.2], 0.7]]


@pytest.mark.parametrize(
    ("row", "total"), [((0.0, 0.0), 0.25 + 0.125 + 0.1), ((1.0, -1.0), 2.0 + 0.125 + 0.1), ((3.0, 1.0), -3.5 + 0.825)]
)
def test_a_row_has_the_leaves_that_its_features_lead_to(row: tuple[float, float], total: float) -> None:
    assert Forest(pack_trees(TREES)).sum_leaves([row]) == pytest.approx([total])


@settings(max_examples=examples(60))
@given(rows=st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), max_size=5))
def test_one_by_one_gives_the_same_to_the_bit_as_all_at_once(rows: list[tuple[float, float]]) -> None:
    import numpy as np

    assert np is not None
    together = Forest(pack_trees(TREES)).sum_leaves(rows)
    loaded = sys.modules.pop("numpy")
    try:
        assert Forest(pack_trees(TREES)).sum_leaves(rows) == together
    finally:
        sys.modules["numpy"] = loaded


def grow_trees() -> st.SearchStrategy[Tree]:
    numbers = st.floats(-4, 4)
    test = st.tuples(st.integers(0, 1), numbers)
    return st.recursive(numbers, lambda sides: st.tuples(test, sides, sides).map(lambda t: [*t[0], t[1], t[2]]))


def find_leaf(tree: Tree, row: tuple[float, float]) -> float:
    while not isinstance(tree, float):
        place, bound, below, above = tree
        tree = below if row[place] <= bound else above
    return tree


@settings(max_examples=examples(60))
@given(trees=st.lists(grow_trees(), min_size=1, max_size=5), row=st.tuples(st.floats(-4, 4), st.floats(-4, 4)))
def test_packed_trees_lead_where_they_led_when_they_were_grown(trees: list[Tree], row: tuple[float, float]) -> None:
    total = 0.0
    for tree in trees:
        total += find_leaf(tree, row)
    assert Forest(pack_trees(trees)).sum_leaves([row]) == [total]


def test_to_load_and_walk_the_judges_trees_takes_less_than_two_megabytes() -> None:
    tracemalloc.start()
    try:
        pair_judge._load_model.__wrapped__().forest.sum_leaves([[0.0] * 200])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2_000_000
