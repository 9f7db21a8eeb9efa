"""Marked section: a part of a text file that is ours, between two marks; every other byte is its owner's."""

from __future__ import annotations

from typing import Final

BEGIN: Final = "<!-- hyperloci: begin -->"
END: Final = "<!-- hyperloci: end -->"


def with_section(text: str, body: str) -> str:
    """Return a text with a section: in place of the one it has, or at its end."""
    section = f"{BEGIN}\n{body.strip()}\n{END}\n"
    section = section.replace("\n", "\r\n") if "\r\n" in text else section
    if found := _find_section(text):
        return text[: text.index(BEGIN)] + section + text[found[1] :]
    gap = "" if not text else "\r\n" if "\r\n" in text else "\n"
    return text + gap + section


def without_section(text: str) -> str:
    """Return a text without its section; the same text where it has none."""
    found = _find_section(text)
    return text if found is None else text[: found[0]] + text[found[1] :]


def _find_section(text: str) -> tuple[int, int] | None:
    """Return where the section stands, with the line break before it and the one after it; None without one."""
    start = text.find(BEGIN)
    end = text.find(END, start)
    if start < 0 or end < 0:
        return None
    before, after = text[:start], text[end + len(END) :]
    lead = 2 if before.endswith("\r\n") else 1 if before.endswith("\n") else 0
    tail = 2 if after.startswith("\r\n") else 1 if after.startswith("\n") else 0
    return start - lead, end + len(END) + tail
