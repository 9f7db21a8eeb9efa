"""The thirteen spaces as the architecture lists them."""

from __future__ import annotations

import pytest

from hyperloci.spaces.space import SPACE_OF_COLUMN, SPACES, Category, Kind
from hyperloci.store.vectors import COLUMNS


@pytest.mark.req("E.01")
def test_there_are_thirteen_and_every_column_belongs_to_one() -> None:
    assert list(SPACES) == [f"e{number}" for number in range(1, 14)]
    assert set(SPACE_OF_COLUMN) == set(COLUMNS)


@pytest.mark.req("E.09")
def test_topic_weights_add_up_to_eight_and_a_half_and_time_counts_nothing() -> None:
    assert sum(space.topic_weight for space in SPACES.values()) == 8.5
    temporal = [space.name for space in SPACES.values() if space.category is Category.TEMPORAL]
    assert temporal == ["e2", "e3", "e4"]
    assert all(SPACES[name].topic_weight == 0 and SPACES[name].kind is Kind.COMPUTED for name in temporal)


@pytest.mark.req("E.05")
def test_two_spaces_keep_two_sides() -> None:
    assert [space.name for space in SPACES.values() if space.asymmetric] == ["e5", "e8"]
    assert all(len(space.columns) == 2 for space in SPACES.values() if space.asymmetric)
