"""Fingerprints: written whole or not at all, found as by a full comparison, the queue of those that wait."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sqlite_vec
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyperloci.errors import StoreError
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity
from hyperloci.store.database import vector_extension
from hyperloci.store.vectors import fingerprints, float16, int8
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS, MAX_ATTEMPTS
from hyperloci.store.vectors.fingerprints import COLUMNS, Fingerprints
from hyperloci.store.vectors.scan_codes import Codes
from hyperloci.store.vectors.stored_vectors import unpack_vectors
from tests.support import NOW, add, examples, packing_error, random_rows, unit

Matrix = NDArray[np.float32]

HALF = 1e-4
"""What a cosine with a vector of halves may be off by (tests/store/vectors/test_half.py)."""


def make_nodes(store: Store, count: int) -> list[NodeKey]:
    """Make nodes quickly, without keywords."""
    before = int(store.connection.execute("SELECT coalesce(max(key), 0) FROM nodes").fetchone()[0])
    with store.transaction():
        store.connection.executemany(
            "INSERT INTO nodes(id, type, content, origin, scope_key, content_hash, event_time, created_at, updated_at,"
            " last_accessed, valid_from) VALUES (hex(randomblob(16)), 'fact', 'x', 'tool', 1, x'00', 1, 1, 1, 1, 1)",
            [()] * count,
        )
    return [NodeKey(key) for key in range(before + 1, before + count + 1)]


def stored(space: str, row: Matrix) -> bytes:
    """Return a vector as the column of a space holds it."""
    if space == "e1":
        return float16.pack_half(row)
    return np.packbits(row > 0, bitorder="little").tobytes() if space == "e9" else int8.pack_int8(row)


def put_all(store: Store, keys: Sequence[int], rows: Matrix, model: str = "m") -> int:
    return put_in(store, "e1", keys, rows, model)


def put_in(store: Store, space: str, keys: Sequence[int], rows: Matrix, model: str = "m") -> int:
    with store.transaction():
        key = store.vectors.use_model(model, rows.shape[1], now=NOW)
        for node, row in zip(keys, rows, strict=True):
            store.vectors.put_fingerprint(NodeKey(node), key, {space: stored(space, row)}, now=NOW)
    return key


def everyone(store: Store) -> NDArray[np.bool_]:
    return store.filters.select_allowed(SearchFilter())


def brute(rows: Matrix, keys: list[int], query: Matrix, k: int) -> tuple[list[int], Matrix]:
    cosines = rows @ query
    order = np.lexsort((np.array(keys), -cosines))[:k]
    return [keys[place] for place in order], cosines[order]


@pytest.fixture(scope="module")
def many() -> Iterator[SimpleNamespace]:
    """5,000 memories with random vectors: the hardest to tell apart."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        rows = random_rows(5_000)
        keys = make_nodes(store, 5_000)
        model = put_all(store, keys, rows)
        yield SimpleNamespace(store=store, rows=rows, keys=keys, model=model)


@pytest.mark.parametrize("k", [1, 10, 100])
def test_a_scan_of_5000_finds_what_a_full_comparison_finds(many: SimpleNamespace, k: int) -> None:
    queries = random_rows(50, seed=8)
    allowed = everyone(many.store)
    hit = 0
    for query in queries:
        found, cosines = many.store.vectors.find_nearest(query, allowed, many.model, k)
        expected, exact = brute(many.rows, many.keys, query, k)
        hit += len(set(found.tolist()) & set(expected))
        assert len(found) == k
        assert np.all(np.diff(cosines) <= 1e-6)
        assert np.allclose(cosines, [many.rows[key - 1] @ query for key in found], atol=HALF)
        assert k < 10 or cosines[0] == pytest.approx(exact[0], abs=HALF)
    assert hit / (k * len(queries)) >= (0.99 if k <= 10 else 0.94)


@pytest.mark.parametrize("share", [0.002, 0.2, 0.5, 0.95])
def test_only_what_is_allowed_is_found_and_all_of_the_best_of_it(many: SimpleNamespace, share: float) -> None:
    generator = np.random.default_rng(3)
    hit = total = 0
    for query in random_rows(30, seed=9):
        allowed = everyone(many.store) & (generator.random(5_001) < share)
        found, _ = many.store.vectors.find_nearest(query, allowed, many.model, 10)
        visible = [key for key in many.keys if allowed[key]]
        expected, _ = brute(many.rows[[key - 1 for key in visible]], visible, query, 10)
        assert all(allowed[found])
        hit += len(set(found.tolist()) & set(expected))
        total += len(expected)
    assert hit / total >= 0.985


def test_many_more_can_be_asked_for_than_are_usually_scored(many: SimpleNamespace) -> None:
    query = random_rows(1, seed=10)[0]
    found, _ = many.store.vectors.find_nearest(query, everyone(many.store), many.model, 4_000)
    expected, _ = brute(many.rows, many.keys, query, 4_000)
    assert len(found) == 4_000
    assert len(set(found.tolist()) & set(expected)) >= 0.85 * 4_000


