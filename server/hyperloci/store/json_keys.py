"""JSON keys: how a query is given any number of keys as one value, for `json_each`."""

from __future__ import annotations

import json
from collections.abc import Iterable


def encode_keys(keys: Iterable[int]) -> str:
    """Return keys, of NumPy's integers too, as a JSON list."""
    return json.dumps([int(key) for key in keys])
