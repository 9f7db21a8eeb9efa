"""File writer: stores a file's chunks: unchanged ones stay, changed ones keep their node, new ones get one.

A chunk that the database refuses is set aside, and the file's others are stored: the file is written once more, chunk
by chunk.

Each file is written in short transactions, so that other writers wait a few milliseconds at most. Until the last one
the file's row has a marker instead of the content's hash: so an interrupted run, or another process that wrote the same
file in between, is noticed, and the file is matched again with what is stored.
"""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hyperloci.clock import Clock
from hyperloci.indexing.chunk_matching import match_file
from hyperloci.indexing.containment import rebuild_contains
from hyperloci.indexing.file_reader import UNSETTLED, FileOnDisk, FreshChunk, FreshFile, settled_mtime
from hyperloci.indexing.file_work import ChunkChange, ChunkTally, FileWork, WriteStep, WrittenFile
from hyperloci.indexing.forgotten_chunks import FILE_CHANGED, FILE_DELETED, find_returning
from hyperloci.indexing.link_queue import keep_relations
from hyperloci.indexing.write_throttle import WriteThrottle
from hyperloci.knowledge.entities.registry import EntityLinker
from hyperloci.knowledge.graph.anchors import keep_anchors
from hyperloci.model.chunk import ChunkKind
from hyperloci.model.kinds import NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.projects.files import IndexedFile, StoredChunk
from hyperloci.store.projects.set_aside import is_fault_of_content

_CHUNK: Final = SetAsideKind.CHUNK

FILE_BACK: Final = "file is back"

FORGET_BATCH: Final = 16
"""Snippets forgotten in one turn: about 2 ms."""