def test_nobody_allowed_is_nobody_found(many: SimpleNamespace) -> None:
    query = many.rows[0]
    for allowed in (np.zeros(5_001, np.bool_), np.zeros(0, np.bool_)):
        found, cosines = many.store.vectors.find_nearest(query, allowed, many.model, 5)
        assert found.tolist() == cosines.tolist() == []


def test_a_bitmap_shorter_or_longer_than_the_codes_is_no_trouble(many: SimpleNamespace) -> None:
    query = many.rows[10]
    short = np.ones(2_000, np.bool_)
    long = np.ones(40_000, np.bool_)
    assert many.store.vectors.find_nearest(query, short, many.model, 1)[0].tolist() == [11]
    assert many.store.vectors.find_nearest(query, long, many.model, 1)[0].tolist() == [11]


def test_vectors_of_another_model_are_not_compared(many: SimpleNamespace) -> None:
    assert many.store.vectors.find_nearest(many.rows[0], everyone(many.store), many.model + 1, 5)[0].tolist() == []
    short = unit(many.rows[:1, :64])[0]
    assert many.store.vectors.find_nearest(short, everyone(many.store), many.model, 5)[0].tolist() == []


def test_equal_vectors_come_in_the_order_of_keys(store: Store) -> None:
    keys = make_nodes(store, 8)
    row = random_rows(1)
    model = put_all(store, keys[::-1], np.repeat(row, 8, axis=0))
    found, _ = store.vectors.find_nearest(row[0], everyone(store), model, 5)
    assert found.tolist() == keys[:5]


def test_equal_vectors_come_in_the_order_of_keys_after_a_scan_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    keys = make_nodes(store, 8)
    row = random_rows(1)
    model = put_all(store, keys[::-1], np.repeat(row, 8, axis=0))
    found, _ = store.vectors.find_nearest(row[0], everyone(store), model, 5)
    assert found.tolist() == keys[:5]


@pytest.mark.parametrize("dimensions", [1, 64, 65, 300, 312, 384, 1024])
@pytest.mark.parametrize("exact_below", [0, 10_000])
def test_vectors_of_any_length_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch, dimensions: int, exact_below: int
) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", exact_below)
    rows = random_rows(30, dimensions)
    rows = np.abs(rows) if dimensions == 1 else rows
    keys = make_nodes(store, 30)
    model = put_all(store, keys, rows)
    for key, row in zip(keys, rows, strict=True):
        found, cosines = store.vectors.find_nearest(row, everyone(store), model, 30)
        # A half keeps eleven bits: with few dimensions, their errors do not cancel.
        assert key in found and cosines[0] == pytest.approx(1.0, abs=2**-11)
        assert len(found) == 30


