"""How what is looked up by node key is cut into blocks: known to those who never load numpy, too."""

from __future__ import annotations

from typing import Final

BLOCK_ROWS: Final = 8_192
"""Node keys a block of codes: 393 KB at 384 bits, one read of which costs about a millisecond."""
