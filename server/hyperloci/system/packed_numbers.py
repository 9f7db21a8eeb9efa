"""Packed numbers: many numbers as one text in a data file, and as one array in memory.

As lists of a JSON document each number is an object of its own: a model of 57,000 takes 2.6 MB, and is slower to read.
"""

from __future__ import annotations

import binascii
import sys
from array import array
from collections.abc import Iterable
from typing import Any


def pack_numbers(typecode: str, numbers: Iterable[float]) -> str:
    """Return numbers as a text.

    Args:
        typecode: how each is kept, as `array` names it: "H" is two bytes without a sign, "d" a whole `float`.
        numbers: those to pack.

    Raises:
        OverflowError: one does not fit.
    """
    packed = array(typecode, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return binascii.b2a_base64(packed, newline=False).decode("ascii")


def unpack_numbers(typecode: str, text: str) -> array[Any]:
    """Return the numbers that were packed with the same typecode, each as it was."""
    numbers: array[Any] = array(typecode)
    numbers.frombytes(binascii.a2b_base64(text))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