def test_a_block_is_loaded_again_when_another_connection_wrote(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    keys = make_nodes(store, 3)
    rows = random_rows(3)
    model = put_all(store, keys[:1], rows[:1])
    assert store.vectors.find_nearest(rows[1], everyone(store), model, 5)[0].tolist() == keys[:1]
    with Store.open(store.path) as other:
        put_all(other, keys[1:2], rows[1:2])
        assert other.vectors.find_nearest(rows[1], everyone(other), model, 1)[0].tolist() == [keys[1]]
        assert store.vectors.find_nearest(rows[1], everyone(store), model, 1)[0].tolist() == [keys[1]]
        put_all(store, keys[1:2], rows[2:])
        assert other.vectors.find_nearest(rows[2], everyone(other), model, 1)[0].tolist() == [keys[1]]


def test_codes_seen_inside_a_transaction_that_failed_are_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    # One is scored, so that a wrong code shows.
    monkeypatch.setattr(fingerprints, "FINE", 1)
    keys, rows = make_nodes(store, 2), random_rows(4)
    model = put_all(store, keys, rows[:2])
    with pytest.raises(ZeroDivisionError), store.transaction():
        put_all(store, keys[:1], rows[3:])
        assert store.vectors.find_nearest(rows[3], everyone(store), model, 1)[0].tolist() == keys[:1]
        raise ZeroDivisionError
    with Store.open(store.path) as other:
        put_all(other, keys[1:], rows[2:3])
    assert store.vectors.find_nearest(rows[2], everyone(store), model, 1)[0].tolist() == keys[1:]
    assert store.vectors.find_nearest(rows[0], everyone(store), model, 1)[0].tolist() == keys[:1]


def test_keys_in_several_blocks_are_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    with store.transaction():
        store.connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('nodes', ?)", (BLOCK_ROWS - 2,))
    first = [add(store, f"{number}").key for number in range(4)]
    assert first[0] < BLOCK_ROWS <= first[-1]
    rows = random_rows(4)
    model = put_all(store, first, rows)
    for key, row in zip(first, rows, strict=True):
        assert store.vectors.find_nearest(row, everyone(store), model, 1)[0].tolist() == [key]
    assert store.connection.execute("SELECT count(*) FROM code_blocks").fetchone()[0] == 2


@pytest.mark.req("D.13")
def test_when_the_model_changes_both_are_searched_until_all_is_done(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    keys = make_nodes(store, 6)
    old, new = random_rows(6, 384), random_rows(6, 128)
    first = put_all(store, keys, old, "old")
    second = put_all(store, keys[:2], new[:2], "new")
    assert set(store.vectors.list_pending(10)) == set(keys[2:])
    assert set(store.vectors.find_nearest(new[0], everyone(store), second, 9)[0].tolist()) == set(keys[:2])
    assert (
        store.vectors.count_fingerprints(),
        store.vectors.count_fingerprints(first),
        store.vectors.count_fingerprints(second),
    ) == (6, 4, 2)
    # Back to the old one: what it made before is found again, without being made again.
    put_all(store, keys[:1], old[:1], "old")
    assert set(store.vectors.find_nearest(old[3], everyone(store), first, 9)[0].tolist()) == {keys[0], *keys[2:]}
    assert store.vectors.find_model("old") == first and store.vectors.find_model("unknown") is None


@pytest.mark.req("E.01")
def test_a_fingerprint_comes_back_as_it_was_put_and_what_is_left_out_is_absent(store: Store) -> None:
    (key,) = make_nodes(store, 1)
    full = {column: bytes([number]) * (number * 4) for number, column in enumerate(COLUMNS, start=1)}
    with store.transaction():
        model = store.vectors.use_model("m", 2, now=NOW)
        store.vectors.put_fingerprint(key, model, full, now=NOW)
    assert store.vectors.get_rows([key, 99], COLUMNS) == {key: tuple(full.values())}
    with store.transaction():
        store.vectors.put_fingerprint(key, model, {"e9": b"bits"}, now=NOW)
    assert store.vectors.get_rows([key], ("e9", "e1")) == {key: (b"bits", None)}


@pytest.mark.req("E.01")
@pytest.mark.parametrize("when", ["code_blocks", "pending"])
def test_a_failure_in_the_middle_leaves_no_part_of_a_fingerprint(store: Store, when: str) -> None:
    keys = [add(store, f"{number}").key for number in range(2)]
    put_all(store, keys[:1], random_rows(1))
    event = "UPDATE" if when == "code_blocks" else "DELETE"
    store.connection.execute(
        f"CREATE TEMP TRIGGER fail BEFORE {event} ON main.{when} BEGIN SELECT RAISE(ABORT, 'injected'); END"
    )
    before = store.connection.execute("SELECT version, codes FROM code_blocks").fetchall()
    with pytest.raises(StoreError, match="injected"):
        put_all(store, keys[1:], random_rows(1, seed=9))
    store.connection.execute("DROP TRIGGER fail")
    assert store.vectors.get_rows(keys, ("e1",)).keys() == {keys[0]}
    assert store.connection.execute("SELECT version, codes FROM code_blocks").fetchall() == before
    assert store.vectors.list_pending(5) == keys[1:]
    assert integrity.count_violations(store) == {}


def test_names_that_are_no_spaces_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="unknown spaces"):
        store.vectors.get_rows([1], ("e1; DROP TABLE nodes",))
    with pytest.raises(ValueError, match="unknown spaces"):
        store.vectors.put_fingerprint(NodeKey(1), 1, {"e99": b""}, now=NOW)
    with pytest.raises(ValueError, match="unknown spaces"):
        store.vectors.find_nearest(random_rows(1)[0], np.ones(2, np.bool_), 1, 1, space="e1) --")


@pytest.mark.req("B.03")
def test_the_queue_gives_the_newest_first_and_what_failed_last(store: Store) -> None:
    nodes = [add(store, f"{number}") for number in range(4)]
    keys = [node.key for node in nodes]
    assert store.vectors.list_pending(9) == keys[::-1]
    with store.transaction():
        store.vectors.note_failures(keys[2:], "out of memory " * 99)
        store.nodes.delete_node(nodes[0].id, now=NOW)
    assert store.vectors.list_pending(9) == [keys[1], keys[3], keys[2]]
    assert store.vectors.list_pending(1) == [keys[1]]
    assert store.vectors.count_pending() == 3
    assert store.connection.execute("SELECT max(length(error)) FROM pending").fetchone()[0] == 500


@pytest.mark.req("B.03")
def test_what_was_told_comes_before_what_files_say_and_that_in_its_order(store: Store) -> None:
    snippets = [add(store, f"snippet {number}", type=NodeType.SNIPPET).key for number in range(3)]
    facts = [add(store, f"fact {number}").key for number in range(2)]
    later = add(store, "snippet 3", type=NodeType.SNIPPET).key
    assert store.vectors.list_pending(9) == [*facts[::-1], *snippets, later]


def test_what_fails_again_and_again_is_given_up(store: Store) -> None:
    key = add(store).key
    for _ in range(MAX_ATTEMPTS):
        assert store.vectors.list_pending(9) == [key]
        with store.transaction():
            store.vectors.note_failures([key], "no")
    assert store.vectors.list_pending(9) == [] and store.vectors.count_pending() == 0
    assert integrity.count_violations(store) == {}


# The two roads to the same ranking.


@pytest.mark.skipif(vector_extension.prepare_vec() == vector_extension.ABSENT, reason="sqlite-vec can't be loaded here")
@hypothesis_settings(max_examples=examples(60))
@given(
    rows=st.lists(st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4), min_size=1, max_size=12),
    query=st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4),
    k=st.integers(1, 12),
)
def test_numpy_ranks_as_sqlite_vec_does(rows: list[list[float]], query: list[float], k: int) -> None:
    asked = _unit_or_zero(query)
    packed = [int8.pack_int8(_unit_or_zero(row)) for row in rows]
    # sqlite-vec compares bytes with bytes: the query is rounded too.
    rounding = packing_error(asked) + 1e-5
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        assert vector_extension.attach_vec(connection)
        connection.execute("CREATE TABLE fingerprints(node_key INTEGER PRIMARY KEY, model_key INTEGER, e7 BLOB)")
        connection.executemany("INSERT INTO fingerprints VALUES (?, 1, ?)", enumerate(packed))
        keys = np.arange(len(rows) + 2)
        by_vec, by_numpy = (
            Fingerprints(connection, vec_attached=road).find_nearest_exactly(asked, keys, 1, k, space="e7")
            for road in (True, False)
        )
    assert np.allclose(by_vec[1], by_numpy[1], atol=rounding)
    exact = int8.unpack_int8(packed, 4) @ asked
    for found, off in ((by_vec[0], 2 * rounding), (by_numpy[0], 1e-5)):
        assert len(set(found.tolist())) == len(found) == min(k, len(rows))
        assert np.allclose(exact[found], by_numpy[1], atol=off)


