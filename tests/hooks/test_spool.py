"""The spool: what is left there is stored once, whatever happened in between."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.config import Settings
from hyperloci.conversations.capture.session_events import Capture
from hyperloci.errors import BadRequestError, StoreBusyError
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.store import Store
from hyperloci.system.process_lock import Election, lock_path
from hyperloci_hooks import spool
from hyperloci_hooks.outcome_statistics import HookStatistics
from hyperloci_hooks.spool import (
    BATCH_FILES,
    LOST_AFTER_MS,
    drain_spool,
    has_work,
    list_set_aside,
    list_waiting_files,
    save_record,
)
from tests.support import examples

NOW = 1_795_000_000_000


class CapturingSink:
    """What `Memory` is to the spool, over a real store; `fails` is raised once it comes to a record's text."""

    def __init__(self, store: Store, where: Settings) -> None:
        self.store = store
        self.settings = where
        self.fails: dict[str, BaseException] = {}
        self._capture = Capture(store, where, lambda: NOW)

    def keep(self, record: CaptureRecord) -> int:
        if record.text in self.fails:
            raise self.fails[record.text]
        return self._capture.store_record(record)

    def texts(self) -> list[str]:
        return [node.content for node in reversed(self.store.nodes.query_nodes("experience"))]


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[CapturingSink]:
    where = Settings(database=tmp_path / "m.db", state_dir=tmp_path / "state", runtime_dir=tmp_path / "run")
    with Store.open(where.database, clock=lambda: NOW) as store:
        yield CapturingSink(store, where)


def aside(keeper: CapturingSink) -> list[str]:
    """Return why files were put aside; nothing else may be left in the spool."""
    found = list_set_aside(keeper.settings.spool_dir)
    left = {path.suffix for path in keeper.settings.spool_dir.iterdir()} - {".bad", ".why", ".txt"}
    assert not left
    return [reason for _, reason in found]


def record(text: str, number: int = 1, kind: CaptureKind = CaptureKind.PROMPT) -> CaptureRecord:
    return CaptureRecord(
        id=f"r{number}",
        kind=kind,
        session_id="s1",
        project_id="project:0123456789abcdef",
        project_name="demo",
        project_root="/demo",
        at=NOW + number,
        text=text,
    )


@given(st.text(), st.sampled_from(list(CaptureKind)), st.none() | st.text(), st.lists(st.text()))
@settings(max_examples=examples(50))
def test_a_record_is_the_same_after_the_spool(text: str, kind: CaptureKind, path: str | None, flags: list[str]) -> None:
    kept = replace(record(text, kind=kind), path=path, flags=tuple(flags))
    assert CaptureRecord.from_dict(json.loads(json.dumps(kept.to_dict()))) == kept


@pytest.mark.parametrize("change", [{"version": 2}, {"version": None}, {"kind": "other"}, {"at": "noon"}, {"id": None}])
def test_a_record_of_another_shape_is_refused(change: dict[str, object]) -> None:
    values = record("x").to_dict() | change
    if change == {"id": None}:
        del values["id"]
    with pytest.raises(BadRequestError):
        CaptureRecord.from_dict(values)


def test_a_saved_record_is_a_private_file_with_nothing_unfinished_beside_it(tmp_path: Path) -> None:
    where = Settings(database=tmp_path / "m.db", state_dir=tmp_path / "state", runtime_dir=tmp_path / "run")
    path = save_record(where, record("keep me"))
    assert path.parent == where.spool_dir and os.listdir(where.spool_dir) == [path.name]
    assert json.loads(path.read_bytes())["database"] == os.path.realpath(where.database)
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_waiting_records_are_stored_in_their_order_and_the_spool_is_empty(keeper: CapturingSink) -> None:
    for number in (3, 1, 2):
        save_record(keeper.settings, record(f"text {number}", number))
    assert drain_spool(keeper) == 3
    assert keeper.texts() == ["text 1", "text 2", "text 3"]
    assert list_waiting_files(keeper.settings.spool_dir) == []
    assert drain_spool(keeper) == 0


@pytest.mark.req("B.01")
def test_an_answer_that_waited_stands_between_its_prompt_and_the_next_one(keeper: CapturingSink) -> None:
    said = ["Which port?", "Shall I use 8443?", "yes", "Done. Shall I delete staging?", "no, never"]
    for number, text in enumerate(said):
        kind = CaptureKind.TURNS if number % 2 else CaptureKind.PROMPT
        save_record(keeper.settings, record(text, number, kind))
    assert drain_spool(keeper) == len(said)
    turns = sorted(keeper.store.nodes.query_nodes("experience"), key=lambda node: node.seq or 0)
    assert [node.content for node in turns] == said


