"""Forests: trees walked one by one and all at once."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.contradictions.forest import Forest, Tree
from tests.support import examples

TREES: list[Tree] = [[0, 0.5, 0.25, [1, -1.0, 2.0, -3.5]], 0.125, [1, 0.0, [0, 2.0, 0.1, 0.2], 0.7]]


@pytest.mark.parametrize(
    ("row", "total"), [((0.0, 0.0), 0.25 + 0.125 + 0.1), ((1.0, -1.0), 2.0 + 0.125 + 0.1), ((3.0, 1.0), -3.5 + 0.825)]
)
def test_a_row_has_the_leaves_that_its_features_lead_to(row: tuple[float, float], total: float) -> None:
    assert Forest(TREES).sum_leaves([row]) == pytest.approx([total])


@settings(max_examples=examples(60))
@given(rows=st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), max_size=5))
def test_one_by_one_gives_the_same_to_the_bit_as_all_at_once(rows: list[tuple[float, float]]) -> None:
    import numpy as np

    assert np is not None
    together = Forest(TREES).sum_leaves(rows)
    loaded = sys.modules.pop("numpy")
    try:
        assert Forest(TREES).sum_leaves(rows) == together
    finally:
        sys.modules["numpy"] = loaded
