"""Cutting: the beginning of a text that is too long to be shown whole."""

from __future__ import annotations


def cut_text(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; `…` stands where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def cut_line(text: str, limit: int) -> str:
    """Return the same on one line."""
    return cut_text(" ".join(text.split()), limit)
