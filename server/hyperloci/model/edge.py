"""Hyperedge: joins any number of nodes, each with a role."""

from __future__ import annotations

from hyperloci.model.kinds import EdgeType, NodeId, NodeKey, Role
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True)
class EdgeMember:
    """One node's part in a hyperedge (SPEC-02.15)."""

    node: NodeKey
    role: Role
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hyperedge:
    """A stored hyperedge (SPEC-02.12).

    `automatic` ones were found by rules; `confirmed_at` protects from pruning (D.02).
    """

    key: int
    id: str
    type: EdgeType
    label: str
    weight: float
    confidence: float
    automatic: bool
    evidence: str | None
    created_at: int
    confirmed_at: int | None
    members: tuple[EdgeMember, ...] = ()


@dataclass(frozen=True, slots=True)
class WantedRelation:
    """A relation that a rule found in a snippet: target node, confidence and evidence (D.03)."""

    label: str
    target: NodeKey
    confidence: float
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedMemory:
    """A node reached over a hyperedge from another one, `source_key`; `author` is who told it, if somebody else did."""

    node_id: NodeId
    node_key: NodeKey
    content: str
    label: str
    direction: str
    distance: int
    confidence: float
    automatic: bool
    source_key: NodeKey
    author: str | None = None
