"""Tool answer: structured content and text, for clients that read one or the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mcp_types import CallToolResult, TextContent


def tool_result(structured: Mapping[str, Any], text: str) -> CallToolResult:
    """Return structured content and a short text that says the same.

    Claude Code shows a model only the structured content, other clients only the text.
    """
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=cast(dict[str, Any], structured)
    )
