"""Commit text: how what is remembered of a commit is made up: its message, then the names of its files."""

from __future__ import annotations

from typing import Final

CHANGED: Final = "\n\nChanged: "
"""Between a commit's message and the names of its files."""


def message_of(content: str) -> str:
    """Return the message in what is remembered of a commit, without the names of its files."""
    return content.partition(CHANGED)[0]
