"""Codes by themselves: what a bit says, how well they rank, and that no way through a scan loses what is near."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hyperloci.store.vectors import float16, int8, scan_codes
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS
from hyperloci.store.vectors.scan_codes import LARGE_COMPONENT, Codes, make_sign_code, make_size_code, words_per_code
from hyperloci.store.vectors.stored_vectors import CODE_BITS, make_code
from tests.support import examples, random_rows

Matrix = NDArray[np.float32]
Bits = NDArray[np.bool_]

COUNT = 5_000


def held_codes(rows: Matrix, planes: int) -> Codes:
    """Return the codes of vectors whose keys are 0, 1, 2... as a search holds them."""
    coded = [make_sign_code(row) + (make_size_code(row) if planes == 2 else b"") for row in rows]
    held = Codes(words_per_code(rows.shape[1]), planes)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("CREATE TABLE code_blocks(key INTEGER PRIMARY KEY, space, block, version, codes)")
        for block, start in enumerate(range(0, len(coded), BLOCK_ROWS)):
            part = b"".join(coded[start : start + BLOCK_ROWS]).ljust(BLOCK_ROWS * len(coded[0]), b"\0")
            connection.execute("INSERT INTO code_blocks VALUES (NULL, 'e1', ?, 5, ?)", (block, part))
        held.reload_changed(connection, "e1")
        held.reload_changed(connection, "e1")
    return held


def bits_of(code: bytes) -> Bits:
    return np.unpackbits(np.frombuffer(code, np.uint8), bitorder="little").astype(np.bool_)


def estimates(rows: Matrix, query: Matrix, planes: int) -> Matrix:
    """Return the cosines that codes estimate, in floats: the query in 31 steps, the rows by their levels."""
    step = np.abs(query).max() / 15
    levels = np.sign(np.where(rows > 0, 1, -1)).astype(np.float64)
    if planes == 2:
        large = np.abs(rows) > LARGE_COMPONENT * np.sqrt(np.mean(rows**2, axis=1, keepdims=True))
        levels *= np.where(large, scan_codes._LARGE_LEVEL, scan_codes._SMALL_LEVEL)
    products = levels @ (np.rint(query / step) * step) / np.linalg.norm(levels, axis=1)
    return np.asarray(products / np.linalg.norm(query), np.float32)


def differing(rows: Matrix, query: Matrix) -> NDArray[np.int64]:
    """Return in how many signs each row differs from a query."""
    return np.asarray(((rows > 0) != (query > 0)).sum(axis=1), np.int64)


@pytest.fixture(scope="module")
def rows() -> Matrix:
    return random_rows(COUNT)


@pytest.fixture(scope="module")
def held(rows: Matrix) -> dict[int, Codes]:
    """The same vectors by signs alone and with sizes."""
    return {planes: held_codes(rows, planes) for planes in (1, 2)}


# What is in a code.


@hypothesis_settings(max_examples=examples(100))
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=200))
def test_a_code_has_a_bit_a_dimension_and_whole_words(values: list[float]) -> None:
    code = make_sign_code(np.array(values, np.float32))
    assert len(code) == words_per_code(len(values)) * 8
    bits = bits_of(code)
    assert bits[: len(values)].tolist() == [np.float32(value) > 0 for value in values]
    assert not bits[len(values) :].any()


@hypothesis_settings(max_examples=examples(100))
@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=200))
def test_a_code_of_sizes_has_a_bit_a_dimension_too(values: list[float]) -> None:
    vector = np.array(values, np.float32)
    code = make_size_code(vector)
    assert len(code) == words_per_code(len(values)) * 8
    bits = bits_of(code)
    limit = LARGE_COMPONENT * float(np.sqrt(np.mean(vector.astype(np.float64) ** 2)))
    clear = np.abs(np.abs(vector) - limit) > 1e-5 * limit
    assert (bits[: len(values)] == (np.abs(vector) > limit))[clear].all()
    assert not bits[len(values) :].any()


def test_of_normally_distributed_components_a_third_is_large(rows: Matrix) -> None:
    share = np.mean([bits_of(make_size_code(row)).mean() for row in rows[:200]])
    assert share == pytest.approx(0.327, abs=0.01)


def test_no_component_of_a_vector_of_zeros_is_positive_or_large() -> None:
    nothing = np.zeros(384, np.float32)
    assert not bits_of(make_sign_code(nothing)).any() and not bits_of(make_size_code(nothing)).any()


@pytest.mark.req("E.01")
def test_e1_is_coded_by_signs_then_sizes_and_other_spaces_by_signs() -> None:
    vector = random_rows(1)[0]
    seen = float16.unpack_half([float16.pack_half(vector)])[0]
    assert make_code("e1", float16.pack_half(vector)) == make_sign_code(seen) + make_size_code(seen)
    assert make_code("e7", int8.pack_int8(vector)) == make_sign_code(np.frombuffer(int8.pack_int8(vector), np.int8))
    assert (CODE_BITS["e1"], CODE_BITS.get("e7", 1)) == (2, 1)


# How well codes rank.


def test_two_bits_say_nearly_what_the_vectors_say_and_one_bit_less(rows: Matrix, held: dict[int, Codes]) -> None:
    agreement: dict[int, list[float]] = {1: [], 2: []}
    for query in random_rows(20, seed=8):
        for planes, scanned in held.items():
            keys, estimated = scanned.find_candidates(query, np.ones(COUNT, np.bool_), COUNT)
            assert len(keys) == COUNT
            agreement[planes].append(float(np.corrcoef(rows[keys] @ query, estimated)[0, 1]))
    # An optimal quantiser of a normal distribution keeps 0.80 with one bit and 0.94 with two.
    assert np.mean(agreement[2]) == pytest.approx(0.94, abs=0.01)
    assert np.mean(agreement[1]) == pytest.approx(0.80, abs=0.01)


def test_the_ten_nearest_are_among_the_256_best_by_two_bits_and_fewer_of_them_by_one(
    rows: Matrix, held: dict[int, Codes]
) -> None:
    hits = {1: 0, 2: 0}
    queries = random_rows(50, seed=9)
    for query in queries:
        nearest = set(np.argsort(-(rows @ query))[:10].tolist())
        for planes, scanned in held.items():
            keys, _ = scanned.find_candidates(query, np.ones(COUNT, np.bool_), 256)
            hits[planes] += len(nearest & set(keys.tolist()))
    assert hits[2] / (10 * len(queries)) >= 0.98
    assert hits[1] < hits[2]


@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("length", [1.0, 20.0])
def test_an_estimate_is_what_the_levels_of_the_bits_multiply_to(
    rows: Matrix, held: dict[int, Codes], planes: int, length: float
) -> None:
    for query in random_rows(5, seed=10) * np.float32(length):
        keys, estimated = held[planes].find_candidates(query, np.ones(COUNT, np.bool_), 300)
        np.testing.assert_allclose(estimated, estimates(rows[keys], query, planes), atol=1e-5)


@pytest.mark.parametrize("planes", [1, 2])
def test_any_node_can_be_estimated_and_one_without_a_code_not(rows: Matrix, planes: int) -> None:
    some = rows[:20].copy()
    some[7] = 0
    held = held_codes(some, planes)
    query = random_rows(1, seed=8)[0]
    keys = np.array([19, 7, 3, BLOCK_ROWS - 1, BLOCK_ROWS, 10**6, 3])
    found = held.estimate_cosines(query, keys)
    wanted = estimates(some[[19, 3, 3]], query, planes)
    np.testing.assert_allclose(found[[0, 2, 6]], wanted, atol=1e-5)
    assert np.isnan(found[[1, 3, 4, 5]]).all()
    assert held.estimate_cosines(query, np.empty(0, np.int64)).tolist() == []


@pytest.mark.parametrize("dimensions", [1, 63, 64, 65, 300, 1024])
@pytest.mark.parametrize("planes", [1, 2])
def test_vectors_of_any_length_are_estimated(dimensions: int, planes: int) -> None:
    few = np.abs(random_rows(40, dimensions))
    query = random_rows(1, dimensions, seed=8)[0]
    keys, estimated = held_codes(few, planes).find_candidates(query, np.ones(40, np.bool_), 40)
    wanted = estimates(few, query, planes)
    np.testing.assert_allclose(estimated, wanted[keys], atol=1e-5)
    assert np.all(np.diff(estimated) <= 0) and sorted(keys.tolist()) == list(range(40))


def test_a_query_of_zeros_is_as_near_to_all() -> None:
    keys, estimated = held_codes(random_rows(5), 2).find_candidates(np.zeros(384, np.float32), np.ones(5, np.bool_), 3)
    assert keys.tolist() == [0, 1, 2] and estimated.tolist() == [0, 0, 0]


# The ways through a scan.


def scans(patch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets longer whenever all signs are compared."""
    seen: list[int] = []
    whole = Codes._distances

    def counted(self: Codes, query: Matrix, size: int, words: slice) -> Any:
        seen.append(size)
        return whole(self, query, size, words)

    patch.setattr(Codes, "_distances", counted)
    return seen


