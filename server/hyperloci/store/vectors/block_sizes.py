"""Constants of the fingerprints, for modules that must not load numpy."""

from __future__ import annotations

from typing import Final

BLOCK_ROWS: Final = 8_192
"""Node keys in a block of codes: 393 KB at 384 bits, one read of which costs about a millisecond."""

MAX_ATTEMPTS: Final = 3
"""A text that failed so often is given up, with the reason beside it; a change of the text tries anew."""
