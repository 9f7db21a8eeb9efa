"""Content kind: what a memory's text is, so that ranking can weigh it by its form and not by what it was called."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from hyperloci.model.kinds import NodeType
from hyperloci.model.node import SearchCandidate

_WRITTEN: Final = frozenset({"commit", "action"})
"""Decisions and experiences that nobody said: a commit's message, a line about a tool's use."""

_SAID_TYPES: Final = frozenset({NodeType.FACT, NodeType.DECISION, NodeType.EXPERIENCE})


class ContentKind(StrEnum):
    """What a memory's text is: code, something said (a turn, or a fact that was told), or a document."""

    CODE = "code"
    SAID = "said"
    DOCUMENT = "document"


def tell_content_kind(node: SearchCandidate) -> ContentKind:
    """Return what a memory's text is.

    The same sentence is one thing, whether it was a turn or was told as a fact: what it is called decided eleven points
    of recall@10 (docs/benchmarks/quality.md, "Told as facts").
    """
    if node.subtype == "code":
        return ContentKind.CODE
    if node.type in _SAID_TYPES and node.subtype not in _WRITTEN:
        return ContentKind.SAID
    return ContentKind.DOCUMENT
