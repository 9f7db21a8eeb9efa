"""Starting point: the memory that a topic means: by its id, by a name, else the one that its words describe best."""

from __future__ import annotations

from hyperloci.knowledge.names.named_thing import Resolution, ThingKind
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingPoint:
    """Where a walk begins.

    Attributes:
        node: the memory.
        rest: the other memories of what was named: the rest of a file; pieces of a symbol go with it by themselves.
        described: in words what the topic was taken for, and what else it could have been.
    """

    node: Node
    rest: tuple[NodeKey, ...] = ()
    described: str


def start_at_name(resolution: Resolution, node: Node) -> StartingPoint:
    """Return the starting point at what a name was taken for, whose first memory is `node`."""
    taken = resolution.taken
    rest = taken.keys[1:] if taken.kind is ThingKind.FILE else ()
    return StartingPoint(node=node, rest=rest, described=resolution.describe())
