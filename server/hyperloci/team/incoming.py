"""Incoming: takes in what others told the team, in its order, as the words of teammates (`facts.sharing.reception`)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

from hyperloci.clock import Clock
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.facts.safe_arguments import safety_metadata
from hyperloci.facts.sharing.reception import (
    UNNAMED,
    find_rivals,
    forget_received,
    is_plain_name,
    make_received_memory,
)
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import SHARED_KINDS, TRUST, NodeId, Origin
from hyperloci.model.node import MAX_NAME_CHARS, NewNode, Node
from hyperloci.store import Store
from hyperloci.store.memories.decay import has_faded
from hyperloci.store.memories.evolution_log import EvolutionLog
from hyperloci.store.purge import erase_memory, sweep_keywords, was_purged
from hyperloci.store.team.shared_truth import SharedTruth
from hyperloci.store.team.shared_values import (
    IncomingRevision,
    MemberRole,
    SharedPayload,
    SharedState,
    TeamMemory,
)
from hyperloci.store.team.team_rows import TeamConflict, TeamProject, TeamRow
from hyperloci.system.values import dataclass
from hyperloci.team.payload import MAX_TITLE_CHARS, PayloadBuilder
from hyperloci.text.sanitize.sanitizer import SanitizedText, flag_orders, sanitize

PAGE_REVISIONS: Final = 200
"""Revisions in one transaction here: some 200 ms of the write lock, which a prompt's hook may wait for."""

_ALL: Final = 2**62

_FORGOTTEN: Final = "forgotten by "
_WITHDRAWN: Final = "no longer shared by "
"""Why something was forgotten here by another member's word; their name follows. It stands so in the log."""

_COPIES: Final = uuid.UUID("6b1c5f0e-6f0b-4a86-9c1e-2f6d8a1f7a55")
"""Names the memories that hold what a diverged revision said: the same on every machine."""


@dataclass(slots=True)
class IncomingChanges:
    """Takes changes of the shared truth into one store."""

    store: Store
    truth: SharedTruth
    clock: Clock
    yield_to_others: Callable[[], None]
    received: int = 0
    refused: list[str] = field(default_factory=list)

    def receive_all(self, project: TeamProject) -> bool:
        """Take in all that changed in a project; False if something changed here that is to be told now.

        Raises:
            TeamUnreachableError: what was taken in stays, the rest comes the next time.
        """
        cursor, is_heard = project.cursor, True
        while changes := self.truth.list_changes(project.project, cursor, PAGE_REVISIONS):
            self._erase_purged(changes)
            with self.store.transaction():
                changed = self._find_changed_here(changes)
                if changed and self.truth.identity.role is not MemberRole.READER:
                    return False
                last = self.store.team.find_last_entry()
                page = _IncomingPage(self, project, self.clock())
                # What a reader changed here nobody can be told: it stays as it is unless its author takes it back.
                page.take_in([one for one in changes if one.memory.id not in changed or _is_withdrawn(one)])
                # What the team has just told need not be compared with what the team knows.
                self.store.team.drop_entries(page.added, last)
                self.store.team.clear_outbox([change.memory.id for change in changes if _is_purged(change)], _ALL)
                self.store.team.tell_again(page.untold)
                is_heard = is_heard and not page.untold
                cursor = changes[-1].change
                self.store.team.set_cursor(project.project, cursor)
            self.yield_to_others()
        return is_heard or self.truth.identity.role is MemberRole.READER

    def _find_changed_here(self, changes: Sequence[IncomingRevision]) -> set[str]:
        """Return the memories of a page that have changed here since they were told, so that theirs replace none."""
        waiting = self.store.team.select_waiting(change.memory.id for change in changes if not _is_purged(change))
        rows, builder = self.store.team.get_rows(waiting), PayloadBuilder(self.store)
        payloads = {id: builder.build_payload(self.store.nodes.get_node(id), rows.get(id)) for id in waiting}
        return {
            id
            for id, payload in payloads.items()
            if payload is not None and (id not in rows or rows[id].digest != payload.digest)
        }

    def _erase_purged(self, changes: Sequence[IncomingRevision]) -> None:
        purged = [change.memory for change in changes if _is_purged(change)]
        rows = self.store.team.get_rows(memory.id for memory in purged)
        allowed = [memory for memory in purged if self.may_change(memory, rows.get(memory.id))]
        erased = [erase_memory(self.store, NodeId(memory.id), now=self.clock()) for memory in allowed]
        if any(erased):
            sweep_keywords(self.store)

    def may_change(self, memory: TeamMemory, row: TeamRow | None) -> bool:
        """Tell whether what the team says of a memory may touch the one that has its id here.

        Whoever learnt the id of a private memory could tell the team another of that id: one's own that was never
        exchanged is changed only by what one told oneself, on another machine or before a backup was put back.
        """
        node = self.store.nodes.get_node(memory.id)
        if node is None or row is not None or memory.author == self.truth.identity.member_name:
            return True
        return node.origin is Origin.TEAMMATE or node.visibility is Visibility.SHARED


