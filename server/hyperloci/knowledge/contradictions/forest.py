"""Forests: shallow trees that are walked together, for many rows of features at once."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Tree = Sequence[Any] | float
"""A leaf's log-odds, or a feature's place, a bound, the tree up to that bound, and the tree above it."""


class Forest:
    """Trees that are walked together.

    Where numpy is loaded, all at once: one by one they took half of `remember_fact`. Else one by one: a hook's process
    walks few, and loading numpy takes longer. Both add the same leaves in the same order.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self._trees = tuple(trees)

    def sum_leaves(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return for each row of features the sum of the leaves it leads to, added tree by tree."""
        if not rows or "numpy" not in sys.modules:
            return [sum(_walk_tree(tree, row) for tree in self._trees) for row in rows]
        return self._arrays.sum_leaves(rows)

    @functools.cached_property
    def _arrays(self) -> _ForestArrays:
        return _ForestArrays(self._trees)


class _ForestArrays:
    """All nodes of all trees in four arrays.

    A leaf leads to itself, so every walk takes as many steps as the deepest tree has.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        import numpy as np

        nodes: list[tuple[int, float, float, int, int]] = []
        planted = [_add_tree(nodes, tree) for tree in trees]
        places, bounds, leaves, below, above = zip(*nodes, strict=True)
        self._roots = np.array([root for root, _ in planted], dtype=np.intp)
        self._depth = max(depth for _, depth in planted)
        self._place = np.array(places, dtype=np.intp)
        self._bound = np.array(bounds)
        self._leaf = np.array(leaves)
        self._ways = np.array([below, above], dtype=np.intp).T.ravel()

    def sum_leaves(self, rows: Sequence[Sequence[float]]) -> list[float]:
        import numpy as np

        values = np.array(rows, dtype=np.float64)
        at: NDArray[np.intp] = np.broadcast_to(self._roots, (len(values), len(self._roots)))
        flat, row = values.ravel(), np.arange(len(values))[:, None] * values.shape[1]
        for _ in range(self._depth):
            above = flat.take(self._place.take(at) + row) > self._bound.take(at)
            at = self._ways.take(2 * at + above)
        return [sum(leaves) for leaves in self._leaf[at].tolist()]


def _walk_tree(tree: Tree, values: Sequence[float]) -> float:
    """Return the leaf that values lead to."""
    while not isinstance(tree, int | float):
        place, bound, below, above = tree
        tree = below if values[place] <= bound else above
    return tree


def _add_tree(nodes: list[tuple[int, float, float, int, int]], tree: Tree) -> tuple[int, int]:
    """Add a tree as (feature, bound, leaf, way below, way above); return its root and its depth in steps."""
    at = len(nodes)
    if isinstance(tree, int | float):
        nodes.append((0, 0.0, tree, at, at))
        return at, 0
    place, bound, *sides = tree
    nodes.append((place, bound, 0.0, at, at))
    (below, depth), (above, other) = (_add_tree(nodes, side) for side in sides)
    nodes[at] = (place, bound, 0.0, below, above)
    return at, 1 + max(depth, other)
