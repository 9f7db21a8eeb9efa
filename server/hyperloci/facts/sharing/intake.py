"""Intake: what others share through Git becomes memories (`reception`), revisions, contradictions and tombstones.

One's own words end on one's own word: what another author says replaces them is shown as a contradiction. Authors are
as claimed, so whatever a file ends or forgets can be restored, and the log says who claimed it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.facts.sharing.comparison import compare_shared
from hyperloci.facts.sharing.intake_report import IntakeReport
from hyperloci.facts.sharing.publication import Publication
from hyperloci.facts.sharing.reception import (
    UNNAMED,
    find_rivals,
    forget_received,
    is_plain_name,
    make_received_memory,
)
from hyperloci.facts.sharing.shared_folder import (
    NAME_HASH_CHARS,
    WITHDRAWN,
    FileEntry,
    FolderProblem,
    FoundMemory,
    read_folder,
    read_stamp,
)
from hyperloci.facts.sharing.shared_version import SharedVersion
from hyperloci.model.author import Visibility, is_same_author, make_author, parse_author
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.memories.shared import ENDED, ExchangeState, SharedRecord
from hyperloci.store.purge import was_purged
from hyperloci.text.sanitize.sanitizer import SanitizedText, flag_orders, sanitize

BATCH: Final = 100
"""Memories taken in a transaction: nobody waits for the write lock for longer than some tenths of a second."""

MAX_CHECKED: Final = 500
"""New memories of one reading that are compared with all others at once; the rest waits for maintenance."""

MAX_NAME: Final = 60
"""Of a claimed name that are shown; what is longer is no name."""

SETTLED_MS: Final = 2_000
"""A file changed so shortly before the last reading may have been changed after it: clocks of files are coarse."""

_EXCHANGED: Final = (ExchangeState.SENT, ExchangeState.RECEIVED)


class SharedIntake:
    """Takes in what is shared in one working tree of a project."""

    def __init__(self, store: Store, project: str, root: Path, clock: Clock) -> None:
        self._store = store
        self._project = project
        self._root = root
        self._clock = clock
        self._report = IntakeReport()
        self._checked = 0

    def read(self, *, thorough: bool = False, seconds: float | None = None) -> IntakeReport:
        """Take in what is new in the folder; next to nothing is done where it looks as it did.

        Args:
            thorough: read every file, also those whose name is known: somebody may have edited one in its place.
            seconds: how long it may take; None is as long as it takes.
        """
        self._report, self._checked = IntakeReport(), 0
        stamp = read_stamp(self._root)
        scope_key = self._store.scopes.find_key(self._project)
        if stamp is None or scope_key is None or self._store.read_only:
            return self._report
        place, now = str(self._root), self._clock()
        last = self._store.shared.get_stamp(scope_key, place)
        if not thorough and last is not None and last.stamp == stamp:
            return self._report
        self._report.published = Publication(self._store, self._project, self._root, self._clock).publish_changes()
        records = self._store.shared.list_records(scope_key)
        known = {(record.id, record.hash) for record in records}
        is_known = _make_filter(records, None if thorough or last is None else last.read_at)
        until = None if seconds is None else time.monotonic() + seconds
        found = self._collect(read_folder(self._root, is_known), known, until)
        if found is None:
            return self._report
        done = self._take_all(found, records, until)
        self._report.waiting = len(found) - done
        if not self._report.waiting:
            with self._store.transaction():
                # As it looked before it was read: what came meanwhile makes it look different.
                self._store.shared.set_stamp(scope_key, place, stamp, now=now)
        return self._report

    def _collect(
        self, items: Iterable[FoundMemory | FolderProblem], known: set[tuple[str, bytes]], until: float | None
    ) -> list[FoundMemory] | None:
        """Return what is new, withdrawals first, then in the order in which it was said.

        None where time is up before all was read: what replaces what is known only then.
        """
        new: dict[tuple[str, bytes], FoundMemory] = {}
        for item in items:
            if until is not None and time.monotonic() > until:
                self._report.waiting = len(new) + 1
                return None
            if isinstance(item, FolderProblem):
                self._report.refused.append(item)
            elif (version := (item.memory.id, item.memory.digest)) not in known:
                new.setdefault(version, item)
        return sorted(new.values(), key=lambda one: (not one.memory.withdrawn, one.is_edited, one.memory.at, one.file))

    def _take_all(self, found: Sequence[FoundMemory], records: Sequence[SharedRecord], until: float | None) -> int:
        gone = _find_withdrawals(records)
        done = 0
        while done < len(found) and (until is None or time.monotonic() < until):
            # In a hurry one at a time: a transaction that is begun is finished.
            batch = found[done : done + (BATCH if until is None else 1)]
            with self._store.transaction():
                scope_key = self._store.scopes.ensure_scope(self._project, now=self._clock())
                writer = MemoryWriter(self._store)
                for one in batch:
                    record = self._try_one(one, gone, writer, scope_key)
                    if record.state is ExchangeState.REFUSED:
                        writer = MemoryWriter(self._store)
                    elif record.state is ExchangeState.FORGOTTEN:
                        gone[record.id] = max(gone.get(record.id, 0), record.told_at)
                    self._store.shared.put_record(scope_key, record, now=self._clock())
            done += len(batch)
        return done

    def _try_one(self, one: FoundMemory, gone: Mapping[str, int], writer: MemoryWriter, scope_key: int) -> SharedRecord:
        """Work off one version; one that fails by itself is refused, and the rest goes on."""
        shared, place = one.memory, f"{one.file}:{one.line}"
        record = SharedRecord(id=shared.id, hash=shared.digest, state=ExchangeState.REFUSED, reason="it failed")
        with self._store.set_aside.attempt_piece(
            scope_key, SetAsideKind.SHARED_MEMORY, place, now=self._clock()
        ) as attempt:
            record = self._withdraw(shared) if shared.withdrawn else self._take(one, gone, writer)
        if attempt.failed:
            self._report.refused.append(FolderProblem(one.file, one.line, "it could not be stored"))
        return record

    # -- what is shared ------------------------------------------------------------------------------------------------

    def _take(self, one: FoundMemory, gone: Mapping[str, int], writer: MemoryWriter) -> SharedRecord:
        """Make a memory of a version; return what became of it."""
        shared, digest = one.memory, one.memory.digest
        if shared.told_at <= gone.get(shared.id, -1) or was_purged(self._store, shared.id):
            return SharedRecord(id=shared.id, hash=digest, state=ExchangeState.FORGOTTEN, told_at=shared.told_at)
        if shared.again is not None:
            self._revive(shared)
        prepared = flag_orders(sanitize(shared.text))
        if not prepared.text.strip():
            self._report.refused.append(FolderProblem(one.file, one.line, "nothing of its text may be stored"))
            return SharedRecord(id=shared.id, hash=digest, state=ExchangeState.REFUSED, reason="empty")
        known = self._store.nodes.get_node(shared.id)
        if known is not None and known.scope == self._project and known.content.strip() == prepared.text.strip():
            self._report.ended += self._end(known, shared, writer)
            return _note_received(shared, known)
        replaced, id = shared.supersedes, shared.id
        if known is not None or one.is_edited:
            # Other words under a known id: a revision, whose own id is the same for everybody.
            id = str(uuid.uuid5(uuid.UUID(shared.id), digest.hex()))
            replaced = (*replaced, shared.id)
        revision = self._store.nodes.get_node(id)
        if revision is None:
            revision = self._write(shared, id, prepared, writer)
            self._report.taken += 1
        self._end(revision, shared, writer)
        if revision.valid_until is None and not prepared.flags:
            self._replace(revision, replaced, writer)
            self._compare(revision, writer, set(replaced))
        return _note_received(shared, revision)

    def _write(self, shared: SharedVersion, id: str, prepared: SanitizedText, writer: MemoryWriter) -> Node:
        """Store a version as a memory of its own, with its author as claimed and no time later than now."""
        now = self._clock()
        at = min(max(shared.at, 0), now)
        author = clean_author(shared.author)
        received = make_received_memory(
            id=id,
            kind=shared.kind,
            parts=(prepared,),
            author=author,
            agent=shared.agent,
            provenance=f"shared by {parse_author(author).name}, as claimed",
            scope=self._project,
            event_time=at,
            valid_from=at,
        )
        return writer.write_statement(
            received, self._project, now=now, operation="share", reason=f"shared by {author}, as claimed"
        )

    def _revive(self, shared: SharedVersion) -> None:
        """Bring back what a withdrawal made forget and is shared anew; what was forgotten by one's own word stays."""
        known, now = self._store.nodes.get_node(shared.id), self._clock()
        if known is None or known.deleted_at is None or known.scope != self._project:
            return
        records = self._store.shared.list_records(self._store.scopes.ensure_scope(self._project, now=now), id=shared.id)
        if any(one.state is ExchangeState.FORGOTTEN and one.node_key == known.key for one in records):
            reason = f"shared anew by {clean_author(shared.author)}, as claimed"
            if self._store.nodes.restore_node(known.id, now=now, reason=reason):
                self._report.taken += 1

    def _end(self, node: Node, shared: SharedVersion, writer: MemoryWriter) -> bool:
        """Note that a teammate's memory no longer holds; return whether it did until now."""
        if shared.until is not None and node.valid_until is None and node.origin is Origin.TEAMMATE:
            self._store.nodes.update_node(node.id, now=self._clock(), valid_until=min(shared.until, self._clock()))
            writer.clear_traces(node)
            return True
        return False

    def _replace(self, new: Node, ids: Iterable[str], writer: MemoryWriter) -> None:
        """Let a revision replace what it says it replaces, as far as its author may."""
        now = self._clock()
        for id in ids:
            old = self._store.nodes.get_node(id)
            if old is None or old.key == new.key or old.scope != self._project or old.deleted_at is not None:
                continue
            if old.visibility is not Visibility.SHARED:
                continue
            reason = f"revised by {new.author}, as claimed"
            if self._is_linked(new, old):
                continue
            rivals = find_rivals(self._store, old, new)
            for rival in rivals:
                told = f"{rival.author or 'somebody'} and {new.author} replaced id {old.id} differently"
                writer.dispute(new, rival, told, confidence=1.0, now=now)
                self._report.disputes += 1
            may_end = old.origin is Origin.TEAMMATE or is_same_author(old.author, new.author)
            if may_end or old.valid_until is not None:
                # Its author may have told before that it ended, and what with only now.
                if may_end or rivals:
                    # Rules join the two here, but on the word of a person who corrected the one by the other.
                    writer.carry_declared(old, new, now=now)
                    writer.supersede(old, new, reason, now=now, until=old.valid_until or now, automatic=True)
            else:
                # One's own words end on one's own word.
                writer.dispute(new, old, reason, confidence=1.0, now=now)
                self._report.disputes += 1

    def _is_linked(self, new: Node, old: Node) -> bool:
        steps = self._store.traversal.find_steps([new.key], label="supersedes", direction="out")
        return any(step.target == old.key for step in steps)

    def _compare(self, new: Node, writer: MemoryWriter, replaced: set[str]) -> None:
        """Compare a new memory with what is held; of a large reading most wait for maintenance."""
        if self._checked >= MAX_CHECKED:
            self._store.shared.queue_comparison(new.key)
            self._report.uncompared += 1
            return
        self._checked += 1
        self._report.disputes += compare_shared(self._store, new, writer, self._clock, replaced=replaced)

    # -- what is withdrawn ---------------------------------------------------------------------------------------------

    def _withdraw(self, shared: SharedVersion) -> SharedRecord:
        """Forget what was withdrawn; what is one's own becomes private, unless one withdrew it oneself, elsewhere."""
        now = self._clock()
        gone = SharedRecord(id=shared.id, hash=shared.digest, state=ExchangeState.FORGOTTEN, told_at=shared.told_at)
        scope_key = self._store.scopes.ensure_scope(self._project, now=now)
        records = self._store.shared.list_records(scope_key, id=shared.id)
        if any(one.told_at > shared.told_at for one in records if one.state in _EXCHANGED):
            return gone  # It was shared anew since.
        versions = {record.node_key for record in records if record.node_key is not None}
        for node in self._store.nodes.get_by_keys(versions).values():
            if node.scope != self._project or node.deleted_at is not None or node.visibility is not Visibility.SHARED:
                continue
            if node.origin is Origin.TEAMMATE or is_same_author(node.author, shared.author):
                reason = f"withdrawn by {clean_author(shared.author)}, as claimed"
                forget_received(self._store, MemoryWriter(self._store), node, reason=reason, now=now)
                self._report.withdrawn += 1
                if node.id == shared.id:
                    gone = replace(gone, node_key=node.key)
            else:
                self._store.nodes.set_visibility(node.key, Visibility.PRIVATE, now=now)
                self._store.log.add_entry(
                    "unshare", [node.id], now=now, reasoning=f"withdrawn by {clean_author(shared.author)}, as claimed"
                )
        return gone


