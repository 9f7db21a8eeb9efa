"""Program tool: memory_repl runs a program over the memory."""

from __future__ import annotations

from threading import Event
from typing import Annotated, Final

from mcp_types import CallToolResult
from pydantic import Field

from hyperloci_tools import answer_text, answer_values
from hyperloci_tools.answer import tool_result
from hyperloci_tools.schemas import ReplOut
from hyperloci_tools.state import Call, state_of
from hyperloci_tools.tool_spec import ToolSpec

MAX_CODE_CHARS: Final = 10_000
"""The sandbox's limit."""


async def memory_repl(
    ctx: Call,
    code: Annotated[str, Field(description="a Python program", min_length=1, max_length=MAX_CODE_CHARS)],
) -> Annotated[CallToolResult, ReplOut]:
    """Run a short Python program over the memory, instead of many tool calls: several searches joined, counted or
    filtered, many facts stored or related at once. It has memory_query(query, limit=10) and
    memory_get_context(limit=10), which return lists of dicts (id, type, content, score, confidence, source...);
    memory_add_fact(content, confidence=1.0), memory_add_experience(content, outcome, success) and
    memory_relate(label, subject_id, object_id), which return ids; print and the basic types. No imports, classes,
    files or network; 10 seconds, 500 calls. The answer is what it printed and the value of its last expression. All
    it writes is one transaction: a program that fails leaves nothing. Values and functions that it names are known to
    the next program of the session."""
    stop = Event()
    try:
        done = await state_of(ctx).workers.repl.call(lambda memory: memory.run_program(code, stop))
    finally:
        # A cancelled call must end its program: nobody sees what it would answer, or wants what it would write.
        stop.set()
    shaped = answer_values.shape_repl(done)
    return tool_result(shaped, answer_text.render_repl(shaped))


TOOLS: Final = (ToolSpec(run=memory_repl, title="Run a program over the memory", core=False),)
