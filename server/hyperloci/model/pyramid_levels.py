"""Pyramid levels (C.01), in a module of their own so that a search need not load the rest."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class PyramidLevel(StrEnum):
    """How much a chunk covers."""

    MICRO = "micro"
    MINI = "mini"
    MACRO = "macro"


SIZES: Final = {PyramidLevel.MICRO: 10, PyramidLevel.MINI: 25, PyramidLevel.MACRO: 100}
"""Turns of a chunk (C.01)."""

SUBTYPES: Final = {level: f"chunk_{level}" for level in PyramidLevel}
"""What the node of a chunk's summary is."""

GIVES_TURNS: Final = "a search for its id gives them"
"""How an assistant reads the turns behind a summary; the command line, which shows beginnings of ids, has a command."""
