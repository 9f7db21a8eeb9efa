"""Runs one use of the store again and again, with another of its system calls failing each time; see test_io_errors.

python -m tests.store.database.faulty_run FOLDER USE ERROR once|always
"""

from __future__ import annotations

import ctypes
import errno
import gc
import re
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.embedder.process.embedding_queue import drain_queue
from hyperloci.errors import HyperlociError
from hyperloci.maintenance.backups import ensure_backup
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeId
from hyperloci.store import Store, integrity
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.store.export import export_memory
from hyperloci.store.restore import restore_backup
from hyperloci_hooks.spool import drain_spool, save_record
from tests.support import FakeEncoder

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

MOST = 400
"""Calls that one use may make; it ends at the first number that no call of it reaches."""

STORAGE = (HyperlociError, OSError)
"""What a use may raise: an error of ours, or the system's own where no database is concerned (the spool's file)."""

Use = Callable[[int], Any]


class Uses:
    """What is tried, each on a memory of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(
            database=folder / "memory.db",
            state_dir=folder / "state",
            runtime_dir=folder / "run",
            embedder=False,
            watch=False,
            upkeep=False,
        )
        (folder / "project").mkdir()
        self.memory = Memory.open(self.settings, folder / "project")
        for number in range(5):
            self.memory.remember_fact(f"A fact from before, number {number}.")
        self.acknowledged: set[str] = {self.memory.remember_fact("The mirror is in Oslo.").id}
        self.restored: set[NodeId] | None = None

    def remember(self, number: int) -> None:
        self.acknowledged.add(self.memory.remember_fact(f"Fact {number} was stored.", entities=["Oslo"]).id)

    def checkpoint(self, number: int) -> None:
        self.remember(number)
        with translate_block_errors(self.settings.database):
            self.memory.store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def reopen(self, number: int) -> None:
        self.memory.close()
        self.memory = Memory.open(self.settings, self.folder / "project")
        self.remember(number)

    def create(self, number: int) -> None:
        with Store.open(self.folder / f"new-{number}.db") as store:
            assert integrity.count_violations(store) == {}

    def back_up(self, number: int) -> None:
        self.memory.store.back_up(self.folder / "copy.db")

    def schedule(self, number: int) -> None:
        ensure_backup(self.memory.store, self.settings, lambda: number * 10_000_000)

    def restore(self, number: int) -> None:
        source = self.folder / "source.db"
        if not source.exists():
            raise FileNotFoundError(source)
        with Store.open(source, read_only=True) as backup:
            self.restored = {node.id for node in backup.nodes.query_nodes(limit=1_000)}
        restore_backup(source, self.settings.database, clock=lambda: number)

    def export(self, number: int) -> None:
        export_memory(self.memory.store, self.folder / "export.jsonl")

    def take_in(self, number: int) -> None:
        self.memory.import_file(self.folder / "notes.md")
        self.memory.import_file(self.folder / "other.jsonl")

    def spool(self, number: int) -> None:
        record = RecordFactory(self.memory.project, "s", now=number).record_prompt(f"Prompt {number}?")
        assert record is not None
        save_record(self.settings, record)
        drain_spool(self.memory)

    def index(self, number: int) -> None:
        self.memory.index_path()

    def embed(self, number: int) -> None:
        drain_queue(self.settings.database, FakeEncoder(), lambda: False)

    def prepare(self, number: int) -> None:
        """Give a use something new to do; nothing fails here."""
        (self.folder / "project" / "a.md").write_text(f"# Guide {number}\n\n" + f"Words {number} of it. " * 30)
        (self.folder / "notes.md").write_text(f"- Use {number} tabs\n- Never push {number} times\n")
        exported = (self.folder / "export.jsonl").read_text()
        anew = _UUID.sub(lambda id: str(uuid.uuid5(uuid.UUID(id[0]), str(number))), exported)
        (self.folder / "other.jsonl").write_text(anew)
        self.remember(-number)

    def check(self) -> None:
        """Open the memory anew, without faults: all that was acknowledged is there, and all is whole."""
        self.memory.close()
        self.memory = Memory.open(self.settings, self.folder / "project")
        store = self.memory.store
        assert integrity.check_integrity(store) == []
        assert integrity.count_violations(store) == {}, integrity.count_violations(store)
        there = {node.id for node in store.nodes.query_nodes(limit=100_000)}
        if self.restored == there:
            # A restored backup is all there is: what came after it went with the database that was put aside.
            self.acknowledged = set(there)
        assert self.acknowledged <= there, self.acknowledged - there
        for name in ("copy.db", "export.jsonl"):
            self._whole(self.folder / name)
        for backup in self.settings.backup_dir.glob("*.db"):
            self._whole(backup)
        assert list(self.folder.rglob("*.partial*")) == []

    def _whole(self, path: Path) -> None:
        if not path.exists():
            return
        if path.suffix == ".db":
            with Store.open(path, read_only=True) as store:
                assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
                assert store.count_everything()["nodes"] >= 6
        else:
            assert path.read_text().endswith("}\n")


def numbers(
    use: Use, prepare: Use, arm: Callable[[int], None], struck: Callable[[], int], stride: int
) -> Iterator[tuple[int, str]]:
    """Run a use with its first call failing, then a later one, until it makes no more; yield what came of each."""
    for number in range(1, MOST, stride):
        prepare(number)
        arm(number)
        try:
            use(number)
            outcome = "done"
        except STORAGE as error:
            outcome = type(error).__name__
            assert str(error).strip()
        hit = struck()
        arm(0)
        if not hit:
            return
        yield number, outcome


def main() -> None:
    """Run one use through all its faults; print how many there were and what came of them."""
    folder, use, error, how = Path(sys.argv[1]), sys.argv[2], getattr(errno, sys.argv[3]), sys.argv[4] == "always"
    stride = int("".join(sys.argv[5:]) or 1)
    library = ctypes.CDLL(None)
    uses = Uses(folder)
    export_memory(uses.memory.store, folder / "export.jsonl")
    uses.memory.store.back_up(folder / "source.db")
    gc.collect()
    outcomes: dict[str, int] = {}
    count = 0

    def arm(number: int) -> None:
        library.faulty_arm(number, error, how)

    for _, outcome in numbers(getattr(uses, use), uses.prepare, arm, library.faulty_struck, stride):
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        count += 1
        uses.check()
    uses.check()
    print(count, outcomes)


if __name__ == "__main__":
    main()
