"""Packed bits against vectors of floats."""

from __future__ import annotations

import numpy as np
import pytest

from hyperloci.store.bits import signs_of, sums_of_set


@pytest.mark.parametrize(("rows", "dimensions", "count"), [(7, 384, 1), (40, 192, 14), (3, 1_000, 2), (0, 64, 3)])
def test_looked_up_sums_are_those_of_unpacked_bits(rows: int, dimensions: int, count: int) -> None:
    chance = np.random.default_rng(5)
    bits = chance.integers(0, 2, (rows, dimensions), dtype=np.uint8)
    vectors = chance.standard_normal((count, dimensions)).astype(np.float32)
    packed = np.packbits(bits, axis=1, bitorder="little")
    np.testing.assert_allclose(sums_of_set(packed, vectors), bits @ vectors.T, atol=1e-4)


def test_bits_behind_the_last_dimension_count_nothing() -> None:
    packed = np.full((2, 8), 255, np.uint8)
    np.testing.assert_allclose(sums_of_set(packed, np.ones((1, 10), np.float32)), [[10.0], [10.0]])


def test_packed_bits_are_signs_again() -> None:
    packed = np.packbits(np.array([1, 0, 0, 1, 1], np.uint8), bitorder="little").tobytes()
    np.testing.assert_array_equal(signs_of([packed], 5), [[1, -1, -1, 1, 1]])
