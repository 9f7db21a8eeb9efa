"""Publication: what others are told of one's own shared memories without being asked: that they are over.

A withdrawal says that a memory is to be forgotten, an ending that it no longer holds. Neither says anything that was
not shared: the words that replace a memory are shared on purpose (`promotion`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.facts.sharing.shared_folder import FOLDER, find_version, read_stamp, remove_versions, write_memory
from hyperloci.facts.sharing.shared_version import MAX_SUPERSEDED, SharedVersion
from hyperloci.model.author import Visibility, is_same_author
from hyperloci.model.kinds import SHARED_KINDS, Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.ids import shorten_id
from hyperloci.store.memories.shared import ENDED, ExchangeState, SharedRecord
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.sanitizer import sanitize

SENDER: Final = "somebody"
"""Who shares where neither Git nor the system says."""

MAX_STEPS: Final = 20
"""Corrections of a correction that are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCorrection:
    """A correction that others don't have of a memory that they do: both ids, and whether they know that it ended."""

    old: str
    new: str
    is_told: bool


def describe_pending(pending: PendingCorrection) -> str:
    """Say what others don't know yet, and the command that tells them."""
    command, old = f"hyperloci share {shorten_id(pending.new)}", shorten_id(pending.old)
    if pending.is_told:
        return (
            f"Teammates learn with your next commit of {FOLDER} that id {old} no longer holds, not what does:"
            f" `{command}` shares it, if that is wanted."
        )
    return f"Teammates still see id {old}: `{command}` shares what replaces it, if that is wanted."


def describe_forgetting(store: Store, project: str, node: Node) -> str | None:
    """Say who else forgets a shared memory that was just forgotten here; None if nobody else has it."""
    if store.team.get_rows([node.id]):
        return "Teammates forget it too, with the next exchange of the team."
    scope_key = store.scopes.find_key(project)
    if scope_key is None or not store.shared.list_records(scope_key, id=node.id):
        return None
    if node.origin is Origin.TEAMMATE:
        return "It is a teammate's: it is gone for you alone."
    return f"Teammates forget it too, with your next commit of {FOLDER}."


def end_withdrawn_sharing(store: Store, project: str, node: Node, *, now: int) -> str | None:
    """Make a memory private that comes back here and stays withdrawn for others; say so, None if it isn't one."""
    scope_key = store.scopes.find_key(project)
    if scope_key is None or node.visibility is not Visibility.SHARED or node.origin is Origin.TEAMMATE:
        return None
    records = store.shared.list_records(scope_key, id=node.id)
    last = max(records, key=lambda one: (one.told_at, one.state is ExchangeState.FORGOTTEN), default=None)
    if last is None or last.state is not ExchangeState.FORGOTTEN or store.team.get_rows([node.id]):
        return None
    with store.transaction():
        store.nodes.set_visibility(node.key, Visibility.PRIVATE, now=now)
        store.log.add_entry("unshare", [node.id], now=now, reasoning="withdrawn from the project as it was forgotten")
    return f"It stays withdrawn for teammates: `hyperloci share {shorten_id(node.id)}` shares it again."


