"""Marked section: a part of a text file that is ours, between two marks; every other byte is its owner's."""

from __future__ import annotations

import re
from typing import Final

BEGIN: Final = "<!-- hyperloci: begin -->"
END: Final = "<!-- hyperloci: end -->"

_SECTION: Final = re.compile(rf"(?:\r?\n)?{re.escape(BEGIN)}.*?{re.escape(END)}\r?\n?", re.DOTALL)


def with_section(text: str, body: str) -> str:
    """Return a text with a section: in place of the one it has, or at its end."""
    section = f"{BEGIN}\n{body.strip()}\n{END}\n"
    section = section.replace("\n", "\r\n") if "\r\n" in text else section
    if found := _SECTION.search(text):
        lead = found[0][: found[0].index(BEGIN)]
        return text[: found.start()] + lead + section + text[found.end() :]
    gap = "" if not text else "\r\n" if "\r\n" in text else "\n"
    return text + gap + section


def without_section(text: str) -> str:
    """Return a text without its section; the same text where it has none."""
    return _SECTION.sub("", text, count=1)
