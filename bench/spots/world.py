"""One memory that holds every slice and real documents besides, filled as a user would fill it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench._shared import bench_settings
from bench.spots.material import README_PACKAGES, package_readme
from bench.spots.model import NOW_MS, NoteKind, SpotNote
from hyperloci.memory import Memory
from hyperloci.model.search import Hit
from hyperloci.model.turn import Speaker, Turn, TurnKind


class SpotMemory:
    """An open memory and which note each of its memories is.

    Attributes:
        memory: the open memory; its present is `model.NOW_MS`.
    """

    def __init__(self, memory: Memory, names: dict[str, str]) -> None:
        self.memory = memory
        self._names = names

    def note_ids(self, hit: Hit) -> Iterator[str]:
        """Yield the ids of what a hit is: of a file's memory, one for each of its lines."""
        if hit.source.path is not None and hit.source.line_start is not None and hit.id not in self._names:
            yield from (
                f"{hit.source.path}:{line}" for line in range(hit.source.line_start, (hit.source.line_end or 0) + 1)
            )
        else:
            yield self._names.get(hit.id, "")


@contextmanager
def open_spot_memory(notes: Iterable[SpotNote], folder: Path) -> Iterator[SpotMemory]:
    """Open the memory in `folder`, filled and embedded; what an earlier run left there is used again.

    Args:
        notes: the slices' notes.
        folder: where the database and the files lie. One made from other notes must be deleted first.
    """
    now = [NOW_MS]
    root = folder / "project"
    done = folder / "done"
    if not done.exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
    with Memory.open(bench_settings(folder, project="blind-spots"), root, clock=lambda: now[0]) as memory:
        if not done.exists():
            done.write_text(
                "\n".join(f"{id}\t{name}" for id, name in _fill_memory(memory, [*notes], root, now).items())
            )
        now[0] = NOW_MS
        rows = ((id, name) for id, _, name in (line.partition("\t") for line in done.read_text().splitlines()))
        memory.embed_pending()
        with memory.keep_embedder_running():
            yield SpotMemory(memory, dict(rows))


def _fill_memory(memory: Memory, notes: list[SpotNote], root: Path, now: list[int]) -> dict[str, str]:
    documents = [
        SpotNote(id=f"docs/{name}.md", kind=NoteKind.FILE, text=package_readme(name)) for name in README_PACKAGES
    ]
    for note in [*notes, *documents]:
        if note.kind is NoteKind.FILE:
            (root / note.id).parent.mkdir(parents=True, exist_ok=True)
            (root / note.id).write_text(note.text, encoding="utf-8")
    now[0] = documents[0].time
    memory.index_path()
    names = {}
    # As told: the oldest first.
    for note in sorted(notes, key=lambda note: (note.time, note.id)):
        if note.kind is NoteKind.FACT:
            now[0] = note.time
            names[memory.remember_fact(note.text).id] = note.id
    return names | _tell_notes(memory, [note for note in notes if note.kind is NoteKind.TURN])


def _tell_notes(memory: Memory, notes: list[SpotNote]) -> dict[str, str]:
    for session in dict.fromkeys(note.session for note in notes):
        turns = [
            Turn(uuid=note.id, role=Speaker.USER, text=note.text, timestamp_ms=note.time, kind=TurnKind.TEXT)
            for note in notes
            if note.session == session
        ]
        memory.add_turns(session, turns)
    found = memory.store.connection.execute("SELECT id, place FROM nodes WHERE subtype = 'episode'")
    return {row["id"]: row["place"].split(":", 1)[-1] for row in found}
