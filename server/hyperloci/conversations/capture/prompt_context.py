"""Prompt context: what is put before the assistant unasked with a prompt.

Showing a memory is not recalling it: nothing here reinforces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hyperloci.conversations.capture.injection_format import (
    SOURCE_WORDS,
    InjectedContext,
    InjectedItem,
    InjectedSection,
    format_line,
    render_context,
    to_plain_line,
)
from hyperloci.model.kinds import SUBTYPES, NodeType, Origin

if TYPE_CHECKING:
    from hyperloci.model.search import Hit

PROMPT_CHARS: Final = 2_000
"""With a prompt, beside what the session began with: three or four memories, a five-hundredth of a context window."""

PROMPT_ITEM_CHARS: Final = 600
"""With a prompt, a longer memory is cut to the passage that is relevant to it; the id leads to the rest."""

PROMPT_ITEMS: Final = 5
"""There is room for as many short ones; after the fifth hit chance takes over."""

CONTENT_SUBTYPES: Final = tuple(
    sorted(
        (SUBTYPES[NodeType.FACT] | SUBTYPES[NodeType.DECISION] | SUBTYPES[NodeType.EXPERIENCE]) - {"commit", "action"}
    )
)
"""What a prompt is searched for: what was said and learnt. Files the assistant reads itself, and what a tool did is no
answer to a prompt."""


def build_prompt_context(
    hits: Iterable[Hit],
    query: str = "",
    *,
    session_id: str,
    seen: frozenset[str] = frozenset(),
    budget: int = PROMPT_CHARS,
) -> InjectedContext:
    """Return what a prompt should know, of the hits that passed the floor, best first.

    Left out: what was said in this session (it is in the context), what the session was shown, what is suspicious,
    forgotten or no longer valid.
    """
    from hyperloci.retrieval.relevance import find_excerpt

    usable = [
        hit
        for hit in hits
        if hit.id not in seen and hit.source.session_id != session_id and not _has_barring_note(hit.notes)
    ]
    items = [
        InjectedItem(
            hit.id,
            format_line(
                hit.id,
                _kind_word(hit),
                hit.created_at[:10],
                _format_place(hit),
                find_excerpt(hit.content, query, PROMPT_ITEM_CHARS),
            ),
        )
        for hit in usable[:PROMPT_ITEMS]
    ]
    part = InjectedSection("Possibly relevant to this prompt", "", (), 1.0)
    return render_context("prompt", [(part, items)], budget)


_PLAIN_PATH: Final = re.compile(r"[\w./@+~#-]{1,200}")


def _format_place(hit: Hit) -> str:
    source = hit.source
    if source.path is not None:
        lines = f":{source.line_start}" if source.line_start else ""
        # A name is written by others too: with a blank in it, it could be read as a sentence of ours.
        path = source.path if _PLAIN_PATH.fullmatch(source.path) else json.dumps(source.path, ensure_ascii=False)
        return to_plain_line(f"{path}{lines}")
    return SOURCE_WORDS.get(Origin(source.kind), source.kind) if source.kind in set(Origin) else source.kind


def _kind_word(hit: Hit) -> str:
    if hit.subtype != "episode":
        return hit.subtype or hit.type
    return "prompt" if hit.source.kind == Origin.USER_PROMPT else "answer"


def _has_barring_note(notes: Iterable[str]) -> bool:
    return any(note.startswith(("suspicious", "forgotten", "no longer valid")) for note in notes)
