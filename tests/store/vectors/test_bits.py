"""Packed bits against vectors of floats."""

from __future__ import annotations

import numpy as np
import pytest

from hyperloci.store.vectors.bits import sum_set_components, unpack_signs


@pytest.mark.parametrize(("rows", "dimensions", "count"), [(7, 384, 1), (40, 192, 14), (3, 1_000, 2), (0, 64, 3)])
def test_looked_up_sums_are_those_of_unpacked_bits(rows: int, dimensions: int, count: int) -> None:
    chance = np.random.default_rng(5)
    bits = chance.integers(0, 2, (rows, dimensions), dtype=np.uint8)
    vectors = chance.standard_normal((count, dimensions)).astype(np.float32)
    packed = np.packbits(bits, axis=1, bitorder="little")
    sums, step = sum_set_components(packed, vectors)
    # What each byte adds is cut to whole steps; most of what is cut off cancels.
    off = np.abs(sums * step - bits @ vectors.T)
    assert off.shape == (rows, count)
    assert (off <= step * packed.shape[1]).all()
    assert dimensions > 384 or (off < 0.01 * np.linalg.norm(vectors, axis=1)).all()


def test_bits_behind_the_last_dimension_count_nothing() -> None:
    packed = np.full((2, 8), 255, np.uint8)
    sums, step = sum_set_components(packed, np.ones((1, 10), np.float32))
    np.testing.assert_allclose(sums * step, [[10.0], [10.0]], atol=2 * step)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("dimensions", [8, 384, 1_024])
def test_the_largest_sum_there_can_be_fits(sign: int, dimensions: int) -> None:
    packed = np.full((2, dimensions // 8), 255, np.uint8)
    sums, step = sum_set_components(packed, np.full((1, dimensions), sign * 0.1, np.float32))
    np.testing.assert_allclose(sums * step, np.full((2, 1), sign * 0.1 * dimensions), rtol=0.005)


def test_a_vector_of_zeros_adds_nothing() -> None:
    sums, step = sum_set_components(np.full((2, 8), 255, np.uint8), np.zeros((1, 64), np.float32))
    assert step > 0 and not sums.any()


def test_packed_bits_are_signs_again() -> None:
    packed = np.packbits(np.array([1, 0, 0, 1, 1], np.uint8), bitorder="little").tobytes()
    np.testing.assert_array_equal(unpack_signs([packed], 5), [[1, -1, -1, 1, 1]])