@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize(
    ("coarse", "share", "scanned"),
    [
        pytest.param(20, 1.0, True, id="no filter"),
        pytest.param(20, 0.3, True, id="a filter that leaves a third"),
        pytest.param(2, 0.1, False, id="a filter that leaves a tenth"),
        pytest.param(2, 0.01, False, id="a filter that leaves so few that they are looked up"),
        pytest.param(20, 0.01, False, id="fewer than a scan hands on"),
    ],
)
def test_every_way_to_the_candidates_finds_those_of_a_full_comparison_of_codes(
    rows: Matrix,
    held: dict[int, Codes],
    monkeypatch: pytest.MonkeyPatch,
    planes: int,
    coarse: int,
    share: float,
    scanned: bool,
) -> None:
    monkeypatch.setattr(scan_codes, "COARSE", coarse)
    passes = scans(monkeypatch)
    generator = np.random.default_rng(3)
    for query in random_rows(20, seed=11):
        allowed = generator.random(COUNT) < share
        keys, estimated = held[planes].find_candidates(query, allowed, 10)
        possible = np.flatnonzero(allowed)
        away = differing(rows[possible], query)
        wanted = max(10 * coarse, len(possible) // scan_codes.COARSE_SHARE)
        # Which of equally many differing signs go on is open; what is nearer goes on for sure.
        sure = possible[away < np.sort(away)[wanted - 1]] if wanted < len(possible) else possible
        all_estimated = dict(zip(possible.tolist(), estimates(rows[possible], query, planes).tolist(), strict=True))
        assert len(set(keys.tolist())) == 10 and allowed[keys].all()
        assert np.all(np.diff(estimated) <= 0)
        np.testing.assert_allclose(estimated, [all_estimated[key] for key in keys.tolist()], atol=1e-5)
        missed = set(sure.tolist()) - set(keys.tolist())
        assert all(all_estimated[key] <= estimated[-1] + 1e-5 for key in missed)
    assert bool(passes) is scanned


@pytest.mark.parametrize("share", [1.0, 0.05])
def test_hastily_half_of_the_signs_are_compared_and_most_of_the_nearest_found(
    rows: Matrix, held: dict[int, Codes], share: float
) -> None:
    generator = np.random.default_rng(3)
    found = 0
    for query in random_rows(20, seed=11):
        allowed = generator.random(COUNT) < share
        keys, estimated = held[1].find_candidates(query, allowed, 50, hastily=True)
        exact, _ = held[1].find_candidates(query, allowed, 10)
        assert allowed[keys].all() and np.all(np.diff(estimated) <= 0)
        found += len(set(exact.tolist()) & set(keys.tolist()))
    assert found >= 0.9 * 20 * 10


def test_a_scan_never_returns_what_is_not_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_codes, "COARSE", 1)
    rows = random_rows(1_000, 64)
    held = held_codes(rows, 1)
    allowed = np.zeros(1_000, np.bool_)
    allowed[::3] = True
    for count in (0, 1, 60, 200, 400, 5_000):
        found, estimated = held.find_candidates(rows[0], allowed, count)
        assert len(found) == len(estimated) == min(count, int(allowed.sum()))
        assert allowed[found].all() and len(set(found.tolist())) == len(found)