def _unit_or_zero(row: list[float]) -> Matrix:
    vector = np.array(row, np.float32)
    norm = np.linalg.norm(vector)
    return vector if norm < 1e-3 and not norm else (vector / norm).astype(np.float32)


@pytest.mark.parametrize(("space", "off"), [("e1", 1e-5), ("e7", 3e-3), ("e9", 1e-5)])
def test_a_store_ranks_alike_by_either_road(store: Store, space: str, off: float) -> None:
    rows = random_rows(400)
    keys = make_nodes(store, 400)
    model = put_in(store, space, keys, rows)
    query, allowed = rows[77], everyone(store)
    with closing(_connection_with_vec(store.path)) as connection:
        by_vec, by_numpy, all_by_numpy = (
            Fingerprints(connection, vec_attached=road).find_nearest(query, allowed, model, k, space=space)
            for road, k in ((True, 20), (False, 20), (False, 400))
        )
    assert by_vec[0][0] == by_numpy[0][0] == keys[77]
    np.testing.assert_allclose(by_vec[1], by_numpy[1], atol=off)
    # Which of two comes first may only differ where they are as near as bytes can tell.
    exact = dict(zip(all_by_numpy[0].tolist(), all_by_numpy[1].tolist(), strict=True))
    np.testing.assert_allclose([exact[key] for key in by_vec[0].tolist()], by_numpy[1], atol=2 * off)


def _connection_with_vec(path: Path) -> sqlite3.Connection:
    if vector_extension.prepare_vec() == vector_extension.ABSENT:
        pytest.skip("sqlite-vec can't be loaded here")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.row_factory = sqlite3.Row
    assert vector_extension.attach_vec(connection)
    return connection


@pytest.fixture
def fresh_road() -> Iterator[None]:
    """Let a test look for the road anew."""
    vector_extension.prepare_vec.cache_clear()
    yield
    vector_extension.prepare_vec.cache_clear()


class Loading:
    """A connection of a Python that can load extensions."""

    def __init__(self, *, fails: bool) -> None:
        self.fails = fails
        self.enabled = False
        self.loaded: list[str] = []

    def enable_load_extension(self, enabled: bool) -> None:
        self.enabled = enabled

    def load_extension(self, name: str) -> None:
        if self.fails:
            raise sqlite3.OperationalError("not authorized")
        assert self.enabled
        self.loaded.append(name)

    def execute(self, sql: str) -> Any:
        if not self.loaded:
            raise sqlite3.OperationalError("no such function: vec_version")
        return SimpleNamespace(fetchone=lambda: ("v",))


