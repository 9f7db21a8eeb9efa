"""Spaces: name, storage and category of each of the thirteen (E.01)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from hyperloci.system.values import dataclass

MAX_VIEW_SOURCE_CHARS: Final = 20_000
"""Rules read so much of a text; a memory that is longer is a document, and its beginning says what it is about."""


class SpaceKind(StrEnum):
    """How a space stores a memory."""

    DENSE = "dense"
    SPARSE = "sparse"
    TOKEN = "token"
    BINARY = "binary"
    COMPUTED = "computed"


class SpaceCategory(StrEnum):
    """What a space compares; decides how much its agreement counts for a topic."""

    SEMANTIC = "semantic"
    TEMPORAL = "temporal"
    RELATIONAL = "relational"
    STRUCTURAL = "structural"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One way to compare memories.

    Attributes:
        name: `e1` to `e13`.
        title: what it sees, in a word or two.
        kind: how it is kept.
        category: what it sees.
        columns: columns of the fingerprints table, two where the sides of a memory are never compared with each other
            (E.05); none for spaces that are computed or kept in an inverted index.
    """

    name: str
    title: str
    kind: SpaceKind
    category: SpaceCategory
    columns: tuple[str, ...] = ()


_ALL_SPACES: Final = (
    Space(name="e1", title="meaning", kind=SpaceKind.DENSE, category=SpaceCategory.SEMANTIC, columns=("e1",)),
    Space(name="e2", title="recency", kind=SpaceKind.COMPUTED, category=SpaceCategory.TEMPORAL),
    Space(name="e3", title="time of day and week", kind=SpaceKind.COMPUTED, category=SpaceCategory.TEMPORAL),
    Space(name="e4", title="sequence", kind=SpaceKind.COMPUTED, category=SpaceCategory.TEMPORAL),
    Space(
        name="e5",
        title="cause and effect",
        kind=SpaceKind.DENSE,
        category=SpaceCategory.SEMANTIC,
        columns=("e5_cause", "e5_effect"),
    ),
    Space(name="e6", title="exact words", kind=SpaceKind.SPARSE, category=SpaceCategory.SEMANTIC),
    Space(name="e7", title="code", kind=SpaceKind.DENSE, category=SpaceCategory.SEMANTIC, columns=("e7",)),
    Space(
        name="e8",
        title="references",
        kind=SpaceKind.DENSE,
        category=SpaceCategory.RELATIONAL,
        columns=("e8_out", "e8_in"),
    ),
    Space(name="e9", title="spelling", kind=SpaceKind.BINARY, category=SpaceCategory.STRUCTURAL, columns=("e9",)),
    Space(name="e10", title="goal", kind=SpaceKind.DENSE, category=SpaceCategory.SEMANTIC, columns=("e10",)),
    Space(name="e11", title="entities", kind=SpaceKind.DENSE, category=SpaceCategory.RELATIONAL, columns=("e11",)),
    Space(name="e12", title="exact phrasing", kind=SpaceKind.TOKEN, category=SpaceCategory.SEMANTIC, columns=("e12",)),
    Space(name="e13", title="related words", kind=SpaceKind.SPARSE, category=SpaceCategory.SEMANTIC),
)

SPACES: Final[Mapping[str, Space]] = MappingProxyType({space.name: space for space in _ALL_SPACES})
"""All thirteen by name, in order."""

SPACE_OF_COLUMN: Final[Mapping[str, str]] = MappingProxyType(
    {column: space.name for space in _ALL_SPACES for column in space.columns}
)
"""The space that each column of the fingerprints table belongs to."""