def test_equal_estimates_come_in_the_order_of_keys() -> None:
    rows = np.repeat(random_rows(2), 4, axis=0)
    found, _ = held_codes(rows, 2).find_candidates(rows[5], np.ones(8, np.bool_), 6)
    assert found.tolist() == [4, 5, 6, 7, 0, 1]


def test_of_a_large_set_a_share_goes_on(monkeypatch: pytest.MonkeyPatch, rows: Matrix, held: dict[int, Codes]) -> None:
    monkeypatch.setattr(scan_codes, "COARSE", 2)
    monkeypatch.setattr(scan_codes, "COARSE_SHARE", 50)
    handed_on: list[int] = []

    def first(distances: NDArray[np.uint16], possible: Bits, count: int) -> NDArray[np.int64]:
        handed_on.append(count)
        return np.arange(count)

    monkeypatch.setattr(scan_codes, "_nearest", first)
    for count in (5, 500):
        held[2].find_candidates(rows[0], np.ones(COUNT, np.bool_), count)
    assert handed_on == [COUNT // 50, 2 * 500]


@hypothesis_settings(max_examples=examples(60))
@given(seed=st.integers(0, 10**6), size=st.integers(1, 3_000), count=st.integers(0, 3_500), low=st.integers(1, 400))
def test_the_smallest_are_the_smallest(seed: int, size: int, count: int, low: int) -> None:
    distances = np.random.default_rng(seed).integers(0, low, size).astype(np.uint16)
    count = min(count, size)
    found = scan_codes._find_smallest(distances, count)
    assert len(set(found.tolist())) == len(found) >= count
    assert sorted(distances[found].tolist())[:count] == np.sort(distances)[:count].tolist()


@hypothesis_settings(max_examples=examples(200))
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(0, 3_000),
    count=st.integers(0, 1_000),
    low=st.integers(1, 400),
    share=st.floats(0, 1),
    sorted_by=st.sampled_from(["nothing", "distance"]),
)
def test_the_nearest_are_enough_not_too_many_and_all_possible(
    seed: int, size: int, count: int, low: int, share: float, sorted_by: str
) -> None:
    generator = np.random.default_rng(seed)
    distances = generator.integers(0, low, size).astype(np.uint16)
    # In order, the sample is as good or as bad as it gets.
    distances = np.sort(distances) if sorted_by == "distance" else distances
    possible = generator.random(size) < share
    few = int(possible.sum())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan_codes, "SAMPLE_STEP", 8)
        found = scan_codes._nearest(distances, possible, count)
    assert len(set(found.tolist())) == len(found) and possible[found].all()
    assert min(count, few) <= len(found) <= 2 * count
    assert sorted(distances[found].tolist())[:count] == np.sort(distances[possible])[:count].tolist()