@pytest.mark.usefixtures("fresh_road")
@pytest.mark.parametrize("fails", [False, True])
def test_where_extensions_load_that_is_the_road_and_the_door_is_shut_again(
    monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(sqlite3, "Connection", Loading)
    connection = Loading(fails=fails)
    assert vector_extension.prepare_vec() == vector_extension.EXTENSION
    assert vector_extension.attach_vec(connection) is not fails  # type: ignore[arg-type]
    assert connection.loaded == ([] if fails else [sqlite_vec.loadable_path()])
    assert not connection.enabled


@pytest.mark.usefixtures("fresh_road")
@pytest.mark.skipif(hasattr(sqlite3.Connection, "enable_load_extension"), reason="extensions load here")
@pytest.mark.parametrize("cause", ["no library", "no file", "refused"])
def test_where_there_is_no_road_numpy_ranks(monkeypatch: pytest.MonkeyPatch, cause: str) -> None:
    if cause == "no library":
        monkeypatch.setattr(vector_extension, "_linked_library", lambda: None)
    elif cause == "no file":
        monkeypatch.setattr(sqlite_vec, "loadable_path", lambda: "/nowhere/vec0")
    else:
        monkeypatch.setattr(
            vector_extension, "_linked_library", lambda: SimpleNamespace(sqlite3_auto_extension=lambda entry: 7)
        )
    assert vector_extension.prepare_vec() == vector_extension.ABSENT
    with closing(sqlite3.connect(":memory:")) as connection:
        monkeypatch.setattr(vector_extension, "is_attached", lambda connection: False)
        assert vector_extension.attach_vec(connection) is False


@pytest.mark.parametrize(
    "maps", ["", "7f00 /lib/libsqlite3.so.0\n7f01 /other/libsqlite3.so.0\n", "7f00 /nowhere/libsqlite3.so\n"]
)
def test_a_library_that_can_not_be_told_for_sure_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, maps: str
) -> None:
    file = tmp_path / "maps"
    file.write_text(maps)
    monkeypatch.setattr(vector_extension, "Path", lambda name: file)
    assert vector_extension._linked_library() is None
    file.unlink()
    assert vector_extension._linked_library() is None


def test_the_file_of_the_extension_is_named_as_each_system_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, suffix in (("win32", ".dll"), ("darwin", ".dylib"), ("linux", ".so")):
        monkeypatch.setattr(sys, "platform", platform)
        assert vector_extension._library_suffix() == suffix


# Roughly: by codes alone.


def test_roughly_most_of_the_nearest_are_found_and_how_near_they_are(many: SimpleNamespace) -> None:
    hit = 0
    queries = random_rows(30, seed=12)
    for query in queries:
        found, cosines = many.store.vectors.find_nearest(query, everyone(many.store), many.model, 50, roughly=True)
        expected, _ = brute(many.rows, many.keys, query, 10)
        hit += len(set(found.tolist()) & set(expected))
        assert len(set(found.tolist())) == 50 and np.all(np.diff(cosines) <= 0)
        # Rounding to two bits adds a sixtieth or so to a cosine of random vectors.
        np.testing.assert_allclose(cosines, many.rows[found - 1] @ query, atol=0.1)
    assert hit / (10 * len(queries)) >= 0.8


@pytest.mark.parametrize("space", fingerprints.SCANNED_SPACES)
@pytest.mark.parametrize("count", [5, 300])
def test_roughly_no_row_is_read_however_few_are_allowed(store: Store, space: str, count: int) -> None:
    rows = random_rows(300)
    keys = make_nodes(store, 300)
    model = put_in(store, space, keys, rows)
    store.connection.execute(f"UPDATE fingerprints SET {space} = NULL")
    allowed = everyone(store)
    allowed[keys[0] + count :] = False
    found, cosines = store.vectors.find_nearest(rows[2], allowed, model, 20, space=space, roughly=True)
    assert found[0] == keys[2] and len(found) == min(count, 20) and allowed[found].all()
    assert cosines[0] == pytest.approx(1.0, abs=0.25) and (cosines[1:] < 0.5).all()
    assert store.vectors.find_nearest(rows[2], allowed, model, 20, space=space)[0].tolist() == []


def test_roughly_a_query_of_votes_has_cosines_too(store: Store) -> None:
    rows = random_rows(300)
    model = put_in(store, "e9", make_nodes(store, 300), rows)
    votes = 7 * random_rows(1, seed=8)[0]
    found, estimated = store.vectors.find_nearest(votes, everyone(store), model, 300, space="e9", roughly=True)
    keys, exact = store.vectors.find_nearest(votes, everyone(store), model, 300, space="e9")
    wanted = dict(zip(keys.tolist(), exact.tolist(), strict=True))
    # The column is bits itself: only the query is rounded.
    np.testing.assert_allclose(estimated, [wanted[key] for key in found.tolist()], atol=0.02)


def test_roughly_vectors_of_another_length_are_not_found_and_of_another_model_may_be(store: Store) -> None:
    rows = random_rows(3)
    keys = make_nodes(store, 3)
    put_all(store, keys[:2], rows[:2], "old")
    model = put_all(store, keys[2:], rows[2:], "new")
    found, _ = store.vectors.find_nearest(rows[0], everyone(store), model, 5, roughly=True)
    assert set(found.tolist()) == set(keys)
    short = unit(rows[:1, :64])[0]
    assert store.vectors.find_nearest(short, everyone(store), model, 5, roughly=True)[0].tolist() == []


