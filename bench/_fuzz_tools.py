"""Arguments that nobody would send, for every tool, and a server that is called with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from hypothesis import strategies as st
from mcp import Client
from mcp_types import CallToolResult

from bench._fuzz import DefectError, Target, fuzz_settings
from hyperloci.app import build_server
from hyperloci_tools.server import TOOL_SPECS, UNPLANNED

TOOLS = sorted(offer.run.__name__ for offer in TOOL_SPECS)

SOON = 30

SIZE = 6

TRACES = ("Traceback", 'File "', "sqlite3.", "pydantic", "hyperloci.", "site-packages")
"""What no caller may see."""

Call = Callable[[str, dict[str, Any]], CallToolResult]

texts = st.text(max_size=40) | st.sampled_from(
    ["", "\x00", "../../etc/passwd", "' OR 1=1 --", "*", '"', "NEAR(", "%s", "{0.__class__}", "a" * 30_000]
)
numbers = st.integers() | st.floats() | st.sampled_from([0, -1, 2**63, 10**30, float("nan"), float("inf")])
scalars = st.none() | st.booleans() | numbers | texts
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=SIZE) | st.dictionaries(texts, inner, max_size=SIZE),
    max_leaves=SIZE,
)


def fitting_values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that an argument's schema allows, or nearly."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds: dict[str | None, st.SearchStrategy[Any]] = {
        "string": texts.filter(bool),
        "integer": st.integers(schema.get("minimum", 0), schema.get("maximum", 50)),
        "number": st.floats(0, 1),
        "boolean": st.booleans(),
        "array": st.lists(anything, max_size=SIZE),
        "object": st.dictionaries(
            st.sampled_from(sorted(schema.get("properties", {"x": {}}))), anything, max_size=SIZE
        ),
    }
    return kinds.get(schema.get("type"), anything)


def schema_of(tool: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments."""
    return next(offer for offer in TOOL_SPECS if offer.run.__name__ == tool).build_tool().parameters


def arguments_of(tool: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that mostly have the right names, and values that sometimes fit."""
    shapes = schema_of(tool).get("properties", {})
    named = {name: fitting_values(shape) | anything for name, shape in shapes.items()}
    required = {name: fitting_values(shapes[name]) for name in schema_of(tool).get("required", ())}
    some = st.fixed_dictionaries({}, optional=named)
    most = st.fixed_dictionaries(required, optional={name: named[name] for name in named if name not in required})
    return most | some | st.dictionaries(texts, anything, max_size=2)


@contextmanager
def run_server(root: Path) -> Iterator[Call]:
    """Yield a function that calls a tool of one server, which outlives every call."""
    (root / "project").mkdir()

    async def called(client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        with anyio.fail_after(SOON):
            return await client.call_tool(tool, arguments)

    built = build_server(fuzz_settings(root), root / "project", warm=False)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(built)) as client:
        yield lambda tool, arguments: portal.call(called, client, tool, arguments)


def target_of(call: Call, tool: str) -> Target:
    """Return what calls a tool and looks at its answer."""

    def answers(arguments: dict[str, Any]) -> None:
        result = call(tool, arguments)
        said = "".join(getattr(part, "text", "") for part in result.content)
        if not said:
            raise DefectError("an answer without a word")
        if result.is_error:
            shown = [trace for trace in TRACES if trace in said and trace not in str(arguments)]
            if said == UNPLANNED.format(tool=tool) or shown:
                raise DefectError(said)

    return answers
