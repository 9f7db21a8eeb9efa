"""A purged memory is nowhere: every byte of the database, its log, its backups and the spool is looked at."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError, StoreBusyError
from hyperloci.maintenance.backups import ensure_backup
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeId, NodeKey, NodeType
from hyperloci.model.node import NewNode
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store import Store
from hyperloci.store.database.connection import BUSY_TIMEOUT_MS
from hyperloci.store.export import export_memory
from hyperloci.store.integrity import check_integrity, count_violations
from hyperloci.store.purge import PURGE_OPERATION, ErasedMemory, delete_expired, erase_memory
from hyperloci.store.vectors import float16
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from hyperloci.store.vectors.stored_vectors import make_code
from hyperloci.system.data_paths import name_copies
from tests.support import NOW, FakeClock, vector_of

UNIQUE = "zqxunmistakable"
"""Neither cleaning, stemming nor splitting changes it."""

TEXT = f"The {UNIQUE} cluster in Ostrava runs on borrowed hardware."


@pytest.fixture
def memory(memory: Memory) -> Memory:
    for number in range(40):
        memory.remember_fact(f"An ordinary fact, number {number}, about something else.")
    return memory


def places_with(folder: Path, text: str) -> list[str]:
    """Return the files below a folder that hold a text in any case, as it is, in parts of a page or as UTF-16."""
    needles = (text.lower().encode(), text.encode("utf-16-le"))
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes().lower() for needle in needles)
    )


def embed(store: Store, key: NodeKey, text: str) -> bytes:
    vector = vector_of(text)
    with store.transaction():
        model = store.vectors.use_model("fake", len(vector), now=1)
        store.vectors.put_fingerprint(key, model, {"e1": float16.pack_half(vector)}, now=1)
    return float16.pack_half(vector)


def key_of(memory: Memory, id: str) -> NodeKey:
    node = memory.store.nodes.get_node(id)
    assert node is not None
    return node.key


def test_no_byte_of_a_purged_memory_is_left(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT, entities=[f"{UNIQUE} cluster"]).id
    memory.store.back_up(memory.settings.backup_dir / "memory-v1-1.db")
    assert places_with(tmp_path, UNIQUE)
    purged = memory.purge([id])
    memory.close()
    assert purged.ids == (id,)
    assert f"{UNIQUE} cluster" in purged.entities
    assert purged.backups_rewritten == (str(memory.settings.backup_dir / "memory-v1-1.db"),)
    assert places_with(tmp_path, UNIQUE) == []


def test_no_byte_is_left_while_the_database_is_still_open(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    memory.purge([id])
    wal = Path(f"{memory.settings.database}-wal")
    assert not wal.exists() or wal.stat().st_size == 0
    # A copy, so that the open connection's locks on the file stay.
    copied = tmp_path / "copy.db"
    memory.store.back_up(copied)
    assert UNIQUE.encode() not in copied.read_bytes()


def test_what_its_log_said_in_words_is_gone_and_what_happened_stays(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact("The cluster runs on borrowed hardware.").id
    memory.forget(id, reason=f"because of {UNIQUE}")
    memory.restore(id, reason=f"or not because of {UNIQUE}")
    new = memory.correct_fact(id, "The cluster runs on our own hardware.", reason=f"{UNIQUE} said so").id
    memory.relate("depends_on", [{"id": id}, {"id": new}], evidence=f"{UNIQUE} wrote it")
    purged = memory.purge([id, new])
    operations = [entry.operation for entry in memory.store.log.list_of_node(NodeId(id))]
    memory.close()
    assert set(purged.ids) == {id, new}
    assert {"create", "forget", "restore", "supersede", PURGE_OPERATION} <= set(operations)
    assert places_with(tmp_path, UNIQUE) == []


def test_its_vector_and_its_code_are_gone_and_its_neighbours_are_not(memory: Memory, settings: Settings) -> None:
    id = memory.remember_fact(TEXT).id
    other = memory.remember_fact("Another fact about another cluster.").id
    store = memory.store
    key, other_key = key_of(memory, id), key_of(memory, other)
    vector = embed(store, key, TEXT)
    other_vector = embed(store, other_key, "other")
    code, other_code = (make_code("e1", one) for one in (vector, other_vector))
    memory.purge([id])
    blob = store.connection.execute("SELECT codes FROM code_blocks WHERE block = 0").fetchone()[0]
    width = len(blob) // BLOCK_ROWS
    assert blob[key * width : (key + 1) * width] == bytes(width)
    assert blob[other_key * width : (other_key + 1) * width] == other_code
    found, _ = store.vectors.find_nearest(vector_of("other"), np.ones(200, np.bool_), 1, 5)
    assert found.tolist() == [other_key]
    memory.close()
    held = settings.database.read_bytes()
    assert vector not in held and code not in held
    assert other_vector in held


def test_the_rest_of_the_database_is_whole(memory: Memory) -> None:
    id = memory.remember_fact(TEXT, entities=["Ostrava"]).id
    kept = memory.remember_fact("Ostrava has two data centres.", entities=["Ostrava"]).id
    embed(memory.store, key_of(memory, kept), "kept")
    before = memory.stats()
    memory.purge([id])
    after = memory.stats()
    assert check_integrity(memory.store) == []
    assert count_violations(memory.store) == {}
    assert after["nodes"] == before["nodes"] - 1
    [entity] = memory.store.entities.find_by_name("Ostrava")
    assert entity.mention_count == 1
    assert [hit.id for hit in memory.search("two data centres in Ostrava", limit=1).results] == [kept]
    assert memory.search(UNIQUE).results == ()


@pytest.mark.req("W17")
def test_a_name_that_is_related_to_something_else_outlives_the_only_memory_that_mentions_it(memory: Memory) -> None:
    id = memory.remember_fact(TEXT, entities=["Ostrava"]).id
    other = memory.remember_fact("The lease ends in March.").id
    [entity] = memory.store.entities.find_by_name("Ostrava")
    node = memory.store.nodes.get_by_key(entity.node_key)
    assert node is not None
    edge = memory.relate("relates_to", [{"id": node.id}, {"id": other}])
    assert memory.purge([id]).entities == ()
    assert memory.store.nodes.get_by_key(entity.node_key) is not None
    assert memory.store.edges.get_edge(edge) is not None


@pytest.mark.req("E.16", "W17")
def test_what_was_not_forgotten_never_expires_and_what_is_unknown_is_not_erased(memory: Memory) -> None:
    store, id = memory.store, NodeId(memory.remember_fact(TEXT).id)
    with store.transaction():
        assert delete_expired(store, id, now=NOW) is False
        assert delete_expired(store, NodeId("0" * 36), now=NOW) is False
    assert memory.get(id).content == TEXT
    assert erase_memory(store, NodeId("0" * 36), now=NOW) is None


def test_a_relation_of_three_loses_one_member_and_its_evidence(memory: Memory) -> None:
    one, two, three = (memory.remember_fact(f"Part {n} of it.").id for n in ("one", "two", "three"))
    pair = memory.relate("depends_on", [{"id": one}, {"id": two}])
    edge = memory.relate("relates_to", [{"id": id} for id in (one, two, three)], evidence=TEXT)
    memory.purge([one])
    left = memory.store.edges.get_edge(edge)
    assert left is not None
    assert (len(left.members), left.evidence) == (2, None)
    assert memory.store.edges.get_edge(pair) is None


def test_a_relation_of_many_costs_each_that_expires_no_more_than_one_of_few(memory: Memory) -> None:
    store = memory.store
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    def expire_one_of(number: int) -> int:
        nonlocal steps
        with store.transaction():
            kinds = [NewNode(type=NodeType.SNIPPET, content=f"piece {i} of {number}") for i in range(number)]
            first, *others = [store.nodes.create_node(new, now=NOW) for new in kinds]
            store.edges.link_nodes("modifies", first.key, [other.key for other in others], now=NOW)
            store.nodes.delete_node(others[0].id, now=NOW)
        steps = 0
        store.connection.set_progress_handler(count, 10)
        try:
            with store.transaction():
                assert delete_expired(store, others[0].id, now=NOW)
        finally:
            store.connection.set_progress_handler(None, 0)
        (edge,) = store.edges.list_of_node(first.key)
        assert len(edge.members) == number - 1
        return steps

    expire_one_of(3)
    assert expire_one_of(1_000) < 2 * expire_one_of(10)


def test_a_turn_goes_from_what_helped_to_find_the_turns_after_it(memory: Memory, tmp_path: Path) -> None:
    said = [TEXT, "What would our own hardware cost?", "About forty thousand."]
    memory.add_turns(
        "s1",
        [
            Turn(uuid=f"u{n}", role=Speaker.USER, text=text, kind=TurnKind.TEXT, timestamp_ms=n, path=None)
            for n, text in enumerate(said)
        ],
    )
    [hit] = [hit for hit in memory.search(UNIQUE, limit=5).results if hit.content == TEXT]
    memory.purge([hit.id])
    assert memory.search("forty thousand", limit=1).results[0].content == said[2]
    extras = memory.store.connection.execute(
        "SELECT extra FROM keywords k JOIN nodes n ON n.key = k.node_key WHERE extra <> '' AND n.subtype = 'episode'"
    ).fetchall()
    assert len(extras) == 1, "the third turn keeps the second one's words"
    assert count_violations(memory.store) == {}
    memory.close()
    assert places_with(tmp_path, UNIQUE) == []


def test_a_fact_goes_from_what_helped_to_find_the_fact_told_after_it(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    after = memory.remember_fact("Its lease ends in May.").id
    assert [hit.id for hit in memory.search(UNIQUE, limit=5).results] == [id, after]

    memory.purge([id])

    assert memory.search(UNIQUE, limit=5).results == ()
    memory.close()
    assert places_with(tmp_path, UNIQUE) == []


def test_copies_and_what_was_made_from_it_are_named_and_can_go_too(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    copy = memory.remember_fact(f"Heard twice: {TEXT}").id
    made = memory.remember_fact("We need a budget for hardware.").id
    memory.relate("derived_from", [{"id": made, "role": "subject"}, {"id": id, "role": "object"}])
    purged = memory.purge([id])
    assert set(purged.alike) == {copy, made}
    assert memory.purge([copy]).alike == ()
    memory.close()
    assert places_with(tmp_path, UNIQUE) == []


def test_a_forgotten_memory_can_be_purged_and_an_unknown_one_not(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    memory.forget(id)
    with pytest.raises(NotFoundError, match="nope"):
        memory.purge([id, "nope"])
    assert memory.get(id).content == TEXT, "nothing was purged"
    memory.purge([id[:13]])
    with pytest.raises(NotFoundError):
        memory.get(id)
    memory.close()
    assert places_with(tmp_path, UNIQUE) == []


def test_a_purge_can_be_repeated(memory: Memory) -> None:
    id = memory.remember_fact(TEXT).id
    memory.purge([id])
    memory.store.back_up(memory.settings.backup_dir / "later.db")
    again = memory.purge([id])
    assert again.ids == (id,)
    assert again.backups_rewritten == ()


def test_what_an_older_export_brought_back_is_shown_and_purged_again(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    export_memory(memory.store, tmp_path / "older.jsonl")
    memory.purge([id])
    memory.import_file(tmp_path / "older.jsonl")
    assert [hit.id for hit in memory.get_many([id])] == [id]
    assert memory.purge([id]).ids == (id,)
    memory.close()
    (tmp_path / "older.jsonl").unlink()
    assert places_with(tmp_path, UNIQUE) == []


def test_a_session_that_reads_holds_up_the_sweep_and_the_error_says_so(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    reader = sqlite3.connect(memory.settings.database, isolation_level=None)
    try:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM nodes").fetchone()[0]
        memory.store.connection.execute("PRAGMA busy_timeout = 100")
        with pytest.raises(StoreBusyError, match="purge the same id again"):
            memory.purge([id])
    finally:
        reader.close()
        memory.store.connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    with pytest.raises(NotFoundError):
        memory.get(id)
    memory.purge([id])
    memory.close()
    assert places_with(tmp_path, UNIQUE) == []


def test_the_purge_that_was_held_up_is_finished_by_the_beginning_of_the_id_too(
    memory: Memory, settings: Settings, tmp_path: Path
) -> None:
    id, other = memory.remember_fact(TEXT).id, memory.remember_fact("Lamps burn in the north.").id
    memory.store.back_up(settings.backup_dir / "mine.db")
    memory.store.connection.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(memory.store.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM nodes").fetchone()
        with pytest.raises(StoreBusyError, match=f"same id again. To finish it: hyperloci purge {id}$"):
            memory.purge([id[:8]])
    assert memory.get_many([id[:8], other]) == (memory.get(other),)
    done = memory.purge([id[:8]])
    assert (done.ids, len(done.backups_rewritten)) == ((id,), 1)
    assert places_with(tmp_path, UNIQUE) == []


def test_a_few_characters_never_name_a_memory_that_is_gone_already(memory: Memory, settings: Settings) -> None:
    id = memory.remember_fact(TEXT).id
    memory.store.back_up(settings.backup_dir / "mine.db")
    memory.forget(id)
    with memory.store.transaction():
        assert delete_expired(memory.store, NodeId(id), now=NOW)
    with pytest.raises(NotFoundError):
        memory.purge([id[:7]])
    assert len(memory.purge([id[:8]]).backups_rewritten) == 1


def test_a_memory_that_another_session_erases_meanwhile_is_taken_from_the_backups_too(
    memory: Memory, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = memory.remember_fact(TEXT).id
    memory.store.back_up(settings.backup_dir / "mine.db")

    def erase_second(store: Store, node_id: NodeId, *, now: int) -> ErasedMemory | None:
        erase_memory(store, node_id, now=now)
        return erase_memory(store, node_id, now=now)

    monkeypatch.setattr("hyperloci.facts.purge.erase_memory", erase_second)
    purged = memory.purge([id])
    assert (purged.ids, len(purged.backups_rewritten)) == ((id,), 1)


def test_a_beginning_of_several_purged_ids_names_them(memory: Memory) -> None:
    ids = ["abcdefgh1", "abcdefgh2"]
    with memory.store.transaction():
        memory.store.log.add_entry(PURGE_OPERATION, [NodeId(id) for id in ids], now=NOW)
    with pytest.raises(BadRequestError, match="abcdefgh1, abcdefgh2"):
        memory.purge(["abcdefgh"])


def test_backups_without_the_memory_are_left_as_they_are(memory: Memory, settings: Settings) -> None:
    before = settings.backup_dir / "memory-v1-1.db"
    memory.store.back_up(before)
    data = before.read_bytes()
    memory.purge([memory.remember_fact(TEXT).id])
    assert before.read_bytes() == data


def test_a_scheduled_backup_and_one_that_nobody_finished_keep_no_byte_of_it(
    memory: Memory, settings: Settings, clock: FakeClock
) -> None:
    fact = memory.remember_fact(f"The {UNIQUE} runs at night.").id
    made = ensure_backup(memory.store, settings, clock)
    assert made is not None
    torn = [
        settings.backup_dir / "memory-auto-7.db.partial",
        settings.database.with_name("memory-before-restore-7.db.partial-journal"),
    ]
    for path in torn:
        path.write_bytes(made.path.read_bytes())
    purged = memory.purge([fact])
    assert purged.backups_rewritten == (str(made.path),)
    assert UNIQUE.encode() not in made.path.read_bytes()
    assert not any(path.exists() for path in torn)


def test_a_rewritten_backup_is_a_whole_database(memory: Memory, settings: Settings) -> None:
    id = memory.remember_fact(TEXT).id
    beside = settings.database.with_name("memory-before-restore-1.db")
    memory.store.back_up(beside)
    assert memory.purge([id]).backups_rewritten == (str(beside),)
    with Store.open(beside, read_only=True) as store:
        assert store.count_everything()["nodes"] == 40
        assert store.nodes.get_node(id) is None
    with Store.open(beside) as store:
        assert check_integrity(store) == []


def test_a_backup_of_an_older_schema_that_holds_it_is_deleted_and_named(
    memory: Memory, settings: Settings, tmp_path: Path
) -> None:
    id = memory.remember_fact(TEXT).id
    old = settings.backup_dir / "memory-v0-1.db"
    memory.store.back_up(old)
    connection = sqlite3.connect(old)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    assert memory.purge([id]).backups_deleted == (str(old),)
    assert not old.exists()
    memory.close()
    assert places_with(tmp_path, UNIQUE) == []


def test_a_backup_of_another_database_is_never_deleted(memory: Memory, settings: Settings, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    old = settings.backup_dir / f"{name_copies(str(tmp_path / 'another' / 'memory.db'))}-v0-1.db"
    own = settings.backup_dir / f"{name_copies(str(settings.database))}-v0-1.db"
    for path in (old, own):
        memory.store.back_up(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 0")
    purged = memory.purge([id])
    assert (purged.backups_deleted, purged.backups_unreadable) == ((str(own),), (str(old),))
    assert old.exists() and not own.exists()


def test_a_backup_that_can_not_be_read_is_named(memory: Memory, settings: Settings) -> None:
    settings.backup_dir.mkdir(parents=True, exist_ok=True)
    broken = settings.backup_dir / "memory-v1-9.db"
    broken.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    purged = memory.purge([memory.remember_fact(TEXT).id])
    assert purged.backups_unreadable == (str(broken),)
    assert broken.exists()


def test_waiting_records_that_hold_it_go_and_the_others_stay(memory: Memory, settings: Settings) -> None:
    folder = settings.spool_dir
    folder.mkdir(parents=True)
    ours, other = ({"version": 1, "text": text} for text in (TEXT, "Something else that was said at length."))
    lines = [json.dumps(record).encode() + b"\n" for record in (ours, other)]
    (folder / "1.jsonl").write_bytes(b"".join(lines))
    (folder / "2.bad").write_bytes(lines[0])
    (folder / "2.why").write_text(TEXT)
    (folder / "3.tmp").write_bytes(lines[0][: len(lines[0]) - 8])
    (folder / "4.jsonl").write_bytes(lines[1])
    purged = memory.purge([memory.remember_fact(TEXT).id])
    assert purged.records == 3
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert left == {"1.jsonl": lines[1], "4.jsonl": lines[1]}


def test_a_short_text_takes_no_record_that_only_contains_it(memory: Memory, settings: Settings) -> None:
    settings.spool_dir.mkdir(parents=True)
    line = json.dumps({"version": 1, "text": "Is it okay to deploy?"}).encode() + b"\n"
    (settings.spool_dir / "1.jsonl").write_bytes(line)
    assert memory.purge([memory.remember_fact("okay").id]).records == 0
    assert (settings.spool_dir / "1.jsonl").read_bytes() == line


def test_sessions_that_are_open_but_idle_do_not_hold_it_up_and_go_on(memory: Memory, tmp_path: Path) -> None:
    id = memory.remember_fact(TEXT).id
    with Memory.open(memory.settings, tmp_path / "project", clock=FakeClock()) as other:
        assert other.search(UNIQUE, limit=1).results[0].id == id
        memory.purge([id])
        assert other.search(UNIQUE).results == ()
        other.remember_fact("Written by the other session afterwards.")
        assert check_integrity(other.store) == []
    memory.close()
    assert places_with(tmp_path, UNIQUE) == []
