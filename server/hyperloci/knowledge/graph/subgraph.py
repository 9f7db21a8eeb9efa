"""Subgraph: a part of the concept graph to draw: the memories around one and their hyperedges (D.02, D.11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hyperloci.knowledge.graph.neighbourhood import ANY, find_related
from hyperloci.model.answers import GraphAnswer, GraphEdge, GraphNode
from hyperloci.model.edge import Hyperedge
from hyperloci.model.kinds import MENTIONS, NodeKey, Role, fold_label, list_labels_of
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.memories.traversal import OUTWARD, Crossing


def find_subgraph(
    store: Store,
    start: NodeKey,
    *,
    relationship: str = ANY,
    direction: str = "both",
    depth: int = 2,
    limit: int = 20,
    scopes: Sequence[str] = (),
    also: Sequence[NodeKey] = (),
    mentioning: Sequence[NodeKey] = (),
) -> GraphAnswer:
    """Return the memories around one (and the rest of its file, `also`), nearest and surest first, and their relations.

    A symbol that is cut into several snippets is drawn once, with the relations of all. Of what mentions an entity
    (`mentioning`, as `find_related` takes it), every drawn memory is joined to it.

    Raises:
        BadRequestError: an unknown relationship or direction.
    """
    found = find_related(
        store, start, relationship, direction, depth, limit, scopes=scopes, also=also, mentioning=mentioning
    )
    label = fold_label(relationship)
    distances = {start: 0} | {item.node_key: item.distance for item in found}
    with store.snapshot():
        drawn = dict.fromkeys(also, start) | _map_pieces(store, distances)
        nodes = store.nodes.get_by_keys(distances)
        edges = [edge for edge in store.edges.list_among(drawn) if label == ANY or edge.label in list_labels_of(label)]
    shown = {key: nodes[there] for key, there in drawn.items() if there in nodes}
    relations = [_describe_edge(edge, shown) for edge in edges if _has_visible_members(edge, shown)]
    mentions = [_describe_mention(nodes[key], nodes[start]) for key in mentioning if key in nodes]
    follows_mentions = direction != OUTWARD and label in (ANY, MENTIONS)
    return GraphAnswer(
        nodes=describe_nodes(store, distances), edges=(*relations, *(mentions if follows_mentions else ()))
    )


def _map_pieces(store: Store, keys: Iterable[NodeKey]) -> dict[NodeKey, NodeKey]:
    """Return the drawn node of each piece of the drawn symbols."""
    listed = list(keys)
    cut = store.symbols.find_pieces(listed)
    pieces = {piece: key for key in reversed(listed) for piece in cut.get(key, ())}
    return pieces | {key: key for key in listed}


def describe_path(
    store: Store, start: NodeKey, path: Sequence[Crossing], wholes: Sequence[Sequence[NodeKey]] = ()
) -> GraphAnswer:
    """Return a path as the nodes on it, in order, and the hyperedge of each step.

    Args:
        store: the open store.
        start: where the path begins.
        path: the hyperedges crossed.
        wholes: its ends with what counts as one with them (`paths.find_shortest_path`).
    """
    distances = {start: 0} | {crossing.target: number for number, crossing in enumerate(path, start=1)}
    drawn = {key: whole[0] for whole in wholes for key in whole} | _map_pieces(store, distances)
    nodes = store.nodes.get_by_keys(distances)
    edges = {edge.key: edge for edge in store.edges.list_among(drawn)}
    shown = {key: nodes[there] for key, there in drawn.items() if there in nodes}
    return GraphAnswer(
        nodes=describe_nodes(store, distances),
        edges=tuple(_describe_edge(edges[crossing.edge], shown) for crossing in path),
    )


def describe_nodes(store: Store, distances: Mapping[NodeKey, int]) -> tuple[GraphNode, ...]:
    """Return nodes as they are drawn, in the order given."""
    nodes, places = store.nodes.get_by_keys(distances), store.positions.get_positions(distances)
    shown = []
    for key, distance in distances.items():
        node, place = nodes[key], places.get(key)
        where = "" if place is None or place.path is None else f"{place.path}:{place.line_start}"
        name = "" if place is None else place.symbol or " > ".join(place.section_path)
        shown.append(
            GraphNode(
                id=node.id,
                type=node.subtype or node.type,
                content=node.content,
                place=" ".join(part for part in (name, where) if part),
                distance=distance,
            )
        )
    return tuple(shown)


def _has_visible_members(edge: Hyperedge, nodes: Mapping[NodeKey, Node]) -> bool:
    return len({nodes[member.node].id for member in edge.members if member.node in nodes}) > 1


def _describe_edge(edge: Hyperedge, nodes: Mapping[NodeKey, Node]) -> GraphEdge:
    return GraphEdge(
        id=edge.id,
        label=edge.label,
        members=tuple(
            dict.fromkeys((nodes[member.node].id, str(member.role)) for member in edge.members if member.node in nodes)
        ),
        confidence=edge.confidence,
        automatic=edge.automatic,
        confirmed=edge.confirmed_at is not None,
        evidence=edge.evidence,
    )


def _describe_mention(node: Node, entity: Node) -> GraphEdge:
    return GraphEdge(
        id="",
        label=MENTIONS,
        members=((node.id, Role.SUBJECT.value), (entity.id, Role.OBJECT.value)),
        confidence=1.0,
        automatic=True,
        confirmed=False,
        evidence=None,
    )


def describe_edges(store: Store, edges: Iterable[Hyperedge]) -> tuple[GraphEdge, ...]:
    """Return hyperedges with the ids of all their members."""
    listed = list(edges)
    nodes = store.nodes.get_by_keys({member.node for edge in listed for member in edge.members})
    return tuple(_describe_edge(edge, nodes) for edge in listed)
