"""The thirteen spaces as the architecture lists them."""

from __future__ import annotations

import pytest

from hyperloci.spaces.space import SPACE_OF_COLUMN, SPACES
from hyperloci.store.vectors.fingerprints import COLUMNS


@pytest.mark.req("E.01")
def test_there_are_thirteen_and_every_column_belongs_to_one() -> None:
    assert list(SPACES) == [f"e{number}" for number in range(1, 14)]
    assert set(SPACE_OF_COLUMN) == set(COLUMNS)


@pytest.mark.req("E.05")
def test_two_spaces_keep_two_sides() -> None:
    assert [space.name for space in SPACES.values() if len(space.columns) == 2] == ["e5", "e8"]
