"""Fences: code between fences of backticks or tildes, in Markdown and in chats.

A fence opens a line, or ends one (`this is it: ```` in a chat); it closes at a line of at least as many signs, as
CommonMark has it, and one that nobody closed goes on to the end of the text.
"""

from __future__ import annotations

import re
from typing import Final

from hyperloci.system.late_patterns import compile_late

_FENCE: Final = compile_late(
    r"(?:^[ \t]*+(?=(?:`{3,}+|~{3,}+)[^`\n]*+$)|(?<=[ \t:])(?=```[\w+#.-]*+[ \t\r]*+$))(?P<mark>`{3,}+|~{3,}+)[^\n]*+"
    r"(?:\n(?P<code>.*?))??(?:^[ \t]*+(?P=mark)[`~]*+[ \t\r]*+$|\Z)",
    re.MULTILINE | re.DOTALL,
)


def fenced_code(text: str) -> list[str]:
    """Return the code in a text's fences."""
    return [match["code"] or "" for match in _FENCE.finditer(text)] if _may_hold(text) else []


def mask_code(text: str) -> str:
    """Return a text with blanks for its fenced code: what is left stands where it stood, line and column."""
    return _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text) if _may_hold(text) else text


def _may_hold(text: str) -> bool:
    return "```" in text or "~~~" in text
