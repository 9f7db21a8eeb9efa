"""Forests: shallow trees that are walked together, for many rows of features at once."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hyperloci.system.packed_numbers import pack_numbers, unpack_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NO_TEST: Final = 0
"""What a leaf asks."""

Tree = Sequence[Any] | float
"""A tree as it is grown: a leaf's log-odds, or a feature's place, a bound, the tree up to that bound, and the tree
above it."""


def pack_trees(trees: Sequence[Tree]) -> dict[str, Any]:
    """Return trees as `Forest` reads them: all nodes in flat arrays, level by level.

    First the roots, then two by two the sides of each. Trees ask the same things again and again: each test, whether a
    feature is above a bound, is kept once, and a node has its number.
    """
    order: list[Tree] = list(trees)
    tests: dict[tuple[int, float], int] = {}
    asked: list[int] = []
    leaves: list[float] = []
    for tree in order:  # which grows
        if isinstance(tree, int | float):
            asked.append(_NO_TEST)
            leaves.append(tree)
        else:
            place, bound, *sides = tree
            asked.append(tests.setdefault((place, bound), len(tests) + 1))
            order += sides
    return {
        "roots": len(trees),
        "asked": pack_numbers("H", asked),
        "places": pack_numbers("H", [place for place, _ in tests]),
        "bounds": pack_numbers("d", [bound for _, bound in tests]),
        "leaves": pack_numbers("d", leaves),
    }


class Forest:
    """Trees that are walked together.

    Where numpy is loaded, all at once: one by one they took half of `remember_fact`. Else one by one: a hook's process
    walks few, and loading numpy takes longer. Both add the same leaves in the same order.
    """

    def __init__(self, packed: Mapping[str, Any]) -> None:
        """Read what `pack_trees` returned."""
        self._roots: int = packed["roots"]
        self._asked = unpack_numbers("H", packed["asked"])
        self._places = unpack_numbers("H", packed["places"])
        self._bounds = unpack_numbers("d", packed["bounds"])
        self._leaves = unpack_numbers("d", packed["leaves"])

    def sum_leaves(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return for each row of features the sum of the leaves it leads to, added tree by tree."""
        if not rows:
            return []
        if "numpy" in sys.modules:
            return self._arrays.sum_leaves(rows)
        return [functools.reduce(float.__add__, self._walk_trees(row), 0.0) for row in rows]

    def _walk_trees(self, row: Sequence[float]) -> Iterator[float]:
        """Yield the leaf of each tree."""
        asked, following = self._asked, self._following
        above = [False, *(row[place] > bound for place, bound in zip(self._places, self._bounds, strict=True))]
        for at in range(self._roots):
            while test := asked[at]:
                at = following[at] + above[test]
            yield self._leaves[following[at]]

    @functools.cached_property
    def _following(self) -> list[int]:
        """For each node its first side, the second is beside it; for a leaf its place among the leaves."""
        sides, leaves = itertools.count(self._roots, 2), itertools.count()
        return [next(leaves if test == _NO_TEST else sides) for test in self._asked]

    @functools.cached_property
    def _arrays(self) -> _ForestArrays:
        return _ForestArrays(self._roots, self._asked, self._places, self._bounds, self._leaves)


class _ForestArrays:
    """The nodes of all trees for numpy.

    Every test is made once for each row, before the walk. A leaf leads to itself, so every walk takes as many steps as
    the deepest tree has.
    """

    def __init__(
        self, roots: int, asked: Sequence[int], places: Sequence[int], bounds: Sequence[float], leaves: Sequence[float]
    ) -> None:
        import numpy as np

        self._roots = roots
        self._asked, self._places = np.array(asked, dtype=np.intp), np.array(places, dtype=np.intp)
        self._bounds = np.asarray(bounds)
        inner = self._asked != _NO_TEST
        self._below = np.arange(len(inner))
        self._below[inner] = np.arange(roots, len(inner), 2)
        self._leaves = np.zeros(len(inner))
        self._leaves[~inner] = leaves
        self._steps, begin, end = 0, 0, roots
        while sides := 2 * int(np.count_nonzero(inner[begin:end])):
            self._steps, begin, end = self._steps + 1, end, end + sides

    def sum_leaves(self, rows: Sequence[Sequence[float]]) -> list[float]:
        import numpy as np

        count, width = len(rows), len(self._bounds) + 1
        flat = np.fromiter(itertools.chain.from_iterable(rows), np.float64, count * len(rows[0]))
        above = np.zeros((count, width), np.bool_)  # of no test: not above
        np.greater(flat.reshape(count, -1).take(self._places, axis=1), self._bounds, out=above[:, 1:])
        results, row = above.view(np.int8).ravel(), np.arange(0, count * width, width)[:, None]
        at: NDArray[np.intp] = np.broadcast_to(np.arange(self._roots), (count, self._roots))
        for _ in range(self._steps):
            # Every place is within: to have that looked up takes a third of the time.
            test = self._asked.take(at, mode="clip")
            test += row
            at = self._below.take(at, mode="clip")
            at += results.take(test, mode="clip")
        # One after the other, as the walk without numpy adds.
        sums: list[float] = self._leaves.take(at).cumsum(axis=1)[:, -1].tolist()
        return sums
