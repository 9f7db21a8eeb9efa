"""Every tool, with arguments that nobody would send."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp_types import CallToolResult

from hyperloci.app import build_server
from hyperloci.config import Settings
from hyperloci_tools.server import OFFERS, UNPLANNED

TOOLS: Final = sorted(offer.run.__name__ for offer in OFFERS)

EXAMPLES: Final = 30
"""A tool: enough to meet each argument with several kinds of value, few enough for every run."""

SOON: Final = 30

SIZE: Final = 6

TRACES: Final = ("Traceback", 'File "', "sqlite3.", "pydantic", "hyperloci.", "site-packages")
"""What no caller may see."""

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


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
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


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, dict[str, Any]], CallToolResult]]:
    """Yield a function that calls a tool of one server, which outlives every call."""
    root = tmp_path_factory.mktemp("fuzz")
    (root / "project").mkdir()
    settings = Settings(
        database=root / "memory.db",
        state_dir=root / "state",
        runtime_dir=root / "run",
        embedder=False,
        watch=False,
        tools="all",
    )

    async def called(client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        with anyio.fail_after(SOON):
            return await client.call_tool(tool, arguments)

    server = build_server(settings, root / "project", warm=False)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        yield lambda tool, arguments: portal.call(called, client, tool, arguments)


def schema_of(tool: str) -> dict[str, Any]:
    return next(offer for offer in OFFERS if offer.run.__name__ == tool).build().parameters


def arguments_of(tool: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that mostly have the right names, and values that sometimes fit."""
    shapes = schema_of(tool).get("properties", {})
    named = {name: fitting(shape) | anything for name, shape in shapes.items()}
    required = {name: fitting(shapes[name]) for name in schema_of(tool).get("required", ())}
    some = st.fixed_dictionaries({}, optional=named)
    most = st.fixed_dictionaries(required, optional={name: named[name] for name in named if name not in required})
    return most | some | st.dictionaries(texts, anything, max_size=2)


@pytest.mark.parametrize("tool", TOOLS)
def test_no_arguments_bring_a_tool_down(call: Callable[[str, dict[str, Any]], CallToolResult], tool: str) -> None:
    @given(arguments_of(tool))
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    def answers(arguments: dict[str, Any]) -> None:
        result = call(tool, arguments)
        said = "".join(getattr(part, "text", "") for part in result.content)
        assert said
        if result.is_error:
            assert said != UNPLANNED.format(tool=tool)
            assert [trace for trace in TRACES if trace in said and trace not in str(arguments)] == []

    answers()


def test_the_server_still_answers_after_all_of_that(
    call: Callable[[str, dict[str, Any]], CallToolResult],
) -> None:
    assert not call("remember_fact", {"fact": "Still here."}).is_error
    assert not call("memory_stats", {}).is_error
