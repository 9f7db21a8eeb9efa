"""Node operations: the memory as SPEC-02 names it: create, read, change, delete and query nodes (SPEC-02.20 to .26).

They are for programs that know the graph. What people and assistants do has verbs of its own (`facts.facts`), which
also find duplicates and say what a new statement contradicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hyperloci.clock import Clock
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.facts.categories import choose_scope
from hyperloci.facts.facts import Facts
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.facts.safe_arguments import safety_metadata, sanitize_argument
from hyperloci.model.kinds import GLOBAL_SCOPE, EdgeType, NodeType, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.names import describe_unknown_value
from hyperloci.store import Store
from hyperloci.text.sanitize.sanitizer import sanitize

CREATED_FIELDS: Final = ("subtype", "tier", "confidence", "provenance", "metadata", "scope")
CHANGED_FIELDS: Final = ("content", "subtype", "tier", "confidence", "provenance", "metadata")
"""The fields that a caller may give; all others follow from what happens to a memory."""

MAX_NODES: Final = 10_000
"""The most nodes that one query returns."""


class NodeOperations:
    """The nodes of one project, and global ones."""

    def __init__(self, store: Store, facts: Facts, project: str, clock: Clock) -> None:
        self._store = store
        self._facts = facts
        self._project = project
        self._clock = clock

    def create_node(self, type: str, content: str, fields: Mapping[str, Any]) -> str:
        """Store a node and return its id; an entity that is known by this name is returned, not stored twice."""
        kind = NodeType(_require_member("type", type, NodeType))
        _refuse_unknown(fields, CREATED_FIELDS, "given to a new memory")
        text, now = sanitize_argument("content", content), self._clock()
        scope = choose_scope(fields.get("scope"), "insight", self._project)
        new = NewNode(
            type=kind,
            subtype=fields.get("subtype"),
            content=text.text,
            tier=Tier(_require_member("tier", fields.get("tier", Tier.TASK), Tier)),
            confidence=fields.get("confidence", 0.5),
            provenance=_clean_provenance(fields.get("provenance")) or "create_node",
            scope=scope,
            metadata={**_clean_strings(fields.get("metadata") or {}), **safety_metadata(text)},
        )
        with self._store.transaction():
            writer = MemoryWriter(self._store)
            if kind is not NodeType.ENTITY:
                return writer.write_statement(new, self._project, now=now).id
            node = self._store.nodes.get_by_key(writer.declare_entity(text.text, scope, now=now) or 0)
        if node is None:
            raise BadRequestError(f"content={text.text!r:.80} is an entity that was forgotten; restore it first.")
        return node.id

    def get_node(self, node_id: str) -> Node | None:
        """Return a node by its whole id, None where there is none in reach."""
        node = self._store.nodes.get_node(node_id)
        return node if node is not None and node.scope in (self._project, GLOBAL_SCOPE) else None

    def update_node(self, node_id: str, changes: Mapping[str, Any]) -> bool:
        """Change fields of a node and return whether there is one."""
        _refuse_unknown(changes, CHANGED_FIELDS, "changed")
        node = self.get_node(node_id)
        if node is None or node.deleted_at is not None:
            return False
        checked = dict(changes)
        if "content" in checked:
            checked["content"] = sanitize_argument("content", checked["content"]).text
        if "provenance" in checked:
            checked["provenance"] = _clean_provenance(checked["provenance"])
        if "metadata" in checked:
            checked["metadata"] = _clean_strings(checked["metadata"] or {})
        if "subtype" in checked or "confidence" in checked:
            # Made to be checked: these are the rules of a new one.
            NewNode(
                type=node.type,
                content=node.content,
                subtype=checked.get("subtype", node.subtype),
                confidence=checked.get("confidence", node.confidence),
            )
        now = self._clock()
        with self._store.transaction():
            # As it is now: another process may have changed it since it was looked up.
            node = self.get_node(node_id)
            if node is None or node.deleted_at is not None:
                return False
            is_known = self._store.nodes.update_node(node.id, now=now, reason="update_node", **checked)
            MemoryWriter(self._store).renew_statement(node, self._project, now=now)
        return is_known

    def delete_node(self, node_id: str) -> bool:
        """Forget a node softly and return whether there was one."""
        node = self.get_node(node_id)
        if node is None or node.deleted_at is not None:
            return False
        self._facts.forget_memory(node.id, reason="delete_node")
        return True

    def query_nodes(self, type: str | None, tier: str | None, min_confidence: float | None, limit: int) -> list[Node]:
        """Return living nodes that match every filter given, newest first."""
        if type is not None:
            _require_member("type", type, NodeType)
        if tier is not None:
            _require_member("tier", tier, Tier)
        if not 1 <= limit <= MAX_NODES:
            raise BadRequestError(f"limit={limit} is outside 1..{MAX_NODES}.")
        scopes = (self._project, GLOBAL_SCOPE)
        return self._store.nodes.query_nodes(type, tier, min_confidence, limit, scopes=scopes)

    def get_related_nodes(self, node_id: str, edge_type: str | None) -> list[Node]:
        """Return the living nodes of this project, or global ones, that share a hyperedge with one."""
        if edge_type is not None:
            _require_member("edge_type", edge_type, EdgeType)
        node = self.get_node(node_id)
        if node is None:
            raise NotFoundError(f"node_id={node_id!r:.80}: there is no such memory.")
        scopes = (self._project, GLOBAL_SCOPE)
        return [other for other in self._store.edges.list_related_nodes(node.key, edge_type) if other.scope in scopes]


def _require_member(argument: str, value: object, allowed: type[NodeType] | type[Tier] | type[EdgeType]) -> str:
    if value not in set(allowed):
        raise BadRequestError(describe_unknown_value(argument, value, list(allowed)))
    return str(value)


def _refuse_unknown(given: Mapping[str, Any], allowed: tuple[str, ...], what: str) -> None:
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        raise BadRequestError(f"{', '.join(unknown)} can't be {what}; these can: {', '.join(allowed)}.")


def _clean_provenance(value: str | None) -> str | None:
    return None if value is None else sanitize_argument("provenance", value).text


def _clean_strings(value: Any) -> Any:
    """Return metadata whose texts may be stored: secrets stand in values too."""
    if isinstance(value, str):
        return sanitize(value).text
    if isinstance(value, Mapping):
        return {str(_clean_strings(key)): _clean_strings(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean_strings(item) for item in value]
    return value
