"""Link queue: finds the relations of queued snippets, holding the write lock for short times (D.03)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from typing import Final

from hyperloci.clock import Clock
from hyperloci.indexing.write_throttle import WriteThrottle
from hyperloci.knowledge.relations.linker import LABELS, RelationLinker
from hyperloci.model.chunk import TextChunk
from hyperloci.model.edge import WantedRelation
from hyperloci.model.kinds import NodeKey
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.project.git import never_cancelled
from hyperloci.store import Store
from hyperloci.store.projects.set_aside import is_fault_of_content
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.code import module_name
from hyperloci.text.chunking.programming_languages import is_test_path

AT_ONCE: Final = 64
"""Snippets whose edges are replaced in one turn: about 3 ms, a third of it for the transaction itself."""

MANY_FILES: Final = 50
"""Files with new symbols above which all code is looked at again rather than searched for those names."""


@dataclass(slots=True)
class RewrittenChunks:
    """What writing a known file did to its snippets: those whose text, place or name is another, and how."""

    keys: list[NodeKey] = field(default_factory=list)
    renamed: list[NodeKey] = field(default_factory=list)
    names_changed: bool = False

    def add_chunk(self, key: NodeKey, chunk: TextChunk, *, is_renamed: bool = False) -> None:
        """Note one snippet."""
        self.keys.append(key)
        if is_renamed:
            self.renamed.append(key)
        # A short head stands at the top of the first definition's snippet.
        if chunk.code is not None and (chunk.position.char_start == 0 or chunk.code.imports):
            self.names_changed = True


def keep_relations(store: Store, scope_key: int, path: str, rewritten: RewrittenChunks, *, now: int) -> None:
    """Replace the edges of a known file's rewritten snippets, in the transaction that ends the file.

    What they name in files that are written later, and what others make of their new names, is found at the end of the
    run: all of them wait in the queue.
    """
    if not rewritten.keys:
        return
    store.relation_queue.queue_snippets(rewritten.keys)
    if rewritten.renamed:
        store.relation_queue.queue_sources_of(rewritten.renamed, LABELS)
    if rewritten.names_changed:
        store.relation_queue.queue_snippets(row.key for row in store.relation_queue.list_snippets(scope_key, path))
    if len(rewritten.keys) <= AT_ONCE:
        make_linker(store, scope_key).replace_edges(path, rewritten.keys, now=now)


def queue_readers(store: Store, scope_key: int, paths: Collection[str], clock: Clock) -> None:
    """Have the relations found anew of what may name symbols that appeared in files: importers now, documents later.

    Finding the documents that name a new symbol means reading all of them: a maintenance job does that.
    """
    stems = {module_name(path).rpartition(".")[2] for path in paths}
    with store.transaction():
        store.meta.set(due_counter_name(scope_key), str(clock()))
        if len(stems) > MANY_FILES:
            store.relation_queue.queue_kind(scope_key, "code")
        else:
            store.relation_queue.queue_snippets(store.relation_queue.find_importers(scope_key, stems))


def due_counter_name(scope_key: int) -> str:
    """Return the name under which it is noted that a project's documents are to be looked at again."""
    return f"relations.due.{scope_key}"


def make_linker(store: Store, scope_key: int) -> RelationLinker:
    """Return a new linker with the set of files that are tests."""
    return RelationLinker(store, scope_key, is_test_path)


def link_queued(
    store: Store,
    scope_key: int,
    clock: Clock,
    *,
    cancelled: Callable[[], bool] = never_cancelled,
    turns: WriteThrottle | None = None,
) -> int:
    """Find the relations of every snippet that waits for it; return how many edges came or went.

    What is found is worked out before the write lock is taken. Cut off anywhere, the rest waits for the next time. A
    snippet with a relation that can't be found is set aside, with what else was found of it: it does not wait again.
    """
    _queue_outdated_snippets(store, scope_key)
    waiting = store.relation_queue.list_waiting(scope_key)
    if not waiting:
        return 0
    finder = make_linker(store, scope_key)
    turns = turns or WriteThrottle(store)
    changed = 0
    batch: dict[NodeKey, list[WantedRelation]] = {}
    for path, keys in waiting.items():
        if cancelled():
            break
        batch.update((key, list(links)) for key, links in finder.find_relations(path, keys).items())
        if len(batch) >= AT_ONCE:
            changed += _write_links(store, turns, scope_key, batch, clock)
            batch = {}
        _record_failures(store, scope_key, keys, finder.failed, now=clock())
    if batch:
        changed += _write_links(store, turns, scope_key, batch, clock)
    return changed


def _queue_outdated_snippets(store: Store, scope_key: int) -> None:
    """Have those looked at again that an earlier version of the program failed on."""
    if outdated := store.set_aside.list_outdated_nodes(scope_key, SetAsideKind.RELATIONS):
        with store.transaction():
            store.relation_queue.queue_snippets(outdated)


def _record_failures(
    store: Store, scope_key: int, keys: Collection[NodeKey], failed: dict[NodeKey, str], *, now: int
) -> None:
    """Set aside what failed, and take back what works again."""
    before = store.set_aside.get_subjects_of_nodes(scope_key, SetAsideKind.RELATIONS, keys)
    if not failed and not before:
        return
    with store.transaction():
        store.set_aside.clear_subjects(
            scope_key, SetAsideKind.RELATIONS, [before[key] for key in before if key not in failed]
        )
        for key, reason in failed.items():
            store.set_aside.add_failure(
                scope_key, SetAsideKind.RELATIONS, _subject_of(store, key), reason, now=now, node=key
            )
    failed.clear()


def _subject_of(store: Store, key: NodeKey) -> str:
    """Return how a person finds a snippet: its path and symbol, and the key that no other has."""
    position = store.positions.get_positions([key]).get(key)
    return f"{position.path if position else ''}#{(position.symbol if position else None) or ''} {key}"


def _write_links(
    store: Store, turns: WriteThrottle, scope_key: int, batch: dict[NodeKey, list[WantedRelation]], clock: Clock
) -> int:
    changed = 0
    keys = list(batch)
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        try:
            with turns.take_turn():
                came, went = store.relation_queue.replace_relations_of_all(
                    {key: batch[key] for key in some}, LABELS, now=clock()
                )
                store.relation_queue.unqueue_snippets(some)
            changed += came + went
        except Exception as error:
            if not is_fault_of_content(error):
                raise
            changed += sum(_write_links_of(store, turns, scope_key, key, batch[key], clock) for key in some)
    return changed


def _write_links_of(
    store: Store, turns: WriteThrottle, scope_key: int, key: NodeKey, links: Sequence[WantedRelation], clock: Clock
) -> int:
    came = went = 0
    with turns.take_turn():
        subject = _subject_of(store, key)
        with store.set_aside.attempt_piece(scope_key, SetAsideKind.RELATIONS, subject, now=clock(), node=key):
            came, went = store.relation_queue.replace_relations_of_all({key: links}, LABELS, now=clock())
        store.relation_queue.unqueue_snippets([key])
    return came + went