def test_a_spool_that_is_not_there_is_empty(keeper: CapturingSink) -> None:
    assert drain_spool(keeper) == 0


def test_a_file_that_was_stored_but_not_removed_does_no_harm(keeper: CapturingSink) -> None:
    path = save_record(keeper.settings, record("once"))
    data = path.read_bytes()
    drain_spool(keeper)
    path.write_bytes(data)
    drain_spool(keeper)
    assert keeper.texts() == ["once"]


def test_a_torn_last_line_is_left_out_and_the_lines_before_it_are_stored(keeper: CapturingSink) -> None:
    path = save_record(keeper.settings, record("whole"))
    path.write_bytes(path.read_bytes() + json.dumps(record("torn", 2).to_dict()).encode()[:-9])
    assert drain_spool(keeper) == 1
    assert keeper.texts() == ["whole"] and list_waiting_files(keeper.settings.spool_dir) == []


def test_what_a_dead_process_left_unfinished_is_used_after_a_minute(keeper: CapturingSink) -> None:
    path = save_record(keeper.settings, record("left behind"))
    unfinished = path.rename(path.with_suffix(".tmp"))
    written = unfinished.stat().st_mtime_ns // 1_000_000
    assert list_waiting_files(unfinished.parent, now=written) == []
    assert list_waiting_files(unfinished.parent, now=written + LOST_AFTER_MS + 1) == [unfinished]


def test_a_busy_database_leaves_everything_waiting(keeper: CapturingSink) -> None:
    for number in (1, 2):
        save_record(keeper.settings, record(f"text {number}", number))
    keeper.fails["text 2"] = StoreBusyError()
    with pytest.raises(StoreBusyError):
        drain_spool(keeper)
    assert len(list_waiting_files(keeper.settings.spool_dir)) == 2 and keeper.texts() == []
    keeper.fails.clear()
    assert drain_spool(keeper) == 2


@pytest.mark.parametrize("junk", [b"not json\n", b"[]\n", b'{"version": 99}\n'], ids=["text", "list", "newer"])
def test_a_line_that_is_no_record_is_put_aside_and_the_others_are_stored(keeper: CapturingSink, junk: bytes) -> None:
    path = save_record(keeper.settings, record("good"))
    path.write_bytes(junk + path.read_bytes())
    assert drain_spool(keeper) == 1
    assert keeper.texts() == ["good"]
    assert aside(keeper) == ["1 of its lines could not be stored: not a record"]
    assert drain_spool(keeper) == 0


@pytest.mark.parametrize("fault", [ValueError, TypeError, KeyError, RecursionError, MemoryError, AssertionError])
def test_a_record_that_can_never_be_stored_does_not_hold_the_others_up(
    keeper: CapturingSink, fault: type[Exception]
) -> None:
    for number in range(3):
        save_record(keeper.settings, record(f"text {number}", number))
    keeper.fails["text 1"] = fault("no")
    assert drain_spool(keeper) == 2
    assert keeper.texts() == ["text 0", "text 2"]
    [reason] = aside(keeper)
    assert reason.startswith("1 of its lines could not be stored: ") and "no" in reason


def test_draining_stops_between_batches_when_it_may_not_go_on(keeper: CapturingSink) -> None:
    for number in range(BATCH_FILES + 3):
        save_record(keeper.settings, record(f"text {number}", number))
    allowed = iter([True, False])
    assert drain_spool(keeper, may_go_on=lambda: next(allowed)) == BATCH_FILES
    assert drain_spool(keeper) == 3


def test_turns_are_stored_after_what_happened_before_them(keeper: CapturingSink) -> None:
    save_record(keeper.settings, record("All done.", 2, CaptureKind.TURNS))
    save_record(keeper.settings, record("Bash: make", 1, CaptureKind.ACTION))
    drain_spool(keeper)
    assert keeper.texts() == ["Bash: make", "All done."]


KILLED_BY_ONE = """
import os, sys
from pathlib import Path
from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci_hooks import spool
folder = Path(sys.argv[1])
settings = Settings(
    database=folder / "m.db", state_dir=folder / "state", runtime_dir=folder / "run", embedder=False, watch=False
)
real = Memory.keep
Memory.keep = lambda self, record: os._exit(9) if record.text == "poison" else real(self, record)
with Memory.open(settings, folder) as memory:
    spool.drain_spool(memory)
"""


