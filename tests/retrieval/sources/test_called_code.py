"""Called code: what is called by code that answers is likelier to answer too."""

from __future__ import annotations

import pytest

from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.sources.called_code import CALLED_WEIGHT, FEW_CALLERS, score_called_code

CALLED, FIRST, SECOND = NodeKey(1), NodeKey(2), NodeKey(3)


def test_the_best_caller_that_was_found_adds_a_tenth_of_its_score() -> None:
    totals = {CALLED: 0.2, FIRST: 0.5, SECOND: 0.3}
    added = score_called_code(totals, {CALLED: {FIRST, SECOND, NodeKey(4)}})
    assert added == pytest.approx({CALLED: CALLED_WEIGHT * 0.5})


def test_what_has_many_callers_gets_less_of_each() -> None:
    callers = {CALLED: {FIRST, *map(NodeKey, range(10, 9 + 4 * FEW_CALLERS))}}
    assert score_called_code({CALLED: 0.2, FIRST: 0.5}, callers) == pytest.approx({CALLED: CALLED_WEIGHT * 0.5 / 4})


@pytest.mark.parametrize(
    "callers",
    [{}, {CALLED: set()}, {CALLED: {SECOND}}, {CALLED: {FIRST}}],
    ids=["none", "no more", "elsewhere", "at 0"],
)
def test_what_nothing_that_was_found_calls_gets_nothing(callers: dict[NodeKey, set[NodeKey]]) -> None:
    assert score_called_code({CALLED: 0.2, FIRST: 0.0}, callers) == {}
