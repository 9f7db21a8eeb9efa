"""Nearby code: code beside other code that answers is likelier to answer too."""

from __future__ import annotations

import pytest

from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.sources.nearby_code import NEARBY_LINES, NEARBY_WEIGHT, score_nearby_code
from hyperloci.store.memories.nodes import NodeSource

FIRST, SECOND, THIRD = NodeKey(1), NodeKey(2), NodeKey(3)


def place_code(line: int, path: str = "src/pool.py", subtype: str = "code") -> NodeSource:
    """Return the place of a piece of code."""
    return NodeSource(subtype, path, "take", 300, line)


def test_the_best_piece_within_reach_adds_a_tenth_of_its_score() -> None:
    sources = {FIRST: place_code(10), SECOND: place_code(60), THIRD: place_code(90)}
    added = score_nearby_code({FIRST: 0.5, SECOND: 0.3, THIRD: 0.2}, sources)
    assert added == pytest.approx({FIRST: NEARBY_WEIGHT * 0.3, SECOND: NEARBY_WEIGHT * 0.5, THIRD: NEARBY_WEIGHT * 0.5})


@pytest.mark.parametrize(
    "other",
    [
        place_code(11 + NEARBY_LINES),
        place_code(20, path="src/queue.py"),
        place_code(20, subtype="markdown"),
        NodeSource("code", "src/pool.py", None, 300),
        NodeSource("commit", None, None, 300),
    ],
    ids=["too far", "another file", "a document", "no line", "no file"],
)
def test_what_is_no_code_near_it_adds_nothing(other: NodeSource) -> None:
    assert score_nearby_code({FIRST: 0.5, SECOND: 0.4}, {FIRST: place_code(10), SECOND: other}) == {}


def test_what_scores_nothing_adds_nothing() -> None:
    sources = {FIRST: place_code(10), SECOND: place_code(20)}
    assert score_nearby_code({FIRST: 0.5, SECOND: 0.0}, sources) == pytest.approx({SECOND: NEARBY_WEIGHT * 0.5})
    assert score_nearby_code({FIRST: 0.5}, {}) == {}
