"""Numbers are packed into one text, and are the same when they are read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.system.packed_numbers import pack_numbers, unpack_numbers
from tests.support import examples


@settings(max_examples=examples(60))
@given(st.lists(st.floats(allow_nan=False)))
def test_floats_are_read_as_they_were_to_the_bit(numbers: list[float]) -> None:
    read = unpack_numbers("d", pack_numbers("d", numbers)).tolist()
    assert list(map(float.hex, read)) == list(map(float.hex, numbers))


def test_a_text_is_the_same_on_every_machine() -> None:
    assert pack_numbers("H", [1, 256]) == "AQAAAQ=="


def test_a_machine_with_the_other_order_of_bytes_reads_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.byteorder", "big")  # which swaps what this machine does not: twice gives the same
    assert unpack_numbers("H", pack_numbers("H", [1, 256])).tolist() == [1, 256]
    assert unpack_numbers("H", "AQAAAQ==").tolist() == [256, 1]


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError):
        pack_numbers("H", [65_536])
