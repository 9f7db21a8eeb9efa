"""Conversation tool: expand_chunk returns the turns behind a summary, word for word."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final, Literal, NotRequired, cast

from mcp_types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.state import Call, state_of
from hyperloci_tools.tool_spec import ToolSpec

if TYPE_CHECKING:
    from hyperloci.model.pyramid import ExpandedChunk

ChunkId = Annotated[str, Field(description="id of a chunk_* memory", min_length=1, max_length=100)]


class TurnOut(TypedDict):
    """A turn, word for word; `whole` is false if its archive was deleted and only its beginning is left."""

    id: str
    seq: int
    role: str
    kind: Literal["text", "action"]
    at: str
    content: str
    tokens: int
    path: NotRequired[str]
    whole: bool


class ChunkOut(TypedDict):
    """What `expand_chunk` answers; `next` is the `first` of the next page."""

    note: NotRequired[str]
    id: str
    level: Literal["micro", "mini", "macro"]
    stage: Literal["hot", "warm", "cold"]
    session_id: str
    content: NotRequired[str]
    key_facts: NotRequired[list[str]]
    themes: NotRequired[list[str]]
    turns: list[TurnOut]
    total: int
    next: NotRequired[int]


async def expand_chunk(
    ctx: Call, id: ChunkId, first: Annotated[int, Field(description="skip so many turns", ge=0)] = 0
) -> Annotated[CallToolResult, ChunkOut]:
    """Read the turns behind a summary of a past conversation, word for word: search hits of kind chunk_micro (10
    turns), chunk_mini (25) and chunk_macro (100) are summaries. Use it when a summary is not enough. A long chunk
    comes in pages: call again with `first` set to `next`."""
    found = await state_of(ctx).workers.reader.call(lambda memory: memory.expand_chunk(id))
    shaped = shape_chunk(found, first)
    return tool_result(shaped, render_chunk(shaped))


def shape_chunk(found: ExpandedChunk, first: int) -> ChunkOut:
    """Return a page of a chunk. Turns are never cut: one that is too long is a page by itself."""
    turns: list[TurnOut] = []
    room = answer_values.ANSWER_CHARS
    for turn in found.turns[first:]:
        room -= len(turn.content)
        if room < 0 and turns:
            break
        turns.append(
            cast(TurnOut, answer_values.drop_empty(asdict(turn)) | {"content": turn.content, "whole": turn.whole})
        )
    plain = {name: value for name, value in asdict(found).items() if name != "turns"}
    told = {"turns": turns, "total": len(found.turns)}
    more = {"next": first + len(turns)} if first + len(turns) < len(found.turns) else {}
    return cast(ChunkOut, {"note": answer_values.DATA, **answer_values.drop_empty(plain), **told, **more})


def render_chunk(shaped: ChunkOut) -> str:
    """Return a page of a chunk as a text."""
    lines = [
        answer_values.DATA,
        f"\nChunk {shaped['id']} ({shaped['level']}, {shaped['stage']}), session {shaped['session_id']}:",
    ]
    if "content" in shaped:
        lines.append(f"Summary:\n{answer_text.quote_text(shaped['content'])}")
    for turn in shaped["turns"]:
        cut = "" if turn["whole"] else ", only the beginning is left"
        lines.append(f"\n{turn['role']}, turn {turn['seq']}, {turn['at']} ({turn['kind']}, id {turn['id']}{cut}):")
        lines.append(answer_text.quote_text(turn["content"]))
    if "next" in shaped:
        lines.append(f"\n{shaped['total']} turns in all; for the next page call again with first={shaped['next']}")
    return "\n".join(lines)


TOOLS: Final = (ToolSpec(run=expand_chunk, title="Expand a chunk", read_only=True, idempotent=True, core=False),)
