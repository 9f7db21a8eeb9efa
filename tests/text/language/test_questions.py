"""Sentences that ask."""

from __future__ import annotations

import pytest

from hyperloci.text.language.questions import first_word, is_question


@pytest.mark.parametrize(
    "text", ["Is it red?", "should we sign the payloads btw", "can you show me the opts", "why is it slow"]
)
def test_a_question_is_told_by_its_mark_or_its_first_word(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["It is red.", "We should sign it", "ok", ""])
def test_a_statement_is_no_question(text: str) -> None:
    assert not is_question(text)


def test_the_first_word_has_no_marks() -> None:
    assert (first_word("  No, wait"), first_word(" ")) == ("no", "")
