"""Questions: whether a sentence asks something, with its mark or without, as people type."""

from __future__ import annotations

from hyperloci.text.language.word_tables import word_set


def is_question(text: str) -> bool:
    """Return whether a sentence asks something."""
    return text.rstrip().endswith("?") or first_word(text) in word_set("summary.question_openers")


def first_word(text: str) -> str:
    """Return the first word of a sentence in lower case, '' for none."""
    return text.split(None, 1)[0].strip(".,:;!").lower() if text.strip() else ""
