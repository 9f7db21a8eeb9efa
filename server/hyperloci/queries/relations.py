"""Relations: follow, draw, make, confirm and prune the relations of memories (D.02, D.11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.clock import Clock
from hyperloci.errors import BadRequestError
from hyperloci.facts.facts import Facts
from hyperloci.facts.past_memories import why_not_correctable
from hyperloci.facts.safe_arguments import sanitize_argument
from hyperloci.knowledge.graph.neighbourhood import (
    DIRECTIONS,
    MAX_NODES,
    count_relations,
    find_related,
    resolve_label,
)
from hyperloci.knowledge.graph.paths import find_dependencies, find_neighbourhood, find_shortest_path
from hyperloci.knowledge.graph.subgraph import describe_edges, describe_nodes, describe_path, find_subgraph
from hyperloci.knowledge.graph.symbol_steps import Walk
from hyperloci.knowledge.names.written_names import find_use
from hyperloci.maintenance.relation_jobs import prune_edges
from hyperloci.model.answers import (
    DependencyAnswer,
    EdgePruneReport,
    GraphAnswer,
    GraphEdge,
    GraphNode,
    RelatedAnswer,
    RelatedHit,
)
from hyperloci.model.edge import EdgeMember, RelatedMemory
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL, MENTIONS, EdgeType, NodeKey, NodeType, Role, fold_label
from hyperloci.model.position import Position
from hyperloci.model.search import Present
from hyperloci.names import describe_unknown_value, find_document_name
from hyperloci.queries.starting_point import StartingPoint
from hyperloci.store import Store
from hyperloci.store.ids import edge_ids, resolve_id
from hyperloci.system.values import dataclass

MAX_LABEL_CHARS: Final = 64
MAX_MEMBERS: Final = 50
MAX_DEPTH: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationService:
    """The relations of one project and what is global; `find_start` finds the memory that a caller means."""

    store: Store
    facts: Facts
    scopes: tuple[str, ...]
    find_start: Callable[[str], StartingPoint]
    present_hits: Present
    clock: Clock

    def find_related(self, topic: str, relationship: str, direction: str, depth: int, limit: int) -> RelatedAnswer:
        """Return what a memory's relations lead to, nearest first."""
        if direction not in DIRECTIONS:
            raise BadRequestError(f"direction={direction!r} is unknown: use one of {', '.join(DIRECTIONS)}.")
        steps, start = _check_depth(depth), self.find_start(topic)
        key, rest = start.node.key, start.rest
        with self.store.snapshot():
            mentioning = self._list_mentioning(start)
            found = find_related(
                self.store,
                key,
                relationship,
                direction,
                steps,
                limit,
                scopes=self.scopes,
                also=rest,
                mentioning=mentioning,
            )
            relations = count_relations(self.store, key, self.scopes, rest)
        relations += [f"{MENTIONS} in {len(mentioning)}"] if mentioning else []
        places = self._locate_related(found)
        return RelatedAnswer(
            node=self.present_hits([start.node])[0],
            started=start.described,
            relations=tuple(relations),
            related=tuple(
                RelatedHit(
                    id=item.node_id,
                    content=item.content,
                    relation=item.label,
                    direction=item.direction,
                    distance=item.distance,
                    confidence=item.confidence,
                    automatic=item.automatic,
                    path=place.path,
                    line=place.line_start,
                    symbol=place.symbol or " > ".join(place.section_path) or None,
                    author=item.author,
                )
                for item, place in zip(found, places, strict=True)
            ),
        )

    def _list_mentioning(self, start: StartingPoint) -> list[NodeKey]:
        """Return what mentions an entity, the latest first; nothing of what is no entity."""
        if start.node.type is not NodeType.ENTITY:
            return []
        scopes = [key for scope in self.scopes if (key := self.store.scopes.find_key(scope)) is not None]
        kinds = [kind for kind in NodeType if kind is not NodeType.ENTITY]
        return self.store.entities.find_mentioning([start.node.key, *start.rest], scopes, types=kinds, limit=MAX_NODES)

    def _locate_related(self, found: Sequence[RelatedMemory]) -> list[Position]:
        """Return where each reached memory stands; of what speaks of another, the line on which it does."""
        keys = {item.node_key for item in found} | {item.source_key for item in found}
        positions = self.store.positions.get_positions(keys)
        return [
            _point_at_use(item, positions.get(item.node_key, Position()), positions.get(item.source_key, Position()))
            for item in found
        ]

    def draw_graph(self, topic: str, relationship: str, direction: str, depth: int, limit: int) -> GraphAnswer:
        """Return the memories around one and every relation between them."""
        start = self.find_start(topic)
        with self.store.snapshot():
            drawn = find_subgraph(
                self.store,
                start.node.key,
                relationship=relationship,
                direction=direction,
                depth=_check_depth(depth),
                limit=limit,
                scopes=self.scopes,
                also=start.rest,
                mentioning=self._list_mentioning(start),
            )
        return replace(drawn, started=start.described)

    def list_neighbourhood(self, topic: str, depth: int, relationship: str) -> tuple[GraphNode, ...]:
        """Return every memory at most so many relations away."""
        walk, steps, start = self._make_walk(relationship, "both"), _check_depth(depth), self.find_start(topic)
        found = find_neighbourhood(self.store, start.node.key, walk, steps, also=start.rest)
        return describe_nodes(self.store, found)

    def find_dependencies(self, topic: str, relationship: str) -> DependencyAnswer:
        """Return all that a memory depends on, and the circles in it."""
        begun = self.find_start(topic)
        start = begun.node
        found = find_dependencies(self.store, start.key, self._make_walk(relationship, "out"), also=begun.rest)
        ids = {key: node.id for key, node in self.store.nodes.get_by_keys({*found.keys, start.key}).items()}
        return DependencyAnswer(
            node=self.present_hits([start])[0],
            dependencies=describe_nodes(self.store, found.keys),
            cycles=tuple(tuple(ids[key] for key in cycle) for cycle in found.cycles),
            complete=found.complete,
        )

    def find_path(self, start: str, end: str, relationship: str, direction: str) -> GraphAnswer | None:
        """Return a shortest way from one memory to another, None if they aren't joined."""
        begun, ended = self.find_start(start), self.find_start(end)
        first, last = begun.node.key, ended.node.key
        wholes = [(first, *begun.rest), (last, *ended.rest)]
        path = find_shortest_path(self.store, first, last, self._make_walk(relationship, direction), wholes=wholes)
        return None if path is None else describe_path(self.store, first, path, wholes)

    def create_relation(
        self,
        label: str,
        members: Sequence[Mapping[str, str]],
        weight: float,
        evidence: str | None,
        *,
        edge_type: str | None = None,
    ) -> str:
        """Join memories in a hyperedge and return its id; its type follows from the label unless given."""
        if edge_type is not None and edge_type not in set(EdgeType):
            raise BadRequestError(describe_unknown_value("type", edge_type, list(EdgeType)))
        word = fold_label(sanitize_argument("label", label).text)
        if not word or len(word) > MAX_LABEL_CHARS:
            raise BadRequestError(f"label={label!r:.80} must be a word of 1 to {MAX_LABEL_CHARS} characters.")
        if len(members) > MAX_MEMBERS:
            raise BadRequestError(f"members has {len(members)} entries; at most {MAX_MEMBERS} are joined at once.")
        if edge_type is None:
            _refuse_label_of_documents(word)
        proof = None if evidence is None else sanitize_argument("evidence", evidence).text
        with self.store.transaction():
            joined = [self._make_member(index, member) for index, member in enumerate(members)]
            if len(joined) > 1 and len({member.node for member in joined}) == 1:
                raise BadRequestError("members are all one memory: a relation joins at least two.")
            if word == "supersedes":
                self._refuse_replaceable(joined)
            told = self._find_told(word, joined, weight, proof)
            if told is not None:
                return told
            edge = self.store.edges.create_edge(
                word,
                joined,
                now=self.clock(),
                type=None if edge_type is None else EdgeType(edge_type),
                weight=weight,
                evidence=proof,
            )
        return edge.id

    def _refuse_replaceable(self, members: Sequence[EdgeMember]) -> None:
        """Refuse to say only that a statement is superseded which holds: it would go on being told as true."""
        objects = [member.node for member in members if member.role == Role.OBJECT]
        for node in self.store.nodes.get_by_keys(objects).values():
            if why_not_correctable(self.store, node, self.scopes) is None:
                ends = f'remember_fact(fact=<what holds instead>, replaces="{node.id}")'
                raise BadRequestError(f"label='supersedes' would leave {node.id} valid; {ends} ends it.")

    def _find_told(self, label: str, members: Sequence[EdgeMember], weight: float, evidence: str | None) -> str | None:
        """Return the id of the same relation, where it was told before: who got no answer tells it again."""
        said = (False, weight, evidence, {(member.node, member.role) for member in members})
        for edge in self.store.edges.list_of_node(members[0].node, label) if members else ():
            joined = {(member.node, member.role) for member in edge.members}
            if (edge.automatic, edge.weight, edge.evidence, joined) == said:
                return edge.id
        return None

    def confirm_relation(self, id: str) -> GraphEdge:
        """Mark a relation as right."""
        with self.store.transaction():
            edge = resolve_id(edge_ids(self.store.edges, scopes=self.scopes), id)
            self.store.edges.confirm_edge(edge.id, now=self.clock())
        return describe_edges(self.store, [resolve_id(edge_ids(self.store.edges), edge.id)])[0]

    def prune_relations(self, *, dry_run: bool) -> EdgePruneReport:
        """Remove automatic relations that faded or crowd a memory."""
        now = self.clock()
        pruning = self.store.pruning.find_prunable(now)
        if not dry_run:
            prune_edges(self.store, now=now)
        return EdgePruneReport(faded=len(pruning.faded), crowded=len(pruning.crowded), dry_run=dry_run)

    def _make_walk(self, relationship: str, direction: str) -> Walk:
        label = resolve_label(self.store.traversal, relationship)
        return Walk(label=label, direction=direction, scopes=self.scopes)

    def _make_member(self, index: int, member: Mapping[str, str]) -> EdgeMember:
        if not isinstance(member, Mapping) or "id" not in member:
            raise BadRequestError(f"members[{index}]={member!r:.80} must be an object with id, and role if it has one.")
        role = member.get("role", "participant")
        if role not in set(Role):
            raise BadRequestError(f"members[{index}].role={role!r} is unknown: use one of {', '.join(Role)}.")
        node = self.facts.resolve_living_node(member.get("id", ""), f"members[{index}].id")
        return EdgeMember(node.key, Role(role), index)


def _refuse_label_of_documents(label: str) -> None:
    """Refuse what the documents call a relation that has another label here: nothing that asks for it would find it."""
    named = find_document_name(label, ("types",)) if label not in EDGE_TYPE_OF_LABEL else None
    if named is not None and any(target.startswith("label:") for target in named.targets):
        raise BadRequestError(f"label={label!r:.80}: {named.describe()}.")


def _point_at_use(item: RelatedMemory, place: Position, source: Position) -> Position:
    if item.direction != "in" or place.line_start is None:
        return place
    offset = find_use(item.content, source)
    return (
        place if offset is None else replace(place, line_start=place.line_start + item.content.count("\n", 0, offset))
    )


def _check_depth(depth: int) -> int:
    if not 1 <= depth <= MAX_DEPTH:
        raise BadRequestError(f"depth={depth} is outside 1..{MAX_DEPTH}.")
    return depth
