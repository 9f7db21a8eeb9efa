"""Months of languages that write a day with a full stop: `3. Juli`, `17. mai`, (German,
Danish and Norwegian)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NAMES: Final = (
    "januar jänner jan",
    "februar feber feb",
    "märz maerz marts mars mär mrz",
    "april apr",
    "mai maj",
    "juni juno jun",
    "juli julei jul",
    "august aug",
    "september sept sep",
    "oktober okt",
    "november nov",
    "dezember desember december dez des dec",
)

ORDINAL_MONTHS: Final[Mapping[str, int]] = {
    name: number for number, names in enumerate(_NAMES, 1) for name in names.split()
}
"""Names in lower case and their numbers, January 1."""