@pytest.mark.parametrize("space", fingerprints.SCANNED_SPACES)
def test_how_near_a_memory_is_roughly_is_what_a_rough_search_says(store: Store, space: str) -> None:
    rows = random_rows(20)
    keys = make_nodes(store, 21)
    model = put_in(store, space, keys[:20], rows)
    query = random_rows(1, seed=8)[0]
    found, wanted = store.vectors.find_nearest(query, everyone(store), model, 20, space=space, roughly=True)
    order = np.argsort(found)
    np.testing.assert_array_equal(
        store.vectors.estimate_cosines(query, found[order], model, space=space), wanted[order]
    )
    assert np.isnan(store.vectors.estimate_cosines(query, np.array(keys[20:]), model, space=space)).all()
    assert np.isnan(store.vectors.estimate_cosines(query[:64], found[order], model, space=space)).all()


@pytest.mark.req("D.13")
def test_how_near_a_memory_of_another_model_is_can_not_be_told(store: Store) -> None:
    rows = random_rows(3)
    keys = make_nodes(store, 3)
    old = put_all(store, keys[:2], rows[:2], "old")
    new = put_all(store, keys[2:], rows[2:], "new")
    known = {
        model: np.isnan(store.vectors.estimate_cosines(rows[0], np.array(keys), model)).tolist() for model in (old, new)
    }
    assert known == {old: [False, False, True], new: [True, True, False]}