@pytest.mark.req("SPEC-02.04")
def test_a_record_that_ends_whoever_stores_it_is_put_aside_and_the_others_are_stored(
    keeper: CapturingSink, tmp_path: Path
) -> None:
    for number in range(BATCH_FILES + 3):
        save_record(keeper.settings, record("poison" if number == 4 else f"text {number}", number))
    codes: list[int] = []
    while has_work(keeper.settings) and len(codes) < 10:
        done = subprocess.run([sys.executable, "-c", KILLED_BY_ONE, str(tmp_path)], check=False, timeout=100)
        codes.append(done.returncode)
    assert codes == [9, 9, 0]
    assert len(keeper.texts()) == BATCH_FILES + 2
    assert aside(keeper) == ["the process that stored it died 2 times"]
    assert HookStatistics.read_log(str(keeper.settings.spool_dir)).outcomes == {"aside": 1}


def test_what_another_version_put_aside_is_tried_again(keeper: CapturingSink, monkeypatch: pytest.MonkeyPatch) -> None:
    save_record(keeper.settings, record("hard to store"))
    keeper.fails["hard to store"] = ValueError("no")
    drain_spool(keeper)
    assert aside(keeper) and not has_work(keeper.settings)
    keeper.fails.clear()
    assert drain_spool(keeper) == 0
    monkeypatch.setattr(spool, "__version__", "99")
    assert has_work(keeper.settings)
    assert drain_spool(keeper) == 1
    assert keeper.texts() == ["hard to store"] and aside(keeper) == []


def test_a_try_that_the_database_refused_or_that_was_called_off_does_not_count(keeper: CapturingSink) -> None:
    path = save_record(keeper.settings, record("later"))
    keeper.fails["later"] = StoreBusyError()
    for _ in range(5):
        with pytest.raises(StoreBusyError):
            drain_spool(keeper)
        assert list_waiting_files(keeper.settings.spool_dir) == [path]
    keeper.fails["later"] = KeyboardInterrupt()
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            drain_spool(keeper)
    keeper.fails.clear()
    assert drain_spool(keeper) == 1


def test_a_spool_that_another_process_drains_is_left_to_it(keeper: CapturingSink) -> None:
    save_record(keeper.settings, record("theirs"))
    where = keeper.settings
    election = Election(lock_path(where.lock_dir, "spool", where.installation_paths.database))
    assert election.try_to_win()
    assert drain_spool(keeper) == 0 and len(list_waiting_files(where.spool_dir)) == 1
    election.resign()
    assert drain_spool(keeper) == 1


@pytest.mark.req("W6")
def test_a_record_of_another_database_goes_home(keeper: CapturingSink, tmp_path: Path) -> None:
    other = replace(keeper.settings, database=tmp_path / "other.db")
    path = save_record(other, record("of the other"))
    keeper.settings.spool_dir.mkdir(parents=True)
    path.rename(keeper.settings.spool_dir / path.name)
    assert drain_spool(keeper) == 0
    assert keeper.texts() == [] and list_waiting_files(other.spool_dir) == [path]


@pytest.mark.parametrize("default", [True, False])
def test_a_record_of_an_earlier_version_that_names_no_database_belongs_to_the_default_one(
    tmp_path: Path, default: bool
) -> None:
    database = tmp_path / ("rlm-memory.db" if default else "client-b.db")
    where = Settings(database=database, state_dir=tmp_path / "state", runtime_dir=tmp_path / "run")
    old = tmp_path / "state" / "spool" / "1.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text(json.dumps(record("from before").to_dict()) + "\n")
    with Store.open(where.database, clock=lambda: NOW) as store:
        keeper = CapturingSink(store, where)
        assert drain_spool(keeper) == default
        assert keeper.texts() == (["from before"] if default else [])
    assert old.exists() is not default


@pytest.mark.req("W6")
def test_databases_have_spools_and_sockets_of_their_own_and_links_lead_to_the_same(tmp_path: Path) -> None:
    def where(name: str) -> Settings:
        return Settings(database=tmp_path / name, state_dir=tmp_path / "state", runtime_dir=tmp_path / "run")

    (tmp_path / "a.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "a.db")
    a, b, link = (where(name).installation_paths for name in ("a.db", "b.db", "link.db"))
    assert a.spool != b.spool and a.sockets != b.sockets
    assert (a.spool, a.sockets, a.database) == (link.spool, link.sockets, link.database)