class Publication:
    """Tells others what became of one's own shared memories, in one working tree of a project."""

    def __init__(self, store: Store, project: str, root: Path, clock: Clock) -> None:
        self._store = store
        self._project = project
        self._root = root
        self._clock = clock

    def publish_changes(self) -> int:
        """Write what was forgotten, purged or no longer holds, and is not told yet; return how many.

        Raises:
            StoreError: the folder can't be written; the next time tries again.
        """
        scope_key = self._store.scopes.find_key(self._project)
        if scope_key is None or read_stamp(self._root) is None or self._store.read_only:
            return 0
        gone = self._store.shared.list_ended_here(scope_key)
        over = self._store.shared.list_outdated_here(scope_key, now=self._clock(), told=False)
        author = (self._store.nodes.signature.find_author() if gone or over else None) or SENDER
        count = 0
        for one in gone:
            if one.is_own or is_same_author(one.author, author):
                publish_withdrawal(self._store, self._project, self._root, one.id, author, now=self._clock())
                count += 1
        for one in over:
            if one.is_own or is_same_author(one.author, author):
                self._publish_ending(scope_key, one.id)
                count += 1
        return count

    def _publish_ending(self, scope_key: int, id: str) -> None:
        node = self._store.nodes.get_node(id)
        if node is None or node.valid_until is None:
            return
        version = self._find_version(scope_key, node)
        ending = replace(version, until=node.valid_until)
        write_memory(self._root, ending)
        record = SharedRecord(
            id=id,
            hash=ending.digest,
            state=ExchangeState.SENT,
            node_key=node.key,
            reason=ENDED,
            told_at=ending.told_at,
        )
        with self._store.transaction():
            self._store.shared.put_record(scope_key, record, now=self._clock())

    def _find_version(self, scope_key: int, node: Node) -> SharedVersion:
        """Return what others have of a memory: from its file, so that they know it by the same words."""
        records = [
            one for one in self._store.shared.list_records(scope_key, id=str(node.id)) if one.node_key == node.key
        ]
        files = (find_version(self._root, one.id, one.hash) for one in reversed(records))
        found = next((version for version in files if version is not None and not version.withdrawn), None)
        if found is not None:
            return found
        again = max((one.told_at for one in records if one.state is not ExchangeState.FORGOTTEN), default=0)
        return make_version(self._store, node, sanitize(node.content).text, again=again or None)

    def list_pending(self) -> list[PendingCorrection]:
        """Return the corrections of shared memories that are one's own and not shared."""
        scope_key = self._store.scopes.find_key(self._project)
        if scope_key is None:
            return []
        now = self._clock()
        untold = {one.id for one in self._store.shared.list_outdated_here(scope_key, now=now, told=False)}
        found = (
            (one.id, self._find_correction(one.id))
            for one in self._store.shared.list_outdated_here(scope_key, now=now, told=True)
        )
        return [
            PendingCorrection(old=old, new=str(new.id), is_told=old not in untold)
            for old, new in found
            if new is not None
        ]

    def _find_correction(self, id: str) -> Node | None:
        """Return what replaced a memory and holds, if it is one's own and others don't have it."""
        node = self._store.nodes.get_node(id)
        for _ in range(MAX_STEPS):
            if node is None:
                return None
            steps = self._store.traversal.find_steps([node.key], label="supersedes", direction="in")
            newer = self._store.nodes.get_by_keys({step.target for step in steps}).values()
            living = [one for one in newer if one.deleted_at is None]
            if not living or any(one.visibility is Visibility.SHARED for one in living):
                return None
            node = max(living, key=lambda one: one.key)
            if node.valid_until is None:
                may = node.origin is not Origin.TEAMMATE and node.subtype in SHARED_KINDS
                return node if may and node.scope == self._project else None
        return None


def make_version(store: Store, node: Node, text: str, *, again: int | None = None) -> SharedVersion:
    """Return what others are told of a memory; `text` is what of its words may leave this machine."""
    steps = store.traversal.find_steps([node.key], label="supersedes", direction="out")
    older = store.nodes.get_by_keys({step.target for step in steps})
    shared = [str(old.id) for old in older.values() if old.visibility is Visibility.SHARED]
    return SharedVersion(
        id=str(node.id),
        author=node.author or store.nodes.signature.find_author() or SENDER,
        agent=node.agent,
        at=node.event_time,
        kind=str(node.subtype),
        text=text,
        again=again,
        supersedes=tuple(sorted(shared)[:MAX_SUPERSEDED]),
    )


def publish_withdrawal(store: Store, project: str, root: Path, id: str, author: str, *, now: int) -> Path:
    """Write that a memory is withdrawn, remove its files, and note it; return the file.

    Raises:
        StoreError: the folder can't be written.
    """
    known = store.scopes.find_key(project)
    told = [] if known is None else [record.told_at for record in store.shared.list_records(known, id=id)]
    # The last word, though another machine's clock is ahead.
    mark = SharedVersion(id=id, author=author, at=max(now, 1 + max(told, default=0)), withdrawn=True)
    path = write_memory(root, mark)
    remove_versions(root, id)
    with store.transaction():
        store.shared.put_record(
            store.scopes.ensure_scope(project, now=now),
            SharedRecord(id=id, hash=mark.digest, state=ExchangeState.FORGOTTEN, told_at=mark.told_at),
            now=now,
        )
    return path
