"""Cutting texts that are too long to be shown whole."""

from __future__ import annotations

import pytest

from hyperloci.text.cutting import cut_line, cut_text


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [("word", 4, "word"), ("words", 4, "wor…"), ("word word w", 6, "word…"), ("a\nb", 3, "a\nb")],
    ids=["it fits", "it is a letter too long", "no blank before the mark", "lines stay"],
)
def test_a_text_is_never_longer_than_asked(text: str, limit: int, shown: str) -> None:
    assert cut_text(text, limit) == shown
    assert len(shown) <= limit


def test_a_line_has_no_breaks() -> None:
    assert cut_line(" one\n\ttwo  three ", 8) == "one two…"