def test_what_could_not_be_loaded_is_loaded_by_the_next_search(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keys, rows = make_nodes(store, 2), random_rows(2)
    model = put_all(store, keys, rows)

    def fail(self: Codes, connection: object, row: object) -> None:
        raise MemoryError

    with store.snapshot():
        with monkeypatch.context() as patch, pytest.raises(MemoryError):
            patch.setattr(Codes, "_load", fail)
            store.vectors.find_nearest(rows[0], everyone(store), model, 2, roughly=True)
        assert store.vectors.find_nearest(rows[0], everyone(store), model, 1, roughly=True)[0].tolist() == keys[:1]


def test_codes_of_a_block_that_is_gone_are_forgotten(store: Store) -> None:
    keys, rows = make_nodes(store, 2), random_rows(2)
    model = put_all(store, keys, rows)
    with store.snapshot():
        assert len(store.vectors.find_nearest(rows[0], everyone(store), model, 2, roughly=True)[0]) == 2
    with Store.open(store.path) as other, other.transaction():
        other.connection.execute("DELETE FROM fingerprints")
        other.connection.execute("DELETE FROM code_blocks")
    with store.snapshot():
        assert store.vectors.find_nearest(rows[0], everyone(store), model, 2, roughly=True)[0].tolist() == []
        assert np.isnan(store.vectors.estimate_cosines(rows[0], np.array(keys), model)).all()


def test_a_vector_as_older_programs_wrote_it_is_refused(store: Store) -> None:
    (key,) = make_nodes(store, 1)
    with pytest.raises(StoreError, match="two bytes a dimension"), store.transaction():
        model = store.vectors.use_model("m", 384, now=NOW)
        store.vectors.put_fingerprint(NodeKey(key), model, {"e1": random_rows(1)[0].tobytes()}, now=NOW)
    assert store.vectors.count_fingerprints() == 0


def test_roughly_a_memory_without_vectors_has_nothing_near(store: Store) -> None:
    make_nodes(store, 3)
    assert np.isnan(store.vectors.estimate_cosines(random_rows(1)[0], np.arange(3), 1)).all()
    found, cosines = store.vectors.find_nearest(random_rows(1)[0], everyone(store), 1, 5, roughly=True)
    assert found.tolist() == cosines.tolist() == []


# What every space shares.


def test_a_memory_without_vectors_has_nothing_near(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    make_nodes(store, 3)
    found, cosines = store.vectors.find_nearest(random_rows(1)[0], everyone(store), 1, 5)
    assert found.tolist() == cosines.tolist() == []


@pytest.mark.req("E.01")
@pytest.mark.parametrize("space", fingerprints.SCANNED_SPACES)
@pytest.mark.parametrize("exact_below", [0, 10_000])
def test_every_scanned_space_finds_what_a_full_comparison_of_it_finds(
    store: Store, monkeypatch: pytest.MonkeyPatch, space: str, exact_below: int
) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", exact_below)
    rows, query = random_rows(400, 256), random_rows(1, 256, seed=8)[0]
    query = np.sign(query) if space == "e9" else query
    keys = make_nodes(store, 400)
    model = put_in(store, space, keys, rows)
    found, cosines = store.vectors.find_nearest(query, everyone(store), model, 10, space=space)
    matrix = unpack_vectors(space, [stored(space, row) for row in rows], 256)
    if space in ("e7", "e10") and vector_extension.is_attached(store.connection):
        # sqlite-vec compares bytes with bytes.
        query = int8.unpack_int8([int8.pack_int8(query)], 256)[0]
    wanted = matrix @ query / np.linalg.norm(query)
    order = np.lexsort((keys, -wanted))[:10]
    assert found.tolist() == [keys[at] for at in order]
    np.testing.assert_allclose(cosines, wanted[order], atol=1e-5)


def test_a_side_that_a_memory_has_no_more_is_found_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "EXACT_BELOW", 0)
    key, other = (NodeKey(key) for key in make_nodes(store, 2))
    row = random_rows(1)[0]
    with store.transaction():
        model = store.vectors.use_model("m", 384, now=NOW)
        store.vectors.put_fingerprint(key, model, {"e1": float16.pack_half(row), "e7": int8.pack_int8(row)}, now=NOW)
        store.vectors.put_fingerprint(other, model, {"e1": float16.pack_half(row), "e7": int8.pack_int8(row)}, now=NOW)
    assert store.vectors.find_nearest(row, everyone(store), model, 5, space="e7")[0].tolist() == [key, other]
    with store.transaction():
        store.vectors.put_fingerprint(key, model, {"e1": float16.pack_half(row)}, now=NOW)
    assert store.vectors.find_nearest(row, everyone(store), model, 5, space="e7")[0].tolist() == [other]
    assert integrity.count_violations(store).get(integrity.WRONG_CODES) is None


def test_what_is_stored_together_has_the_codes_that_are_made_of_all_vectors(store: Store) -> None:
    keys = make_nodes(store, BLOCK_ROWS + 8)[-16:]
    rows = random_rows(48)
    with store.transaction():
        model = store.vectors.use_model("m", rows.shape[1], now=NOW)
        for place, spaces in enumerate((("e1", "e7"), ("e1",), ("e7", "e9"))):
            # All of them at first; then every second one loses a space, and gets it back without the other.
            chosen = keys if place == 0 else keys[::2]
            made = {
                key: {space: stored(space, row) for space in spaces}
                for key, row in zip(chosen, rows[16 * place :], strict=False)
            }
            store.vectors.put_fingerprints(made, model, now=NOW)
    select = "SELECT space, block, codes FROM code_blocks ORDER BY space, block"
    together = [tuple(row) for row in store.connection.execute(select)]
    with store.transaction():
        store.vectors.rebuild_codes()
    assert [tuple(row) for row in store.connection.execute(select)] == together
    assert len({block for _, block, _ in together}) == 2


@pytest.mark.req("D.13")
def test_codes_of_every_scanned_space_are_checked_and_made_anew(store: Store) -> None:
    (key,) = (NodeKey(key) for key in make_nodes(store, 1))
    row = random_rows(1, 256)[0]
    with store.transaction():
        model = store.vectors.use_model("m", 256, now=NOW)
        store.vectors.put_fingerprint(
            key, model, {space: stored(space, row) for space in fingerprints.SCANNED_SPACES}, now=NOW
        )
    before = store.connection.execute("SELECT space, block, codes FROM code_blocks ORDER BY space").fetchall()
    assert len(before) == len(fingerprints.SCANNED_SPACES) and store.vectors.count_wrong_blocks() == 0
    store.connection.execute("UPDATE code_blocks SET codes = zeroblob(length(codes)) WHERE space <> 'e1'")
    assert store.vectors.count_wrong_blocks() == len(fingerprints.SCANNED_SPACES) - 1
    with store.transaction():
        store.vectors.rebuild_codes()
    assert store.connection.execute("SELECT space, block, codes FROM code_blocks ORDER BY space").fetchall() == before


@pytest.mark.req("B.03")
def test_the_queue_gives_what_was_said_first_and_old_commits_last(store: Store) -> None:
    day = 86_400_000
    old = [add(store, f"old {n}", type=NodeType.DECISION, subtype="commit", event_time=NOW - n * day) for n in (90, 80)]
    files = [add(store, f"code {n}", type=NodeType.SNIPPET, subtype="code") for n in range(2)]
    recent = [
        add(store, f"new {n}", type=NodeType.DECISION, subtype="commit", event_time=NOW - n * day) for n in (3, 2)
    ]
    said = [add(store, f"said {n}") for n in range(2)]

    queue = store.vectors.list_pending(20)

    wanted = [*said[::-1], *recent[::-1], *files, *old[::-1]]
    assert queue == [node.key for node in wanted]


def test_a_file_that_changed_goes_before_files_that_wait(store: Store) -> None:
    files = [add(store, f"code {n}", type=NodeType.SNIPPET, subtype="code") for n in range(3)]
    with store.transaction():
        store.nodes.queue_for_fingerprint([files[2].key], now=NOW + 1_000)

    assert store.vectors.list_pending(9) == [files[2].key, files[0].key, files[1].key]


def work_of(store: Store, act: Callable[[], object]) -> int:
    """Return how many steps SQLite takes for what is done."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    store.connection.set_progress_handler(count, 1)
    try:
        act()
    finally:
        store.connection.set_progress_handler(None, 0)
    return steps


@pytest.mark.req("B.03")
@pytest.mark.parametrize("mine", ["none", "forgotten", "failed"])
def test_taking_from_a_long_queue_looks_at_a_few_though_the_project_at_hand_has_nothing_in_it(
    store: Store, mine: str
) -> None:
    """Not of what others have waiting, nor of what is forgotten or has failed here."""

    def fill(count: int) -> None:
        for number in range(count):
            add(store, f"code {number}", type=NodeType.SNIPPET, subtype="code", scope="others")
            if mine != "none":
                node = add(store, f"code {number}", type=NodeType.SNIPPET, subtype="code", scope="mine")
                with store.transaction():
                    if mine == "forgotten":
                        store.nodes.delete_node(node.id, now=NOW)
                    else:
                        store.vectors.note_failures([node.key], "no")

    with store.transaction():
        at_hand = store.scopes.ensure_scope("mine", now=NOW)
    add(store, "code", type=NodeType.SNIPPET, subtype="code", scope="others")
    fill(20)
    assert store.vectors._list_in_order("attempts = 0", at_hand, 32) == []
    few = work_of(store, lambda: store.vectors._list_in_order("attempts = 0", at_hand, 32))
    fill(100)
    assert work_of(store, lambda: store.vectors._list_in_order("attempts = 0", at_hand, 32)) == few


@pytest.mark.req("B.03")
def test_the_queue_and_who_sits_where_are_asked_by_their_indexes(store: Store) -> None:
    with store.transaction():
        at_hand = store.scopes.ensure_scope("mine", now=NOW)
    statements: list[str] = []
    store.connection.set_trace_callback(statements.append)
    try:
        store.vectors.list_pending(32, at_hand=at_hand)
        store.sessions.find_scope_at_hand(now=NOW)
    finally:
        store.connection.set_trace_callback(None)
    plans = [
        [row["detail"] for row in store.connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        for statement in statements
        if "FROM pending" in statement or "FROM sessions" in statement
    ]
    assert len(plans) == 5
    for steps in plans[:4]:
        assert "USING COVERING INDEX idx_pending_" in steps[0]
        assert not any("TEMP B-TREE" in step or "SCAN n" in step for step in steps)
    assert [steps[0].rpartition("idx_")[2].partition(" ")[0] for steps in plans[:4]] == [
        "pending_scope",
        "pending_order",
        "pending_scope",
        "pending_order",
    ]
    assert any("idx_sessions_open" in step for step in plans[4])


@pytest.mark.req("B.03")
def test_the_queue_knows_whose_its_nodes_are_though_they_move_are_forgotten_and_come_back(store: Store) -> None:
    node = add(store, "code", type=NodeType.SNIPPET, subtype="code", scope="old")
    with store.transaction():
        old, mine = (store.scopes.ensure_scope(scope, now=NOW) for scope in ("old", "mine"))

    def queue(scope_key: int) -> list[NodeKey]:
        return store.vectors._list_in_order("attempts = 0", scope_key, 9)

    assert (queue(old), queue(mine)) == ([node.key], [])
    with store.transaction():
        store.scopes.merge_into("old", "mine")
    assert (queue(old), queue(mine)) == ([], [node.key])
    with store.transaction():
        store.nodes.delete_node(node.id, now=NOW)
    assert queue(mine) == []
    with store.transaction():
        store.nodes.queue_for_fingerprint([node.key], now=NOW)
    assert queue(mine) == []
    with store.transaction():
        store.nodes.restore_node(node.id, now=NOW)
    assert queue(mine) == [node.key]


@pytest.mark.req("B.03")
def test_what_is_said_elsewhere_does_not_wait_for_the_files_of_the_project_at_hand(store: Store) -> None:
    with store.transaction():
        at_hand = store.scopes.ensure_scope("mine", now=NOW)
    files = [
        add(store, f"{scope} {n}", type=NodeType.SNIPPET, subtype="code", scope=scope)
        for scope in ("others", "mine")
        for n in range(2)
    ]
    mine = add(store, "said here", scope="mine")
    said = [add(store, f"said {n}", scope="others") for n in range(2)]

    queue = store.vectors.list_pending(20, at_hand=at_hand)

    wanted = [mine, said[1], said[0], files[2], files[3], files[0], files[1]]
    assert queue == [node.key for node in wanted]
    assert [store.vectors.list_pending(limit, at_hand=at_hand) for limit in (1, 4)] == [queue[:1], queue[:4]]


def test_a_pace_is_that_of_the_last_minute(store: Store) -> None:
    with store.transaction():
        store.embedding_pace.note_pace(32, 2.0, now=NOW)
    assert store.embedding_pace.get_pace(now=NOW + 1_000) == pytest.approx(16.0)
    with store.transaction():
        store.embedding_pace.note_pace(32, 1.0, now=NOW + 2_000)
    assert store.embedding_pace.get_pace(now=NOW + 2_000) == pytest.approx(0.8 * 16 + 0.2 * 32)
    assert store.embedding_pace.get_pace(now=NOW + 70_000) is None


def test_nodes_are_compared_by_cosine_where_both_have_a_vector_of_one_size(store: Store) -> None:
    one, other, longer, without = make_nodes(store, 4)
    put_all(store, [one, other], np.asarray([[1.0, 0.0], [0.6, 0.8]], np.float32))
    put_all(store, [longer], np.asarray([[1.0, 0.0, 0.0]], np.float32), "another")
    assert store.vectors.compare_with(one, [other, longer, without]) == {other: pytest.approx(0.6, abs=1e-3)}
    assert store.vectors.compare_with(without, [one]) == {}
