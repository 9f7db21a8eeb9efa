"""Settlement: what a person decides about memories: which one holds, what may be shown, what is harmless."""

from __future__ import annotations

from collections.abc import Sequence

from hyperloci.errors import BadRequestError
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.model.edge import Hyperedge
from hyperloci.model.node import Node
from hyperloci.store import Store

SETTLED = "settled by the user"
"""The reason of what a person decided, in the log and in the relation."""


def settle_for(store: Store, edge: Hyperedge, holds: Node, *, now: int) -> tuple[Node, ...]:
    """End all memories of a dispute but one, in favour of that one; return what was ended.

    Raises:
        BadRequestError: the one that holds is none of them.
    """
    members = _list_members(store, edge)
    if holds.key not in {node.key for node in members}:
        raise BadRequestError(f"holds={holds.id!r} takes no part in relation {edge.id!r}: name one of its memories.")
    ended = tuple(node for node in members if node.key != holds.key)
    writer = MemoryWriter(store)
    with store.transaction():
        for node in ended:
            writer.supersede(node, holds, SETTLED, now=now, until=now)
    return ended


def settle_as_compatible(store: Store, edge: Hyperedge, *, now: int) -> None:
    """Remove a dispute: all of its memories hold."""
    members = _list_members(store, edge)
    with store.transaction():
        MemoryWriter(store).withdraw_dispute(edge, members, now=now, reason=f"{SETTLED}: all hold")


def withhold_memory(store: Store, node: Node, *, reason: str | None, now: int) -> bool:
    """Keep a memory from searches and sessions; False if it was kept from them before."""
    with store.transaction():
        changed = store.withheld.withhold(node.key, now=now)
        if changed:
            store.entities.drop_summaries_from(node.key)
            store.log.add_entry("withhold", [node.id], now=now, reasoning=reason)
    return changed


def release_memory(store: Store, node: Node, *, now: int) -> bool:
    """Let a withheld memory be found again; False if it was not withheld."""
    with store.transaction():
        changed = store.withheld.release(node.key)
        if changed:
            store.log.add_entry("release", [node.id], now=now)
    return changed


def clear_suspicion(store: Store, node: Node, *, now: int) -> bool:
    """Take a memory's flags away: a person found it harmless; False if it had none."""
    flags = node.metadata.get("flags")
    if not flags:
        return False
    told = ", ".join(map(str, flags))
    with store.transaction():
        rest = {name: value for name, value in node.metadata.items() if name != "flags"}
        store.nodes.update_node(node.id, now=now, metadata=rest)
        store.log.add_entry("clear", [node.id], now=now, reasoning=f"found harmless by the user: {told}")
    return True


def _list_members(store: Store, edge: Hyperedge) -> Sequence[Node]:
    """Return the memories of a dispute that still hold."""
    nodes = store.nodes.get_by_keys({member.node for member in edge.members})
    members = [nodes[member.node] for member in edge.members if member.node in nodes]
    return [node for node in members if node.holds]
