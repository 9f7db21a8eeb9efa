"""Paths in the concept graph: neighbourhood, dependencies and their cycles, shortest paths (D.02, E.13).

Every walk is iterative and reads hyperedges a batch of nodes at a time, so that a graph of 100,000 nodes costs some
hundred statements, not a hundred thousand, and no recursion. A node counts as many steps from another as hyperedges
lie between them. Walks go from symbol to symbol (`symbol_steps`): a function that is cut into several snippets is one
node, its first snippet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.errors import BadRequestError
from hyperloci.knowledge.graph.symbol_steps import SymbolSteps, Walk
from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from hyperloci.store.memories.traversal import Crossing
from hyperloci.system.values import dataclass

MAX_DEPTH: Final = 3
"""Steps of a neighbourhood unless asked otherwise (D.02)."""

MAX_NODES: Final = 2_000
"""Nodes of a neighbourhood at most: three unlimited steps reach half of a large graph."""

MAX_PATH_STEPS: Final = 10
"""Longest path in steps: nodes further apart are unrelated."""

UNBOUNDED_ROWS: Final = 2**31
"""Rows of a step that must be complete: a shortest path over half of the neighbours is not the shortest."""

READ_AHEAD: Final = 256
"""Nodes on top of the stack whose neighbours a depth-first walk reads at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What a memory depends on, nearest first.

    Attributes:
        keys: each once, with its distance.
        cycles: circles among them and the start, each as the nodes in order; one for every knot of nodes that all
            depend on each other.
        complete: False if there are more than were looked at.
    """

    keys: dict[NodeKey, int]
    cycles: tuple[tuple[NodeKey, ...], ...]
    complete: bool


def find_neighbourhood(
    store: Store,
    start: NodeKey,
    walk: Walk,
    depth: int = MAX_DEPTH,
    max_nodes: int = MAX_NODES,
    *,
    also: Sequence[NodeKey] = (),
) -> dict[NodeKey, int]:
    """Return the nodes at most `depth` steps from `start`, itself included, with their distance; nearest first.

    With more than `max_nodes`, the last level holds those of the oldest hyperedges. `also` begins there too, as one
    with `start`: the rest of a file.

    Raises:
        BadRequestError: a depth below 0.
    """
    if depth < 0:
        raise BadRequestError(f"depth={depth} is below 0.")
    steps = SymbolSteps(store, [(start, *also)])
    found = {start: 0}
    frontier = [start]
    with store.snapshot():
        for distance in range(1, depth + 1):
            fresh: dict[NodeKey, int] = {}
            for reached in steps.reach_symbols(frontier, walk, limit=5 * max_nodes):
                fresh.update(dict.fromkeys([key for key in reached if key not in found], distance))
                if len(found) + len(fresh) >= max_nodes:
                    break
            frontier = list(fresh)[: max_nodes - len(found)]
            found.update(dict.fromkeys(frontier, distance))
            if not frontier:
                break
    return found


def find_dependencies(
    store: Store, start: NodeKey, walk: Walk, max_nodes: int = MAX_NODES, *, also: Sequence[NodeKey] = ()
) -> Dependencies:
    """Return everything that `start` (and the rest of its file, `also`) depends on, and the circles in it (D.02)."""
    steps = SymbolSteps(store, [(start, *also)])
    found: dict[NodeKey, int] = {start: 0}
    edges: dict[NodeKey, list[NodeKey]] = {}
    frontier, distance, complete = [start], 0, True
    with store.snapshot():
        while frontier:
            distance += 1
            fresh: dict[NodeKey, None] = {}
            for source, target, _ in steps.cross_edges(frontier, walk, limit=UNBOUNDED_ROWS):
                edges.setdefault(source, []).append(target)
                if target not in found:
                    fresh[target] = None
            frontier = list(fresh)[: max_nodes - len(found)]
            complete = complete and len(frontier) == len(fresh)
            found.update(dict.fromkeys(frontier, distance))
    del found[start]
    return Dependencies(keys=found, cycles=tuple(_find_cycles(edges)), complete=complete)


def find_shortest_path(
    store: Store,
    start: NodeKey,
    end: NodeKey,
    walk: Walk,
    max_depth: int = MAX_PATH_STEPS,
    *,
    wholes: Sequence[Sequence[NodeKey]] = (),
) -> list[Crossing] | None:
    """Return the hyperedges crossed on a shortest way from `start` to `end`; None where there is none so short.

    Both ends are walked towards each other, the smaller side first; of several shortest ways any. `wholes` are the ends
    with what counts as one with them, each end first: the rest of a file.
    """
    steps = SymbolSteps(store, wholes or [(start,), (end,)])
    if steps.find_first(start) == steps.find_first(end):
        return []
    # Of each node reached: the crossing that led to it, from its own end of the path.
    ahead: dict[NodeKey, Crossing | None] = {start: None}
    behind: dict[NodeKey, Crossing | None] = {end: None}
    fronts, sides, walks = [[start], [end]], [ahead, behind], [walk, walk.reversed()]
    with store.snapshot():
        for _ in range(max_depth):
            side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
            seen, other = sides[side], sides[1 - side]
            fresh: list[NodeKey] = []
            for crossing in steps.cross_edges(fronts[side], walks[side], limit=UNBOUNDED_ROWS):
                if crossing.target not in seen:
                    seen[crossing.target] = crossing
                    if crossing.target in other:
                        return _join_halves(crossing.target, ahead, behind)
                    fresh.append(crossing.target)
            if not fresh:
                return None
            fronts[side] = fresh
    return None


def walk_all(store: Store, start: NodeKey, walk: Walk, order: str = "bfs") -> Iterator[NodeKey]:
    """Yield every node that can be reached from `start`, itself first: by breadth or by depth, iteratively (E.13).

    Args:
        store: the open store.
        start: where to begin.
        walk: which way.
        order: `bfs`, level by level; `dfs`, each branch to its end before the next, the oldest hyperedge first.

    Raises:
        BadRequestError: another order.
    """
    if order not in ("bfs", "dfs"):
        raise BadRequestError(f"order={order!r} is unknown: use bfs or dfs.")
    steps = SymbolSteps(store, [(start,)])
    return _walk_breadth_first(steps, start, walk) if order == "bfs" else _walk_depth_first(steps, start, walk)


def _walk_breadth_first(steps: SymbolSteps, start: NodeKey, walk: Walk) -> Iterator[NodeKey]:
    seen, frontier = {start}, [start]
    while frontier:
        yield from frontier
        fresh: dict[NodeKey, None] = {}
        for crossing in steps.cross_edges(frontier, walk, limit=UNBOUNDED_ROWS):
            if crossing.target not in seen:
                fresh[crossing.target] = None
        seen.update(fresh)
        frontier = list(fresh)


def _walk_depth_first(steps: SymbolSteps, start: NodeKey, walk: Walk) -> Iterator[NodeKey]:
    seen: set[NodeKey] = set()
    children: dict[NodeKey, list[NodeKey]] = {}
    stack = [start]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        if node not in children:
            asked = {node, *(key for key in stack[-READ_AHEAD:] if key not in seen and key not in children)}
            children.update({key: [] for key in asked})
            for source, target, _ in steps.cross_edges(asked, walk, limit=UNBOUNDED_ROWS):
                children[source].append(target)
        stack.extend(target for target in reversed(children.pop(node)) if target not in seen)


def _join_halves(
    middle: NodeKey, ahead: dict[NodeKey, Crossing | None], behind: dict[NodeKey, Crossing | None]
) -> list[Crossing]:
    """Join the two halves of a path, in the direction of the walk."""
    path: list[Crossing] = []
    crossing = ahead[middle]
    while crossing is not None:
        path.append(crossing)
        crossing = ahead[crossing.source]
    path.reverse()
    crossing = behind[middle]
    while crossing is not None:
        path.append(Crossing(crossing.target, crossing.source, crossing.edge))
        crossing = behind[crossing.source]
    return path


def _find_cycles(edges: dict[NodeKey, list[NodeKey]]) -> Iterator[tuple[NodeKey, ...]]:
    """Yield one shortest circle through the first node of every knot (strongly connected component of two or more)."""
    for knot in _strongly_connected_components(edges):
        first = min(knot)
        came: dict[NodeKey, NodeKey] = {}
        frontier = [first]
        while first not in came:
            fresh = []
            for source in frontier:
                for target in edges.get(source, ()):
                    if target in knot and target not in came:
                        came[target] = source
                        fresh.append(target)
            frontier = fresh
        circle = [first]
        while came[circle[-1]] != first:
            circle.append(came[circle[-1]])
        yield (first, *reversed(circle[1:]))


def _strongly_connected_components(edges: dict[NodeKey, list[NodeKey]]) -> Iterator[set[NodeKey]]:
    """Yield the strongly connected components of two nodes and more, by Tarjan's algorithm with a stack of its own."""
    order: dict[NodeKey, int] = {}
    low: dict[NodeKey, int] = {}
    open_ones: list[NodeKey] = []
    is_open: set[NodeKey] = set()
    for root in edges:
        if root in order:
            continue
        work: list[tuple[NodeKey, Iterator[NodeKey]]] = [(root, iter(edges.get(root, ())))]
        order[root] = low[root] = len(order)
        open_ones.append(root)
        is_open.add(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    place = open_ones.index(node)
                    knot = set(open_ones[place:])
                    del open_ones[place:]
                    is_open -= knot
                    if len(knot) > 1:
                        yield knot
            elif target not in order:
                order[target] = low[target] = len(order)
                open_ones.append(target)
                is_open.add(target)
                work.append((target, iter(edges.get(target, ()))))
            elif target in is_open:
                low[node] = min(low[node], order[target])
