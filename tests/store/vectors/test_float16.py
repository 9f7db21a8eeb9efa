"""Vectors in two bytes a dimension."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.store.vectors import float16
from tests.support import examples, random_rows


@hypothesis_settings(max_examples=examples(100))
@given(
    values=st.lists(st.lists(st.floats(-1, 1, width=16), min_size=3, max_size=3), min_size=1, max_size=5),
)
def test_what_halves_can_say_comes_back_as_it_was(values: list[list[float]]) -> None:
    rows = np.array(values, np.float32)
    packed = [float16.pack_half(row) for row in rows]
    assert {len(blob) for blob in packed} == {3 * float16.BYTES_PER_DIMENSION}
    np.testing.assert_array_equal(float16.unpack_half(packed), rows)


@hypothesis_settings(max_examples=examples(100))
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=50))
def test_a_component_keeps_eleven_bits_and_what_was_read_is_packed_the_same(values: list[float]) -> None:
    vector = np.array(values, np.float32)
    packed = float16.pack_half(vector)
    (seen,) = float16.unpack_half([packed])
    # Below 2**-14 a half has fewer bits, in steps of 2**-24.
    assert (np.abs(seen - vector) <= np.maximum(np.abs(vector) * 2**-11, 2**-25)).all()
    assert float16.pack_half(seen) == packed


@pytest.mark.req("E.01")
@hypothesis_settings(max_examples=examples(100))
@given(seed=st.integers(0, 10**6), dimensions=st.sampled_from([384, 768, 1024]))
def test_a_cosine_of_unit_vectors_is_off_by_less_than_a_ten_thousandth(seed: int, dimensions: int) -> None:
    rows, query = random_rows(50, dimensions, seed), random_rows(1, dimensions, seed + 1)[0]
    seen = float16.unpack_half([float16.pack_half(row) for row in rows])
    assert seen.shape == (50, dimensions) and seen.dtype == np.float32
    np.testing.assert_allclose(seen @ query, rows @ query, rtol=0, atol=1e-4)
    np.testing.assert_allclose(np.einsum("ij,ij->i", seen, rows), 1.0, rtol=0, atol=1e-4)


def test_no_vectors_are_no_rows() -> None:
    assert float16.unpack_half([]).shape == (0, 0)


def test_vectors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        float16.unpack_half([bytes(8), bytes(6)])