def clean_author(claimed: str) -> str:
    """Return a claimed author as one may be shown: a name that is a sentence to an assistant is none."""
    author = parse_author(claimed)
    if not is_plain_name(f"{author.name} {author.id}"):
        return UNNAMED
    return str(make_author(author.name[:MAX_NAME], author.id[:MAX_NAME]))


def _find_withdrawals(records: Iterable[SharedRecord]) -> dict[str, int]:
    """Return when each memory that was withdrawn was so last, by id."""
    found: dict[str, int] = {}
    for record in records:
        if record.state is ExchangeState.FORGOTTEN:
            found[record.id] = max(found.get(record.id, 0), record.told_at)
    return found


def _note_received(shared: SharedVersion, node: Node) -> SharedRecord:
    return SharedRecord(
        id=shared.id,
        hash=shared.digest,
        state=ExchangeState.RECEIVED,
        node_key=node.key,
        reason=None if shared.until is None else ENDED,
        told_at=shared.told_at,
    )


def _make_filter(records: Iterable[SharedRecord], read_at: int | None) -> Callable[[FileEntry], bool]:
    """Return what tells of a file whether it was read: its version is known, and it is older than the last reading."""
    if read_at is None:
        return lambda entry: False
    names = {f"{record.id}.{record.hash.hex()[:NAME_HASH_CHARS]}.json" for record in records}
    names |= {
        f"{record.id}.{WITHDRAWN}.{record.hash.hex()[:NAME_HASH_CHARS]}.json"
        for record in records
        if record.state is ExchangeState.FORGOTTEN
    }
    return lambda entry: entry.name in names and entry.changed_at < read_at - SETTLED_MS
