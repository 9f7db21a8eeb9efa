"""Forests: shallow trees that are walked together, for many rows of features at once."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NO_TEST: Final = 0
"""What a leaf asks."""

Tree = Sequence[Any] | float
"""A leaf's log-odds, or a feature's place, a bound, the tree up to that bound, and the tree above it."""


class Forest:
    """Trees that are walked together.

    Where numpy is loaded, all at once: one by one they took half of `remember_fact`. Else one by one: a hook's process
    walks few, and loading numpy takes longer. Both add the same leaves in the same order.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self._trees: tuple[Tree, ...] = tuple(trees)

    def sum_leaves(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return for each row of features the sum of the leaves it leads to, added tree by tree."""
        if not rows:
            return []
        if "numpy" not in sys.modules:
            return [sum(_walk_tree(tree, row) for tree in self._trees) for row in rows]
        return self._arrays.sum_leaves(rows)

    @functools.cached_property
    def _arrays(self) -> _ForestArrays:
        arrays = _ForestArrays(self._trees)
        # Every garbage collection would go through the tens of thousands of lists that nothing reads any more.
        self._trees = ()
        return arrays


class _ForestArrays:
    """All nodes of all trees in flat arrays, level by level: first the roots, then two by two the sides of each.

    Trees ask the same things again and again: whether a feature is above a bound is found once for each row, before the
    walk. A leaf leads to itself, so every walk takes as many steps as the deepest tree has.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        import numpy as np

        order: list[Tree] = list(trees)
        tests: dict[tuple[int, float], int] = {}
        nodes: list[tuple[int, int, float]] = []
        for at, tree in enumerate(order):  # which grows
            if isinstance(tree, int | float):
                nodes.append((_NO_TEST, at, tree))
                continue
            place, bound, *sides = tree
            nodes.append((tests.setdefault((place, bound), len(tests) + 1), len(order), 0.0))
            order += sides
        asked, below, leaves = zip(*nodes, strict=True)
        self._roots, self._steps = len(trees), max(map(_measure_depth, trees))
        self._places = np.array([place for place, _ in tests], dtype=np.intp)
        self._bounds = np.array([bound for _, bound in tests])
        self._asked, self._below = np.array(asked, dtype=np.intp), np.array(below, dtype=np.intp)
        self._leaves = np.array(leaves)

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
        # One after the other, as `sum` adds.
        sums: list[float] = self._leaves.take(at).cumsum(axis=1)[:, -1].tolist()
        return sums


def _walk_tree(tree: Tree, values: Sequence[float]) -> float:
    """Return the leaf that values lead to."""
    while not isinstance(tree, int | float):
        place, bound, below, above = tree
        tree = below if values[place] <= bound else above
    return tree


def _measure_depth(tree: Tree) -> int:
    """Return how many steps lead to the farthest leaf."""
    return 0 if isinstance(tree, int | float) else 1 + max(map(_measure_depth, tree[2:]))
