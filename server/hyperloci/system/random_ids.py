"""Random ids: version 4 of UUIDs. `uuid` would do, but loads `platform` with its patterns into every hook."""

from __future__ import annotations

import os


def make_random_id() -> str:
    """Return a random UUID in its usual form, as `str(uuid.uuid4())` does."""
    octets = bytearray(os.urandom(16))
    octets[6] = octets[6] & 0x0F | 0x40
    octets[8] = octets[8] & 0x3F | 0x80
    digits = octets.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
