"""Admin tool: memory_stats."""

from __future__ import annotations

from typing import Annotated, Any, Final

from mcp_types import CallToolResult

from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.state import Call, ServerState, state_of
from hyperloci_tools.tool_spec import ToolSpec


async def memory_stats(ctx: Call) -> Annotated[CallToolResult, dict[str, Any]]:
    """Count what is remembered, by type, tier and scope; tell the state of database, embedder and watchers. Use it if
    asked, or if searches find too little."""
    shaped = await collect_stats(state_of(ctx))
    return tool_result(shaped, answer_text.render_stats(shaped))


async def collect_stats(state: ServerState) -> dict[str, Any]:
    """Return the memory's counts and the state of the server's services."""
    counts = await state.workers.reader.call(lambda memory: memory.stats())
    shaped: dict[str, Any] = answer_values.drop_empty({**counts, **state.health()})
    return shaped


TOOLS: Final = (ToolSpec(run=memory_stats, title="Memory statistics", read_only=True, idempotent=True),)
