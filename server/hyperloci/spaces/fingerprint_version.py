"""The version of what fingerprints hold."""

from __future__ import annotations

from typing import Final

VERSION: Final = 3
"""Part of a profile's id: views or formats that change what is stored get another, and every memory is seen anew."""
