"""Past memories: what no longer holds, why it can't be changed, and what to do instead."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from hyperloci.clock import read_day_end
from hyperloci.model.kinds import NodeType, Role
from hyperloci.model.node import RESTORE_DAYS, Node, last_day_of
from hyperloci.store import Store
from hyperloci.store.ids import shorten_id

MAX_STEPS: Final = 20
"""Replacements of a replacement that are followed."""


def why_not_correctable(store: Store, node: Node, scopes: Collection[str]) -> str | None:
    """Return why a memory can't be corrected, and what to do instead; None where it can."""
    if node.valid_until is not None:
        if (newest := find_successor(store, node, scopes)) is not None:
            return f"was already corrected; correct the newest version instead, {shorten_id(newest.id)}."
        if node.valid_until == read_day_end(day := last_day_of(node)):
            return f"ended with its own day, {day}; remember what holds now, or confirm."
        if "released" in node.metadata:
            return f"held until something came: {node.metadata['released']!r}; remember what holds now, or confirm."
        return "no longer holds; remember it anew if it does."
    if node.type not in (NodeType.FACT, NodeType.DECISION, NodeType.EXPERIENCE):
        kind = node.subtype or node.type
        return f"is a {kind}: only remembered facts can be corrected; change the file it came from instead."
    return None


def why_not_replaceable(store: Store, old: Node, new: Node | None, scopes: Collection[str]) -> str | None:
    """Return why a memory can't be replaced, and what to name instead; None where it can.

    What ended by its own words can: nothing holds in its place. So can what was replaced by the very same before, or
    in another project alone.

    Args:
        store: where both are.
        old: the memory.
        new: what replaces it, if that is stored already.
        scopes: whose memories may hold in its place.
    """
    newest = find_successor(store, old, scopes) if old.valid_until is not None else None
    if newest is None or (new is not None and newest.key == new.key):
        return None
    return f"was already replaced; name what holds in its place, {shorten_id(newest.id)}."


def why_not_confirmable(store: Store, old: Node, scopes: Collection[str]) -> str:
    """Return why nobody can confirm a memory that ended otherwise than by its own words, and what to do instead."""
    newest = find_successor(store, old, scopes)
    if newest is None:
        return "no longer holds; remember it anew if it does."
    id = shorten_id(newest.id)
    return f"was replaced by {id}; confirm that one, or remember the old words with replaces={id} if they hold again."


def why_not_restorable(store: Store, node: Node, *, now: int) -> str | None:
    """Return why a memory can't be brought back; None where it can.

    What was told again meanwhile holds already: of two that say the same, a correction would end only one.
    """
    if node.deleted_at is None:
        return "is not forgotten, so there is nothing to restore."
    if not node.is_restorable(now):
        return f"was forgotten over {RESTORE_DAYS} days ago, so there is nothing to restore."
    twin = store.node_lists.find_twin(node) if node.valid_until is None else None
    if twin is None:
        return None
    id = shorten_id(twin.id)
    return f"says the same as {id}, which holds: to have this one in its place, forget {id} first."


def find_successor(store: Store, node: Node, scopes: Collection[str]) -> Node | None:
    """Return what replaced a memory in some scopes and holds, by however many steps; None where nothing does."""
    for _ in range(MAX_STEPS):
        newer = [one for one in _list_replacing(store, node, Role.SUBJECT) if one.scope in scopes]
        if not newer:
            return None
        node = max(newer, key=lambda one: (one.holds, one.key))
        if node.holds:
            return node
    return None


def find_rivals(store: Store, node: Node, scopes: Collection[str]) -> list[Node]:
    """Return what else replaced in some scopes what a memory replaced, by however many steps, and holds."""
    reached = {node.key: node}
    for role in (Role.OBJECT, Role.SUBJECT):
        latest = list(reached.values())
        for _ in range(MAX_STEPS):
            found = (other for one in latest for other in _list_replacing(store, one, role))
            latest = list({other.key: other for other in found if other.key not in reached}.values())
            reached |= {other.key: other for other in latest}
    return [one for one in reached.values() if one.key != node.key and one.holds and one.scope in scopes]


def _list_replacing(store: Store, node: Node, role: Role) -> list[Node]:
    """Return what replaced a memory (`SUBJECT`) or what it replaced (`OBJECT`), forgotten ones too: they lead on."""
    members = [
        member
        for edge in store.edges.list_of_node(node.key, "supersedes")
        if any(member.node == node.key and member.role != role for member in edge.members)
        for member in edge.members
    ]
    return list(store.nodes.get_by_keys({member.node for member in members if member.role == role}).values())


def hold_on(node: Node, now: int) -> dict[str, Any]:
    """Return the changes by which a statement holds on, without an end, though its day is over or it was released."""
    end = read_day_end(last_day_of(node))
    over = {"released", *(("until", "due") if end is not None and end <= now else ())} & node.metadata.keys()
    if not over:
        return {}
    metadata = {name: value for name, value in node.metadata.items() if name not in over}
    if "due" in over:
        metadata["overdue"] = last_day_of(node)
    is_ended = "released" in over or node.valid_until == end
    return {"metadata": metadata, "valid_until": None if is_ended else node.valid_until}
