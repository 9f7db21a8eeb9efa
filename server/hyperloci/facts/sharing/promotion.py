"""Promotion: one's own memories are shared, by the project's folder or by the team, and taken back; never by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.errors import BadRequestError
from hyperloci.facts.sharing.publication import SENDER, make_version, publish_withdrawal
from hyperloci.facts.sharing.shared_folder import FolderProblem, read_folder, write_memory
from hyperloci.facts.sharing.shared_version import SharedVersion
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import GLOBAL_SCOPE, SHARED_KINDS, Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.memories.shared import ExchangeState, SharedRecord
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.sanitizer import sanitize

MAX_CHOSEN: Final = 10_000
"""Memories that are shared at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedItem:
    """A memory that was shared or taken back: its id, what it says, and its file where it has one."""

    id: str
    text: str
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareReport:
    """What was shared, and what was not.

    Attributes:
        shared: what others get.
        refused: id and reason of each that was not shared.
        redactions: secrets and private parts that were left out on the way.
    """

    shared: tuple[SharedItem, ...]
    refused: tuple[tuple[str, str], ...]
    redactions: int = 0


class Promotion:
    """Shares memories of one project in one working tree."""

    def __init__(self, store: Store, project: str, root: Path, clock: Clock) -> None:
        self._store = store
        self._project = project
        self._root = root
        self._clock = clock

    def choose(self, kinds: Sequence[str], since: int | None) -> list[Node]:
        """Return one's own memories of the project, of these kinds and of this time or later, that hold.

        Raises:
            BadRequestError: a kind that is not shared.
        """
        unknown = [kind for kind in kinds if kind not in SHARED_KINDS]
        if unknown:
            raise BadRequestError(f"type={unknown[0]!r} is not shared: use one of {', '.join(SHARED_KINDS)}.")
        nodes = self._store.nodes.query_nodes(subtypes=tuple(kinds), scopes=(self._project,), limit=MAX_CHOSEN)
        return [
            node for node in nodes if node.origin is not Origin.TEAMMATE and (since is None or node.event_time >= since)
        ]

    def share(self, nodes: Sequence[Node], *, dry_run: bool = False, through_team: bool = False) -> ShareReport:
        """Write memories into the folder, redacted again; or mark them for the team, whose exchange tells them.

        Raises:
            StoreError: the folder can't be written; what was written before stays shared.
        """
        shared, refused, redactions = list[SharedItem](), list[tuple[str, str]](), 0
        scope_key = self._store.scopes.find_key(self._project)
        records = [] if scope_key is None else self._store.shared.list_records(scope_key)
        withheld = self._store.withheld.select_withheld({node.key for node in nodes})
        for node in nodes:
            prepared = sanitize(node.content)
            problem = _find_problem(node, withheld=node.key in withheld, flagged=bool(prepared.flags))
            if node.scope not in (self._project, *((GLOBAL_SCOPE,) if through_team else ())):
                problem = "it is not this project's, and a project's folder is for its own memories"
            if problem or not prepared.text.strip():
                refused.append((str(node.id), problem or "nothing of it may leave this machine"))
                continue
            redactions += len(prepared.redactions) + prepared.private_blocks
            own = [record for record in records if record.id == node.id]
            path = None if dry_run else self._put(node, prepared.text, own, through_team)
            shared.append(SharedItem(id=node.id, text=prepared.text, path=path))
        return ShareReport(shared=tuple(shared), refused=tuple(refused), redactions=redactions)

    def _put(self, node: Node, text: str, records: Sequence[SharedRecord], through_team: bool) -> str | None:
        """Share one memory; return its file where it has one."""
        if not through_team:
            again = self._find_time_again(records)
            return str(self._write(node, make_version(self._store, node, text, again=again)))
        with self._store.transaction():
            self._mark_shared(node, "shared with the team")
        return None

    def _find_time_again(self, records: Sequence[SharedRecord]) -> int | None:
        """Return when a memory that was withdrawn is shared anew, after that; None of one that never was."""
        withdrawn = [record.told_at for record in records if record.state is ExchangeState.FORGOTTEN]
        if not withdrawn:
            return None
        sent = max((record.told_at for record in records if record.state is ExchangeState.SENT), default=0)
        return sent if sent > max(withdrawn) else max(self._clock(), 1 + max(withdrawn))

    def _write(self, node: Node, memory: SharedVersion) -> Path:
        path, now = write_memory(self._root, memory), self._clock()
        with self._store.transaction():
            scope_key = self._store.scopes.ensure_scope(self._project, now=now)
            record = SharedRecord(
                id=memory.id,
                hash=memory.digest,
                state=ExchangeState.SENT,
                node_key=node.key,
                told_at=memory.told_at,
            )
            self._store.shared.put_record(scope_key, record, now=now)
            self._mark_shared(node, "shared with the project")
        return path

    def _mark_shared(self, node: Node, reason: str) -> None:
        if node.visibility is Visibility.SHARED:
            return
        now = self._clock()
        self._store.nodes.set_visibility(node.key, Visibility.SHARED, now=now)
        # What others rely on doesn't fade because its author has not asked for it.
        self._store.nodes.update_node(node.id, now=now, decay_rate=0.0)
        self._store.log.add_entry("share", [node.id], now=now, reasoning=reason)

    def unshare(self, nodes: Sequence[Node]) -> ShareReport:
        """Withdraw memories from wherever they were shared: others forget them, you keep them as your own.

        Raises:
            StoreError: the folder can't be written.
        """
        taken, refused = list[SharedItem](), list[tuple[str, str]]()
        scope_key = self._store.scopes.find_key(self._project)
        in_folder = {record.id for record in ([] if scope_key is None else self._store.shared.list_records(scope_key))}
        for node in nodes:
            if node.visibility is not Visibility.SHARED:
                refused.append((str(node.id), "it is not shared"))
                continue
            if node.origin is Origin.TEAMMATE:
                refused.append((str(node.id), "it is a teammate's; forget it, and it is gone for you alone"))
                continue
            now = self._clock()
            path = None
            if node.id in in_folder:
                author = self._store.nodes.signature.find_author() or SENDER
                path = str(publish_withdrawal(self._store, self._project, self._root, str(node.id), author, now=now))
            with self._store.transaction():
                self._store.nodes.set_visibility(node.key, Visibility.PRIVATE, now=now)
                self._store.log.add_entry("unshare", [node.id], now=now, reasoning="withdrawn from the project")
            taken.append(SharedItem(id=node.id, text=node.content, path=path))
        return ShareReport(shared=tuple(taken), refused=tuple(refused))


