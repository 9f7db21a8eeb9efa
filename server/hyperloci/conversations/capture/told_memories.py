"""Told memories: what an opening and a prompt's context say alike of a memory: who said it, and until when it holds."""

from __future__ import annotations

from typing import Final

from hyperloci.clock import MS_PER_DAY, read_day_end
from hyperloci.conversations.capture.injection_format import SOURCE_WORDS, name_teammate
from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node, last_day_of

UNDATED_DEADLINE_MS: Final = 14 * MS_PER_DAY
"""A deadline without a date is somebody's word for the coming days."""

_SPEAKERS: Final = frozenset({"user", "assistant"})


def name_source(node: Node) -> str:
    """Return in a word who a memory is from: for what was extracted, who said it, where that is known."""
    if node.was_told:
        return SOURCE_WORDS[Origin.TOOL]
    speaker = str(node.metadata.get("speaker") or "")
    if node.origin is Origin.TEAMMATE:
        return name_teammate(node)
    return speaker if node.origin is Origin.EXTRACTION and speaker in _SPEAKERS else SOURCE_WORDS[node.origin]


def read_due(node: Node, now: int) -> str | None:
    """Return a deadline's day, as ISO 8601, the last that it names once the first is over; None where it has none."""
    end = read_day_end(due := node.metadata.get("due"))
    if end is None:
        return None
    return str(due)[:10] if end > now else last_day_of(node)


def find_end(node: Node) -> int | None:
    """Return when time alone makes a memory past, in milliseconds; None for one that no time ends."""
    end = read_day_end(last_day_of(node))
    is_undated = end is None and node.subtype == "deadline" and "overdue" not in node.metadata
    return node.event_time + UNDATED_DEADLINE_MS if is_undated else end


def is_past(node: Node, now: int) -> bool:
    """Tell whether a deadline is over, or the day until which a statement holds."""
    end = find_end(node)
    return end is not None and end <= now
