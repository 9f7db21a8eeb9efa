"""An answer in both forms that clients read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mcp_types import CallToolResult, TextContent


def tool_result(structured: Mapping[str, Any], text: str) -> CallToolResult:
    """Return structured content and a short text that says the same.

    Claude Code shows a model the structured content alone, other clients the text alone.
    """
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=cast(dict[str, Any], structured)
    )