def _find_problem(node: Node, *, withheld: bool, flagged: bool) -> str | None:
    """Return why a memory is not shared, whatever carries it; None if it may be."""
    if node.origin is Origin.TEAMMATE:
        return "it is a teammate's, and shared already"
    if node.subtype not in SHARED_KINDS:
        return f"a memory of kind {node.subtype} is not shared: {', '.join(SHARED_KINDS)} are"
    if withheld:
        return "it is withheld: you want no session to be shown it"
    if node.metadata.get("flags") or flagged:
        return "it looks like an instruction; settle it in the review first"
    if node.deleted_at is not None:
        return "it is forgotten"
    return "it no longer holds" if node.valid_until is not None else None


def _tell_order(version: SharedVersion) -> tuple[int, int]:
    """Return what is highest of the last word on a memory: what is shared anew keeps the time at which it was said."""
    return version.told_at, version.at


def check_folder(root: Path) -> tuple[int, list[FolderProblem]]:
    """Return how many memories a shared folder has, and what is wrong with them. It needs no database.

    One in several versions counts once, one that was withdrawn not at all.
    Wrong is what a reader would leave out or flag: lines that are no memories, conflicts that Git left, secrets and
    private parts, hidden characters, and texts that read like instructions.
    """
    latest: dict[str, SharedVersion] = {}
    problems: list[FolderProblem] = []
    for item in read_folder(root):
        if isinstance(item, FolderProblem):
            problems.append(item)
            continue
        latest[item.memory.id] = max(latest.get(item.memory.id, item.memory), item.memory, key=_tell_order)
        prepared = sanitize(item.memory.text)
        if prepared.flags:
            told = f"reads like an instruction ({', '.join(prepared.flags)})"
            problems.append(FolderProblem(item.file, item.line, told))
        if prepared.redactions or prepared.private_blocks:
            problems.append(FolderProblem(item.file, item.line, "holds a secret or a private part"))
        elif prepared.text != item.memory.text:
            problems.append(FolderProblem(item.file, item.line, "holds hidden characters"))
    return sum(not one.withdrawn for one in latest.values()), problems