def _is_purged(change: IncomingRevision) -> bool:
    return change.memory.payload.state is SharedState.PURGED


def _is_withdrawn(change: IncomingRevision) -> bool:
    return change.memory.payload.state is SharedState.WITHDRAWN


@dataclass(slots=True)
class _IncomingPage:
    """One page of changes, taken in inside one transaction.

    Attributes:
        run: whose page it is.
        project: of the team.
        now: the time.
        added: ids of memories that are new here.
        unheard: ids of memories that were forgotten or withdrawn here while nothing was exchanged of them; they stay
            so.
        untold: those of them that are one's own, so that the team is told.
    """

    run: IncomingChanges
    project: TeamProject
    now: int
    added: list[str] = field(default_factory=list)
    unheard: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    _writer: MemoryWriter = field(init=False)
    _sanitize: Callable[[str], SanitizedText] = field(init=False)

    def __post_init__(self) -> None:
        self._writer = MemoryWriter(self.run.store)
        # What is stored is sanitized already, and is compared with what would be told of it: each text once.
        self._sanitize = lru_cache(2 * PAGE_REVISIONS)(sanitize)

    def take_in(self, changes: Sequence[IncomingRevision]) -> None:
        rows = self.run.store.team.get_rows(change.memory.id for change in changes)
        taken = {}
        changes = [change for change in changes if self._is_theirs(change.memory, rows.get(change.memory.id))]
        foreign = {change.memory.id for change in changes if not change.is_mine}
        for change in changes:
            row, memory = rows.get(change.memory.id), change.memory
            if memory.id not in taken and (row is None or row.revision < memory.revision):
                if row is None and self._was_taken_back(memory):
                    self.unheard.append(memory.id)
                    if memory.author == self.run.truth.identity.member_name:
                        self.untold.append(memory.id)
                self._take_memory(memory, change.editor, is_foreign=memory.id in foreign)
                taken[memory.id] = memory
        for memory in taken.values():
            self._join_superseded(memory)
        for change in changes:
            if change.told is not None:
                self._keep_diverged(change, change.told)
        for memory in taken.values():
            self._note_exchange(memory, rows.get(memory.id))
        self.run.received += len(taken)

    # -- what holds --------------------------------------------------------------------------------------------------

    def _is_theirs(self, memory: TeamMemory, row: TeamRow | None) -> bool:
        if self.run.may_change(memory, row):
            return True
        self.run.refused.append(f"{memory.id}: a private memory of yours has this id; it stays as it is.")
        return False

    def _was_taken_back(self, memory: TeamMemory) -> bool:
        """Tell whether a person forgot here what holds there, or withdrew it; what faded or others took comes back."""
        node, log = self.run.store.nodes.get_node(memory.id), self.run.store.log
        if node is None or memory.payload.state is not SharedState.LIVE:
            return False
        if node.deleted_at is not None:
            return not (has_faded(log, node.id) or _was_forgotten_there(log, node.id))
        if node.visibility is not Visibility.PRIVATE:
            return False
        said = [entry.operation for entry in log.list_of_node(node.id) if entry.operation in ("share", "unshare")]
        return said[-1:] == ["unshare"]

    def _take_memory(self, memory: TeamMemory, editor: str, *, is_foreign: bool) -> None:
        """Make the memory here what it is there."""
        node = self.run.store.nodes.get_node(memory.id)
        if node is None:
            if memory.payload.state is SharedState.LIVE and not was_purged(self.run.store, memory.id):
                self._add_memory(memory)
        elif memory.payload.state is SharedState.WITHDRAWN:
            self._withdraw(node, memory)
        elif memory.payload.state is not SharedState.PURGED:
            self._change_memory(node, memory.payload, editor, is_foreign=is_foreign)

    def _add_memory(self, memory: TeamMemory) -> None:
        new = self._make_node(memory.id, memory.author, memory.payload)
        if new is None:
            self.run.refused.append(f"{memory.id}: nothing in it can be kept.")
            return
        node = self._writer.write_statement(
            new, self.project.scope_id, now=self.now, operation="receive", reason=f"shared by {memory.author}"
        )
        if memory.payload.valid_until is not None:
            self.run.store.nodes.update_node(node.id, now=self.now, valid_until=memory.payload.valid_until)
        else:
            # What others said may contradict what is held here; thousands may come at once, so it waits for upkeep.
            self.run.store.shared.queue_comparison(node.key)
        self.added.append(memory.id)

    def _make_node(
        self, id: str, author: str, payload: SharedPayload, visibility: Visibility = Visibility.SHARED
    ) -> NewNode | None:
        """Return a memory of a teammate's words as they may be stored; None if nothing in them may."""
        text, title = self._sanitize(payload.content), self._sanitize(payload.title)
        if payload.type != SHARED_KINDS.get(payload.subtype or "") or not text.text.strip():
            return None
        is_mine = author == self.run.truth.identity.member_name
        if not is_mine:
            text = flag_orders(text)
        shown = author if is_mine or is_plain_name(author) else UNNAMED
        agent = None if payload.agent is None or not is_plain_name(payload.agent) else payload.agent[:MAX_NAME_CHARS]
        return make_received_memory(
            id=id,
            kind=payload.subtype or "",
            parts=(text, title),
            title=title.text.strip()[:MAX_TITLE_CHARS],
            author=shown,
            agent=agent or None,
            provenance=f"shared by {shown}",
            scope=self.project.scope_id,
            event_time=min(payload.event_time, self.now),
            valid_from=payload.valid_from,
            confidence=payload.confidence,
            origin=Origin.TOOL if is_mine else Origin.TEAMMATE,
            visibility=visibility,
        )

    def _change_memory(self, node: Node, payload: SharedPayload, editor: str, *, is_foreign: bool) -> None:
        text = self._sanitize(payload.content)
        changes: dict[str, object] = {}
        if text.text.strip() and text.text.strip() != node.content:
            changes["content"] = text.text.strip()
            changes["metadata"] = {**node.metadata, **safety_metadata(flag_orders(text) if is_foreign else text)}
            if is_foreign:
                # One's own memory in a teammate's words is believed no further than a teammate's.
                changes["confidence"] = min(node.confidence, TRUST[Origin.TEAMMATE])
            self.run.store.log.add_entry("update", [node.id], now=self.now, reasoning=f"by {editor}")
            self.run.store.shared.queue_comparison(node.key)
        if payload.valid_until != node.valid_until:
            changes["valid_until"] = payload.valid_until
        if payload.subtype != node.subtype and payload.type == SHARED_KINDS.get(payload.subtype or ""):
            changes.update(type=payload.type, subtype=payload.subtype)
        if changes:
            self.run.store.nodes.update_node(node.id, now=self.now, reason=f"by {editor}", **changes)
            self._writer.renew_statement(node, self.project.scope_id, now=self.now)
        if changes.get("valid_until") is not None:
            self._writer.clear_traces(node)
        elif "valid_until" in changes:
            self.run.store.facets.reopen_disputes(node)
        if payload.state is SharedState.FORGOTTEN and node.deleted_at is None:
            forget_received(self.run.store, self._writer, node, reason=f"{_FORGOTTEN}{editor}", now=self.now)
        elif payload.state is SharedState.LIVE and node.deleted_at is not None and node.id not in self.unheard:
            self.run.store.nodes.restore_node(node.id, now=self.now, reason=f"restored by {editor}")
        if node.visibility is not Visibility.SHARED and node.id not in self.unheard:
            self.run.store.nodes.set_visibility(node.key, Visibility.SHARED, now=self.now)

    def _withdraw(self, node: Node, memory: TeamMemory) -> None:
        """Keep what its author no longer shares to the author alone."""
        if memory.author != self.run.truth.identity.member_name:
            reason = f"{_WITHDRAWN}{memory.author}"
            forget_received(self.run.store, self._writer, node, reason=reason, now=self.now)
        self.run.store.nodes.set_visibility(node.key, Visibility.PRIVATE, now=self.now)

    def _join_superseded(self, memory: TeamMemory) -> None:
        """Join a memory to what it replaced; what else replaced that and still holds contradicts it."""
        store = self.run.store
        node = store.nodes.get_node(memory.id)
        if node is None or not memory.payload.supersedes:
            return
        known = {step.target for step in store.traversal.find_steps([node.key], label="supersedes", direction="out")}
        for id in memory.payload.supersedes:
            old = store.nodes.get_node(id)
            if old is None or old.key == node.key:
                continue
            if old.visibility is not Visibility.SHARED and old.origin is not Origin.TEAMMATE:
                continue  # A private memory is replaced by nobody else's word.
            if old.key not in known:
                self._writer.carry_declared(old, node, now=self.now)
                store.edges.link_nodes("supersedes", node.key, [old.key], now=self.now, evidence="as the team has it")
            self._dispute_rivals(node, old)

    def _dispute_rivals(self, node: Node, old: Node) -> None:
        """Two members replaced one memory without having seen each other's: both hold until somebody settles it."""
        if node.valid_until is not None or node.deleted_at is not None:
            return
        reason = f"both replace {old.id}, by members who had not seen the other"
        for rival in find_rivals(self.run.store, old, node):
            self._writer.dispute(node, rival, reason, confidence=1.0, now=self.now)

    # -- what was told beside it -------------------------------------------------------------------------------------

    def _keep_diverged(self, change: IncomingRevision, told: SharedPayload) -> None:
        """Keep what a member told without having seen another's change, and say so."""
        holds, store = change.memory.payload, self.run.store
        copy_id = None
        if told.content and holds.content and told.content != holds.content:
            copy_id = str(uuid.uuid5(_COPIES, f"{change.memory.id} {change.revision}"))
        conflict = TeamConflict(
            node_id=change.memory.id,
            revision=change.revision,
            editor=change.editor,
            reason=_describe_divergence(change, told),
            copy_id=copy_id,
            noted_at=self.now,
        )
        if not store.team.add_conflict(conflict):
            return
        store.log.add_entry("diverge", [NodeId(change.memory.id)], now=self.now, reasoning=conflict.reason)
        if copy_id is not None:
            self._add_copy(copy_id, change, told)

    def _add_copy(self, id: str, change: IncomingRevision, told: SharedPayload) -> None:
        """Add a memory of what was told, and join it to what stands in its place."""
        store = self.run.store
        if store.nodes.get_node(id) is not None or was_purged(store, id):
            return
        new = self._make_node(id, change.editor, told, Visibility.PRIVATE)
        original = store.nodes.get_node(change.memory.id)
        if new is None or original is None:
            return
        copy = self._writer.write_statement(
            new,
            self.project.scope_id,
            now=self.now,
            operation="receive",
            reason=f"told by {change.editor} of {original.id}",
        )
        if original.holds:
            reason = f"{change.editor} changed {original.id} without having seen what it says now"
            self._writer.dispute(copy, original, reason, confidence=1.0, now=self.now)

    def _note_exchange(self, memory: TeamMemory, row: TeamRow | None) -> None:
        """Note what is here of a memory now, so that only another change of it is told."""
        is_mine = memory.author == self.run.truth.identity.member_name
        known = TeamRow(
            node_id=memory.id,
            project=self.project.project,
            revision=memory.revision,
            digest=b"",
            is_mine=is_mine,
            has_vector=not is_mine or (row is not None and row.has_vector),
        )
        node = self.run.store.nodes.get_node(memory.id)
        payload = PayloadBuilder(self.run.store, self._sanitize).build_payload(node, known)
        digest = b"" if payload is None else payload.digest
        self.run.store.team.put_row(
            TeamRow(
                node_id=known.node_id,
                project=known.project,
                revision=known.revision,
                digest=digest,
                is_mine=is_mine,
                has_vector=known.has_vector,
            )
        )


def _was_forgotten_there(log: EvolutionLog, id: NodeId) -> bool:
    """Tell of a forgotten memory whether others in the team forgot it or took it back, and nobody here."""
    ends = [entry.reasoning or "" for entry in log.list_of_node(id) if entry.operation == "forget"]
    return bool(ends) and ends[-1].startswith((_FORGOTTEN, _WITHDRAWN))


def _describe_divergence(change: IncomingRevision, told: SharedPayload) -> str:
    """Return in words what a member told, and what holds all the same."""
    holds = change.memory.payload
    if told.content and holds.content and told.content != holds.content:
        return f"{change.editor} told another text without having seen this one; both are kept"
    if told.state is not holds.state:
        return f"{change.editor} told it {told.state} without having seen that it is {holds.state}, which stands"
    return f"{change.editor} changed it without having seen the change before; both are kept"