class FileWriter:
    """Writes files of one project."""

    def __init__(self, store: Store, scope_id: str, scope_key: int, clock: Clock) -> None:
        self._store = store
        self._scope_id = scope_id
        self._scope_key = scope_key
        self._clock = clock
        self._turns = WriteThrottle(store)
        self._linker = EntityLinker(store, sparing=True)
        self._with_chunks_aside = {path_of(subject) for subject in store.set_aside.list_subjects(scope_key, _CHUNK)}
        self.tally = ChunkTally()
        self.appeared: defaultdict[str, dict[str, str | None]] = defaultdict(dict)
        """The symbols that files have now and had not, by path, with the path that each had if it came from another."""

    def write(
        self,
        file: FreshFile,
        *,
        arrivals: Mapping[int, StoredChunk] | None = None,
        renamed_from: IndexedFile | None = None,
    ) -> WrittenFile | None:
        """Store a file's chunks; None if the database has this very content already.

        Args:
            file: the file as it is.
            arrivals: snippets of other files that moved here, by the index of the chunk that they are now.
            renamed_from: the file that this one was before it was renamed.
        """
        work: FileWork | None = None
        run: Callable[[WriteStep], None] = _run_step
        while True:
            tally = replace(self.tally)
            try:
                with self._turns.take_turn() as turn:
                    row = self._find_file_row(file, renamed_from)
                    if work is None or row is None or row.content_hash != work.marker:
                        if row is not None and row.content_hash == file.content_hash and row.path == file.path:
                            return None
                        work = self._begin_file(file, row, arrivals or {})
                    done = work.run_steps(turn, run)
                    if done and not work.gone:
                        self._end_file(file, work)
            except Exception as error:
                if run is not _run_step or not is_fault_of_content(error):
                    raise
                self._subtract_undone(tally)
                work, done, run = None, False, functools.partial(self._run_step_alone, file)
                continue
            if done:
                return WrittenFile(
                    file=file,
                    file_key=work.file_key,
                    marker=work.marker,
                    gone=work.gone,
                    arrived=frozenset(work.arrived),
                    rewritten=work.rewritten,
                )

    def write_new(self, files: Sequence[FreshFile]) -> int:
        """Store files that the database does not have, many in a transaction; return how many of the first it took.

        It ends before a file that the database has by now, or of which it refuses a chunk: that one is for `write`.
        """
        stored = 0
        work: FileWork | None = None
        while stored < len(files):
            taken, tally = stored, replace(self.tally)
            try:
                with self._turns.take_turn() as turn, self._store.keywords.add_together():
                    while stored < len(files) and not turn.is_over():
                        file = files[stored]
                        row = self._find_file_row(file, None)
                        if (row and row.content_hash) != (work and work.marker):
                            return stored
                        work = work or self._begin_file(file, None, {})
                        if work.run_steps(turn, _run_step):
                            self._end_file(file, work)
                            stored, work = stored + 1, None
            except Exception as error:
                if not is_fault_of_content(error):
                    raise
                self._subtract_undone(tally)
                return taken
        return stored

    def update_stamp(self, row: IndexedFile, raw: FileOnDisk) -> None:
        """Remember the new time of a file whose content is the stored one."""
        mtime_ns = settled_mtime(raw.mtime_ns, self._clock)
        if (row.size, row.mtime_ns) != (raw.size, mtime_ns):
            with self._store.transaction():
                now = self._store.files.get_file(self._scope_key, row.path)
                if now is not None and (now.key, now.content_hash) == (row.key, row.content_hash):
                    self._store.files.update_stat(row.key, size=raw.size, mtime_ns=mtime_ns)

    def forget_gone(self, written: WrittenFile, gone: Sequence[StoredChunk]) -> None:
        """End a file whose vanished chunks have all been looked for elsewhere: forget those still here."""
        path, key = written.file.path, written.file_key
        for is_last in self._forget_chunks(path, key, written.marker, gone, FILE_CHANGED):
            if is_last:
                self._put_row(written.file)
                rebuild_contains(self._store, key, now=self._clock())
                keep_relations(self._store, self._scope_key, path, written.rewritten, now=self._clock())

    def remove(self, row: IndexedFile, reason: str = FILE_DELETED) -> None:
        """Forget a file that is gone, with those of its chunks that were not moved elsewhere."""
        gone = self._store.files.list_chunks([row.key]).get(row.key, ())
        for is_last in self._forget_chunks(row.path, row.key, row.content_hash, gone, reason):
            if is_last:
                self._store.files.remove_file(row.key)

    # -- a chunk that is refused -------------------------------------------------------------------------------------

    def _run_step_alone(self, file: FreshFile, step: WriteStep) -> None:
        """Store one chunk, or set it aside."""
        tally = replace(self.tally)
        subject, now = f"{file.path}#{step.place}", self._clock()
        content = file.content_hash.hex()
        with self._store.set_aside.attempt_piece(self._scope_key, _CHUNK, subject, now=now, content=content) as attempt:
            step.run()
        if attempt.failed:
            self._subtract_undone(tally)
            self._with_chunks_aside.add(file.path)

    def _subtract_undone(self, tally: ChunkTally) -> None:
        """Forget what was counted and made known in what was undone."""
        self.tally = tally
        self._linker = EntityLinker(self._store, sparing=True)

    # -- one file ----------------------------------------------------------------------------------------------------

    def _find_file_row(self, file: FreshFile, renamed_from: IndexedFile | None) -> IndexedFile | None:
        row = self._store.files.get_file(self._scope_key, file.path)
        if row is None and renamed_from is not None:
            former = self._store.files.get_file(self._scope_key, renamed_from.path)
            # Another process that found the old place written anew meanwhile has changed its row.
            if former == renamed_from:
                self._store.files.rename_file(renamed_from.key, file.path)
                return renamed_from
        return row

    def _put_row(self, file: FreshFile, marker: bytes | None = None) -> int:
        return self._store.files.put_file(
            self._scope_key,
            file.path,
            size=file.size,
            mtime_ns=file.mtime_ns if marker is None else UNSETTLED,
            content_hash=marker or file.content_hash,
            now=self._clock(),
        )

    def _begin_file(self, file: FreshFile, row: IndexedFile | None, arrivals: Mapping[int, StoredChunk]) -> FileWork:
        if file.path in self._with_chunks_aside:
            self._store.set_aside.clear_prefix(self._scope_key, _CHUNK, f"{file.path}#")
        marker = b"unfinished " + os.urandom(8)
        key = self._put_row(file, marker)
        old = self._store.files.list_chunks([key]).get(key, []) if row is not None else []
        if row is not None and row.is_cut_anew:
            keep_anchors(self._store, self._scope_key, file.path, [new.chunk for new in file.chunks])
        matching = match_file(old, file.chunks)
        gone = tuple(old[i] for i in matching.gone)
        work = FileWork(file_key=key, marker=marker, gone=gone, is_known=row is not None)
        work.restructured = bool(matching.gone or matching.fresh)
        self._plan_pairs(work, file, [(old[i], file.chunks[j]) for i, j in matching.pairs])
        fresh = dict.fromkeys(matching.fresh)
        for j in [j for j in fresh if j in arrivals]:
            if self._is_live(arrivals[j]):
                del fresh[j]
                work.arrived.add(arrivals[j].node_key)
                self._plan_pairs(work, file, [(arrivals[j], file.chunks[j])], arrived_at=j)
        self._plan_new_chunks(work, file, list(fresh))
        return work

    def _is_live(self, chunk: StoredChunk) -> bool:
        node = self._store.nodes.get_by_key(chunk.node_key)
        return node is not None and node.deleted_at is None

    def _end_file(self, file: FreshFile, work: FileWork) -> None:
        self._put_row(file)
        if work.restructured:
            rebuild_contains(self._store, work.file_key, now=self._clock(), is_new=not work.is_known)
        keep_relations(self._store, self._scope_key, file.path, work.rewritten, now=self._clock())

    # -- chunks that were there --------------------------------------------------------------------------------------

    def _plan_pairs(
        self,
        work: FileWork,
        file: FreshFile,
        pairs: Sequence[tuple[StoredChunk, FreshChunk]],
        arrived_at: int | None = None,
    ) -> None:
        keys = [old.node_key for old, _ in pairs]
        places = self._store.positions.get_positions(keys)
        facts = self._store.positions.get_code_facts(keys)
        for old, new in pairs:
            change = ChunkChange(old=old, new=new, position=places.get(old.node_key), facts=facts.get(old.node_key))
            if arrived_at is not None or change.changes_anything:
                work.restructured |= old.symbol != new.symbol or old.title != new.title
                step = functools.partial(self._update_chunk, work, file, change, arrived_at)
                work.steps.append(WriteStep(_address_of_chunk(change.new), step))

    def _update_chunk(self, work: FileWork, file: FreshFile, change: ChunkChange, arrived_at: int | None) -> None:
        old, new, now = change.old, change.new, self._clock()
        self._store.positions.put_position(old.node_key, new.chunk.position, work.file_key)
        if arrived_at is not None or (change.position is not None and change.position.path != file.path):
            self._store.files.put_place(old.node_key, _place_of_chunk(file.path, new, arrived_at))
        if new.chunk.code is not None and change.changes_facts:
            self._store.positions.put_code_facts(old.node_key, new.chunk.code)
            self._store.nodes.queue_for_fingerprint([old.node_key], now=now)
        if change.changes_text:
            self.tally.changed += 1
            self._store.entities.drop_summaries_from(old.node_key)  # Of those that it mentioned: before it is relinked.
            self._linker.relink_mentions(old.node_key, self._scope_id, new.names, now=now)
            self._store.facets.put_facets(old.node_key, new.facets)
        else:
            self.tally.moved += 1
        if change.changes_text or change.changes_title:
            self._store.nodes.update_node(old.node_id, now=now, **self._describe_change(change, file))
        if change.changes_text or change.changes_facts or old.symbol != new.symbol or arrived_at is not None:
            work.rewritten.add_chunk(old.node_key, new.chunk, is_renamed=old.symbol != new.symbol)
            if old.symbol != new.symbol or arrived_at is not None:
                self.appeared[file.path][new.symbol or ""] = change.position.path if change.position else None

    def _describe_change(self, change: ChunkChange, file: FreshFile) -> dict[str, Any]:
        node = self._store.nodes.get_by_key(change.old.node_key)
        known = dict(node.metadata) if node else {}
        others = {name: value for name, value in known.items() if name not in _METADATA}
        metadata = others | _metadata_of_chunk(change.new)
        values = {"title": change.new.title, "subtype": str(change.new.chunk.kind), "metadata": metadata}
        text = {"content": change.new.chunk.text, "extra_terms": change.new.hints, "event_time": file.changed_ms}
        return values | text if change.changes_text else values

    # -- chunks that were not ----------------------------------------------------------------------------------------

    def _plan_new_chunks(self, work: FileWork, file: FreshFile, indexes: Sequence[int]) -> None:
        if not indexes:
            return
        back = find_returning(self._store, self._scope_key, file, indexes, is_new=not work.is_known, now=self._clock())
        for j in indexes:
            if j in back.refused:
                continue
            if (former := back.changed.get(j)) is not None:
                step = functools.partial(self._take_back, work, file, former, j)
            else:
                step = functools.partial(self._add_chunk, work, file, j, back.same.get(j))
            work.steps.append(WriteStep(_address_of_chunk(file.chunks[j]), step))

    def _take_back(self, work: FileWork, file: FreshFile, former: StoredChunk, index: int) -> None:
        """Restore a chunk of a file that was deleted, as it is now that the file is back."""
        if not self._store.nodes.restore_node(former.node_id, now=self._clock(), reason=FILE_BACK):
            self._add_chunk(work, file, index, None)
            return
        new, facts = file.chunks[index], self._store.positions.get_code_facts([former.node_key])
        change = ChunkChange(old=former, new=new, position=None, facts=facts.get(former.node_key))
        self._update_chunk(work, file, change, arrived_at=index)

    def _add_chunk(self, work: FileWork, file: FreshFile, index: int, back: str | None) -> None:
        new, now = file.chunks[index], self._clock()
        self.tally.added += 1
        if back is not None and self._store.nodes.restore_node(back, now=now, reason=FILE_BACK):
            key = self._restore_node(back, new, now)
        else:
            key = self._create_node(file, new, index, now)
        self._store.positions.put_position(key, new.chunk.position, work.file_key)
        if new.chunk.code is not None:
            self._store.positions.put_code_facts(key, new.chunk.code)
            self.appeared[file.path].setdefault(new.symbol or "")
        self._linker.link_mentions(key, self._scope_id, new.names, now=now)
        self._store.facets.add_facets(key, new.facets)
        if work.is_known:
            work.rewritten.add_chunk(key, new.chunk)

    def _restore_node(self, node_id: str, new: FreshChunk, now: int) -> NodeKey:
        node = self._store.nodes.get_node(node_id)
        assert node is not None
        if node.title != new.title:
            self._store.nodes.update_node(node_id, now=now, title=new.title)
        return node.key

    def _create_node(self, file: FreshFile, new: FreshChunk, index: int, now: int) -> NodeKey:
        return self._store.nodes.add_row(
            NewNode(
                type=NodeType.SNIPPET,
                subtype=str(new.chunk.kind),
                content=new.chunk.text,
                tier=Tier.LONGTERM,
                confidence=1.0,
                decay_rate=0.0,
                origin=Origin.CODE if new.chunk.kind is ChunkKind.CODE else Origin.MARKDOWN,
                scope=self._scope_id,
                event_time=file.changed_ms,
                title=new.title,
                extra_terms=new.hints,
                metadata=_metadata_of_chunk(new),
            ),
            now=now,
            place=_place_of_chunk(file.path, new, index),
        )

    # -- chunks that are no more -------------------------------------------------------------------------------------

    def _forget_chunks(
        self, path: str, file_key: int, content_hash: bytes, gone: Sequence[StoredChunk], reason: str
    ) -> Iterator[bool]:
        """Forget those of `gone` that still belong to the file, in turns; yield in each whether it is the last.

        Ends early when another process took the file over.
        """
        for start in range(0, max(1, len(gone)), FORGET_BATCH):
            with self._turns.take_turn():
                row = self._store.files.get_file(self._scope_key, path)
                if row is None or (row.key, row.content_hash) != (file_key, content_hash):
                    return
                some = gone[start : start + FORGET_BATCH]
                places = self._store.positions.get_positions(chunk.node_key for chunk in some)
                for chunk in some:
                    place = places.get(chunk.node_key)
                    if (
                        place is not None
                        and place.path == path
                        and self._store.nodes.delete_node(chunk.node_id, now=self._clock(), reason=reason)
                    ):
                        self._store.entities.drop_summaries_from(chunk.node_key)
                        self.tally.removed += 1
                yield start + FORGET_BATCH >= len(gone)


_METADATA: Final = frozenset({"section_type", "links", "flags"})
"""What indexing writes into a snippet's metadata; the rest belongs to others."""


def _metadata_of_chunk(new: FreshChunk) -> dict[str, Any]:
    values = {"section_type": new.chunk.section_type, "links": list(new.chunk.links), "flags": list(new.flags)}
    return {name: value for name, value in values.items() if value}


def _run_step(step: WriteStep) -> None:
    step.run()


def path_of(subject: str) -> str:
    """Return the file of a chunk that is set aside."""
    return subject.rpartition("#")[0]


def _address_of_chunk(new: FreshChunk) -> str:
    """Return where a chunk stands in its file, for a person and unlike all others."""
    position = new.chunk.position
    return f"{new.symbol or 'line'}:{position.line_start}:{position.char_start}"


def _place_of_chunk(path: str, new: FreshChunk, ordinal: int | None) -> str:
    return f"{path}#{new.symbol or ordinal or 0}"
