"""How often a text denies."""

from __future__ import annotations

import pytest

from hyperloci.text.language.negation import count_negations


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Use Redis, always.", 0),
        ("Never Redis", 1),
        ("don’t, and DIDN'T, without asking", 3),
        ("columns are not-null", 1),
        ("нельзя пушить в main без ревью", 2),
        ("the note, the knot", 0),
    ],
)
def test_words_that_deny_are_counted_in_every_language(text: str, count: int) -> None:
    assert count_negations(text) == count
